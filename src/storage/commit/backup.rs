//! Copying a snapshot into a folder of its own, while the store is read and written.

use std::ops::Range;
use std::path::{Path, PathBuf};

use redb::{Builder, Database, WriteTransaction};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::storage::columns::{ColumnSpec, Trust};
use crate::storage::disk::{self, File};
use crate::storage::folder::BuildSite;
use crate::storage::format::{ColumnKind, HEADER_BYTES};
use crate::storage::index::{FilterState, MergeState, Meta, catalog, guarded};
use crate::storage::names::INDEX;
use crate::storage::view::{Snapshot, file_size};

/// The memory in bytes that redb may use for the pages of a copy.
const CACHE_BYTES: usize = 64 << 20;

impl Snapshot {
    /// Copies the snapshot's commit into a store in `folder`, and returns its files by name, each with its size in
    /// bytes.
    ///
    /// The folder may exist if it is empty. The snapshot must be that of a commit, with nothing appended since.
    ///
    /// The copy is built in another folder beside it and renamed at the end, so it appears complete or not at all. The
    /// remains of a copy by a killed process are deleted.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyAStore`], [`Error::NotEmpty`] or [`Error::Occupied`] if something is in the way,
    /// [`Error::Locked`] if another process is making the same copy, [`Error::Damaged`] if a column does not match its
    /// checksums.
    pub(crate) fn copy_to(&self, folder: &Path, progress: &Progress) -> Result<Vec<(String, u64)>> {
        let source = self.folder();
        let place = BuildSite::new(folder, source)?;
        place.fill(|building| self.copy_into(building, progress))
    }

    /// Copies everything. One step of progress is a byte.
    fn copy_into(&self, folder: &Path, progress: &Progress) -> Result<Vec<(String, u64)>> {
        let path = folder.join(INDEX);
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        let database = disk::create_database_like(&builder, &path, self.tables.path());
        let (mut database, _, _turn) = database.map_err(|error| Error::index(&path, error))?;
        let mut paths = vec![path.clone()];
        let kinds = ColumnKind::ALL;
        let bytes = kinds.map(|kind| self.column(kind).len());
        let (_, index) = file_size(self.tables.path())?;
        progress.begin(index + bytes.iter().sum::<u64>());
        for (kind, bytes) in kinds.into_iter().zip(bytes) {
            paths.push(self.copy_column(kind, folder)?);
            progress.step(bytes)?;
        }
        self.copy_index(&database, &path)?;
        progress.step(index)?;
        // Releases the space by which the file grew during writing.
        database
            .compact()
            .map_err(|error| Error::index(&path, error))?;
        drop(database);
        paths.iter().map(|path| file_size(path)).collect()
    }

    /// Copies the committed bytes of a column, verifies their checksums, and returns the copy's path.
    ///
    /// A file copy may share blocks, where the file system supports that, but the column's path may name another file
    /// by now. The mapped bytes are those of this snapshot.
    fn copy_column(&self, kind: ColumnKind, folder: &Path) -> Result<PathBuf> {
        let column = self.column(kind);
        let spec = ColumnSpec::of(kind, &self.tables.meta, &self.schema)?;
        let target = spec.path(folder);
        let wrong = || -> Result<Option<Range<u64>>> {
            let copy = spec.view(folder, Trust::Sums)?;
            Ok(self.wrong_blocks_in(kind, &copy)?.into_iter().next())
        };
        let length = HEADER_BYTES as u64 + column.len();
        let shared = copy_start(column.path(), &target, length);
        if shared.is_ok() && matches!(wrong(), Ok(None)) {
            return Ok(target);
        }
        let header = spec.header.encode();
        if shared.is_ok() || !disk::is_absent(&target)? {
            disk::remove(&target)?;
        }
        let whole = column.bytes(0..column.len())?;
        write_column(&target, column.path(), &header, whole)?;
        // The mapped bytes are those of this snapshot. If they are wrong, too, the store is damaged.
        if let Some(Range { start, end }) = wrong()? {
            let reason = format!("the checksum of its bytes {start} to {end} is wrong");
            return Err(Error::damaged(column.path(), reason));
        }
        Ok(target)
    }

    /// Copies the tables of the snapshot's transaction.
    fn copy_index(&self, database: &Database, path: &Path) -> Result<()> {
        let in_copy = |error: redb::Error| Error::index(path, error);
        let mut transaction = database
            .begin_write()
            .map_err(|error| in_copy(error.into()))?;
        transaction.set_quick_repair(true);
        guarded(self.tables.path(), || self.copy_tables(&transaction))?;
        transaction.commit().map_err(|error| in_copy(error.into()))
    }

    fn copy_tables(&self, transaction: &WriteTransaction) -> Result<()> {
        let in_index = |error| self.in_index(error);
        catalog::write_schema(transaction, &self.schema.parameters()).map_err(in_index)?;
        let catalog = &self.tables.catalog;
        catalog.copy_to(transaction).map_err(in_index)?;
        self.tables.copy_buckets(transaction)?;
        // Filters are not copied. The first merge of the copy creates new ones.
        let meta = Meta {
            young_filter: FilterState::default(),
            old_filter: FilterState::default(),
            // Nor are tables that nobody reads.
            merge: MergeState::default(),
            replaced: 0,
            ..self.tables.meta
        };
        meta.write(transaction).map_err(in_index)
    }
}

/// Copies the first `length` bytes of a file.
fn copy_start(from: &Path, to: &Path, length: u64) -> Result<()> {
    let target = File::create_like(to, from)?;
    target.copy(from, length)?;
    target.sync()
}

fn write_column(path: &Path, like: &Path, header: &[u8], data: &[u8]) -> Result<()> {
    let target = File::create_like(path, like)?;
    target.write(0, header)?;
    target.write(header.len() as u64, data)?;
    target.sync()
}
