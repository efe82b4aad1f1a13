//! The table of the index's metadata.

use std::path::Path;

use redb::{ReadTransaction, TableDefinition, WriteTransaction};

use super::levels::{self, LEVELS, LevelState, MergeState};
use super::runs::RunRecord;
use crate::error::{Error, Result};
use crate::storage::format::{ColumnKind, PerColumn, checksum, narrow, refuse_other};

/// The name of the format number, which every format has.
const NUMBER: &str = "format";

/// The name of the checksum of the other values.
const SUM: &str = "sum";

/// The name of the commit number, which the checksum excludes and early stores lack.
const COMMIT: &str = "commit";

const META: TableDefinition<'_, &[u8], u64> = TableDefinition::new("meta");

/// The name of the field for the generation of a column.
fn file_field(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Contents => "contents-file",
        ColumnKind::Shingles => "shingles-file",
        ColumnKind::Signatures => "signatures-file",
        ColumnKind::Fingerprints => "fingerprints-file",
    }
}

/// What the index records of a filter, all zeros if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterState {
    /// The number of the filter in its generation.
    pub(crate) number: u64,
    /// The mark that the filter got when it gained its last postings.
    pub(crate) mark: u64,
}

/// What the index records of itself and of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) format: u64,
    /// The store's id, which all its files carry.
    pub(crate) store: u64,
    /// The generation of this index.
    pub(crate) generation: u64,
    /// The generations that the columns were created for.
    pub(crate) files: PerColumn<u64>,
    /// The number of committed contents, including removed ones.
    pub(crate) contents: u64,
    /// The number of contents when this index was written as a whole, or 0 if it never was.
    pub(crate) packed: u64,
    /// The number of committed bytes in the column of shingles.
    pub(crate) shingle_bytes: u64,
    /// The number of committed bytes in the column of signatures.
    pub(crate) signature_bytes: u64,
    /// The number of committed bytes in the column of fingerprints.
    pub(crate) fingerprint_bytes: u64,
    /// The number of contents that should have fingerprints and have none.
    pub(crate) unfingerprinted: u64,
    /// The levels of bucket tables, the youngest first.
    pub(crate) levels: [LevelState; LEVELS],
    /// The number of filters created so far. Each gets the next number.
    pub(crate) filters: u64,
    /// The filter over the postings of the younger levels, and the one over the oldest level.
    pub(crate) young_filter: FilterState,
    pub(crate) old_filter: FilterState,
    pub(crate) merge: MergeState,
    /// The number of bucket tables that nobody reads any more, which later commits delete.
    pub(crate) replaced: u64,
    pub(crate) runs: RunRecord,
    /// The number of the scope of ids; see `IdScope`.
    pub(crate) id_scope: u64,
    /// The number of the first commit that the journal has, or 0 if there is none.
    pub(crate) journal: u64,
    /// When documents were committed last, in seconds since 1970.
    pub(crate) committed: u64,
    /// The number of the commit. It tells a reader whether anything has changed.
    pub(crate) commit: u64,
}

impl Meta {
    /// Contents below this id have their postings in bucket tables.
    pub(crate) fn banded(&self) -> u64 {
        self.levels[0].end
    }

    /// The number of contents with postings in bucket tables, without removed ones.
    pub(crate) fn posted(&self) -> u64 {
        self.levels.iter().map(|level| level.posted).sum()
    }

    /// The number of removed contents that may still have postings in bucket tables.
    pub(crate) fn removed(&self) -> u64 {
        self.levels.iter().map(|level| level.removed).sum()
    }

    /// The level of the oldest contents. It is the only level of an index that was written as a whole.
    pub(crate) fn oldest(&mut self) -> &mut LevelState {
        &mut self.levels[LEVELS - 1]
    }

    /// Records that the oldest level has the postings of all contents below `end`.
    pub(crate) fn set_banded(&mut self, end: u64) {
        for level in &mut self.levels {
            level.end = end;
        }
    }

    fn fields(&mut self) -> impl Iterator<Item = (&'static str, &mut u64)> {
        let first = [
            (NUMBER, &mut self.format),
            ("store", &mut self.store),
            ("generation", &mut self.generation),
            ("contents", &mut self.contents),
            ("packed", &mut self.packed),
            ("shingle-bytes", &mut self.shingle_bytes),
            ("signature-bytes", &mut self.signature_bytes),
            ("fingerprint-bytes", &mut self.fingerprint_bytes),
            ("unfingerprinted", &mut self.unfingerprinted),
        ];
        let files = self.files.each_mut();
        let files = files.map(|(kind, file)| (file_field(kind), file));
        let last = [
            ("filters", &mut self.filters),
            ("young-filter", &mut self.young_filter.number),
            ("young-filter-mark", &mut self.young_filter.mark),
            ("old-filter", &mut self.old_filter.number),
            ("old-filter-mark", &mut self.old_filter.mark),
            ("replaced", &mut self.replaced),
            ("runs", &mut self.runs.last),
            ("open-run", &mut self.runs.open),
            ("open-run-first", &mut self.runs.first),
            ("id-scope", &mut self.id_scope),
            ("journal", &mut self.journal),
            ("committed", &mut self.committed),
        ];
        let levels = levels::fields(&mut self.levels);
        let merge = self.merge.fields();
        let first = first.into_iter().chain(files);
        first.chain(levels).chain(merge).chain(last)
    }

    /// A checksum of all fields. Without it, a damaged length could truncate the columns.
    fn sum(mut self) -> u64 {
        let mut bytes = Vec::new();
        for (_, value) in self.fields() {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        checksum(&bytes)
    }

    /// Reads the table, or returns `None` if it does not exist, and thus no store was ever committed here.
    ///
    /// # Errors
    ///
    /// [`Error::NewerFormat`] and [`Error::OlderFormat`], whatever else the table holds, since other formats may have
    /// other fields.
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
