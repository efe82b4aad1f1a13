//! The table of the index's own numbers.

use std::path::Path;

use redb::{ReadTransaction, TableDefinition, WriteTransaction};

use super::runs::Runs;
use crate::error::{Error, Result};
use crate::storage::format::{checksum, narrow, refuse_other};

/// Name of the format's number, which every format has.
const NUMBER: &str = "format";

/// Name of the checksum of the other values.
const SUM: &str = "sum";

/// Name of the number of the commit, which the checksum leaves out and early stores do not have.
const COMMIT: &str = "commit";

const META: TableDefinition<'_, &[u8], u64> = TableDefinition::new("meta");

/// What the index says of itself and of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) format: u64,
    /// The id that all files of the store carry.
    pub(crate) store: u64,
    /// The generation of this index.
    pub(crate) generation: u64,
    /// The generations that the columns were made for.
    pub(crate) contents_file: u64,
    pub(crate) shingles_file: u64,
    pub(crate) signatures_file: u64,
    /// Committed contents, removed ones included.
    pub(crate) contents: u64,
    /// Contents when this index was written as a whole; 0 if it never was.
    pub(crate) packed: u64,
    /// Committed bytes of the column of shingles.
    pub(crate) shingle_bytes: u64,
    /// Contents below this id have their postings in the bucket tables.
    pub(crate) banded: u64,
    /// Those below this id have them in the old tables, the others in the young ones.
    pub(crate) aged: u64,
    /// Contents in the old tables, removed ones not included.
    pub(crate) posted: u64,
    /// Bits of the leaves' keys in the old tables.
    pub(crate) prefix_bits: u64,
    /// The same of the young tables.
    pub(crate) young_posted: u64,
    pub(crate) young_prefix_bits: u64,
    /// The number of the filter over all postings in tables; 0 before the first.
    pub(crate) filter: u64,
    pub(crate) runs: Runs,
    /// The number of the commit: by it a reader knows that nothing has changed.
    pub(crate) commit: u64,
}

impl Meta {
    fn fields(&mut self) -> [(&'static str, &mut u64); 19] {
        [
            (NUMBER, &mut self.format),
            ("store", &mut self.store),
            ("generation", &mut self.generation),
            ("contents-file", &mut self.contents_file),
            ("shingles-file", &mut self.shingles_file),
            ("signatures-file", &mut self.signatures_file),
            ("contents", &mut self.contents),
            ("packed", &mut self.packed),
            ("shingle-bytes", &mut self.shingle_bytes),
            ("banded", &mut self.banded),
            ("aged", &mut self.aged),
            ("posted", &mut self.posted),
            ("prefix-bits", &mut self.prefix_bits),
            ("young-posted", &mut self.young_posted),
            ("young-prefix-bits", &mut self.young_prefix_bits),
            ("filter", &mut self.filter),
            ("runs", &mut self.runs.last),
            ("open-run", &mut self.runs.open),
            ("open-run-first", &mut self.runs.first),
        ]
    }

    /// A checksum of all fields: a length that a damaged index makes up would cut the columns.
    fn sum(mut self) -> u64 {
        let mut bytes = Vec::new();
        for (_, value) in self.fields() {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        checksum(&bytes)
    }

    /// Reads the table, or finds that there is none: then no store was ever committed here.
    ///
    /// # Errors
    ///
    /// [`Error::NewerFormat`] and [`Error::OlderFormat`], whatever else the table says: another format
    /// may have other fields.
    pub(crate) fn read(transaction: &ReadTransaction, path: &Path) -> Result<Option<Meta>> {
        let table = match transaction.open_table(META) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(Error::index(path, error)),
        };
        let field = |name: &str| -> Result<u64> {
            let value = table.get(name.as_bytes());
            let value = value.map_err(|error| Error::index(path, error))?;
            let value = value.map(|value| value.value());
            value.ok_or_else(|| Error::damaged(path, format!("it has no {name}")))
        };
        refuse_other(path, narrow(path, field(NUMBER)?)?)?;
        let mut meta = Meta::default();
        for (name, value) in meta.fields() {
            *value = field(name)?;
        }
        if field(SUM)? != meta.sum() {
            return Err(Error::damaged(path, "the checksum of its lengths is wrong"));
        }
        let commit = table.get(COMMIT.as_bytes());
        let commit = commit.map_err(|error| Error::index(path, error))?;
        meta.commit = commit.map_or(0, |number| number.value());
        Ok(Some(meta))
    }

    /// Writes the table.
    pub(crate) fn write(mut self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(META)?;
        for (name, value) in self.fields() {
            table.insert(name.as_bytes(), *value)?;
        }
        table.insert(SUM.as_bytes(), self.sum())?;
        table.insert(COMMIT.as_bytes(), self.commit)?;
        Ok(())
    }
}
