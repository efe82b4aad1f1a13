//! The reader's view: the tables and columns as of one commit.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{ReadTransaction, WriteTransaction};

use super::rows::{BlockEnds, ContentRows, PackedShingles};
use crate::codec::{BitSet, low32};
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::columns::{BLOCK_BYTES, ColumnView, all_sums, blocks_of, sum};
use crate::storage::disk;
use crate::storage::disk::Process;
use crate::storage::format::{ColumnKind, ContentRow, HEADER_BYTES, PerColumn, copy_hash, narrow};
use crate::storage::index::{
    Catalog, DocumentRow, GuardedEntries, IdScope, Index, LEVELS, Meta, SourceFile, guarded,
    journal, levels,
};
use crate::storage::postings::{
    ALL_HASHES, BucketError, BucketList, BucketLists, ChainLink, Filters, KeyedLevel, MAX_PREFIX,
    Posting, PostingTables, RecentPostings,
};
use crate::text::ShingleSet;

/// The tables of one commit.
#[derive(Debug)]
pub(crate) struct CommittedTables {
    pub(crate) meta: Meta,
    pub(crate) catalog: Catalog,
    posted: PostingTables,
    path: PathBuf,
    process: Process,
    /// The transaction of the tables. While it exists, their commit counts as being read.
    transaction: Arc<ReadTransaction>,
    /// Keeps the database open while the tables are in use. Dropped after them.
    index: Arc<Index>,
}

impl CommittedTables {
    /// Opens the tables of the last commit.
    pub(crate) fn open(
        index: &Arc<Index>,
        path: &Path,
        lists: BucketLists,
    ) -> Result<CommittedTables> {
        let transaction = index.begin_read(path)?;
        let meta = guarded(path, || Meta::read(&transaction, path))?
            .ok_or_else(|| Error::damaged(path, "it has no committed store"))?;
        CommittedTables::of(transaction, &meta, index, path, lists)
    }

    /// Opens the tables as seen by `transaction`, whose metadata is `meta`.
    pub(crate) fn of(
        transaction: ReadTransaction,
        meta: &Meta,
        index: &Arc<Index>,
        path: &Path,
        lists: BucketLists,
    ) -> Result<CommittedTables> {
        let (fits, levels) = levels_of(meta, path)?;
        if !fits || !meta.runs.fit(meta.contents) {
            return Err(Error::damaged(path, "its counts contradict each other"));
        }
        let posted = guarded(path, || {
            let posted = PostingTables::open(&transaction, lists, &levels);
            posted.map_err(|error| bucket_error(path, error))
        })?;
        let catalog = guarded(path, || {
            Catalog::open(&transaction).map_err(|error| Error::index(path, error))
        })?;
        Ok(CommittedTables {
            meta: *meta,
            catalog,
            posted,
            path: path.to_owned(),
            process: Process::current(),
            transaction: Arc::new(transaction),
            index: index.clone(),
        })
    }

    /// The path of the index file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes in the index pages of bucket tables, and in those of other tables.
    pub(crate) fn page_bytes(&self) -> Result<(u64, u64)> {
        guarded(&self.path, || {
            let posted = self.posted.page_bytes();
            let posted = posted.map_err(|error| bucket_error(&self.path, error))?;
            let catalog = self.catalog.page_bytes();
            let catalog = catalog.map_err(|error| Error::index(&self.path, error))?;
            Ok((posted, catalog))
        })
    }

    /// The documents that were changed after the commit with this number; `None` if the journal does not say.
    pub(crate) fn changed_after(&self, commit: u64) -> Result<Option<BTreeSet<String>>> {
        if self.meta.commit == commit {
            return Ok(Some(BTreeSet::new()));
        }
        // The journal begins with the commit `journal`, so it is complete from the one before on.
        let is_told = self.meta.journal > 0 && self.meta.journal <= commit + 1;
        let read = || {
            let keys = journal::read_after(&self.transaction, commit);
            keys.map_err(|error| Error::index(&self.path, error))
        };
        is_told.then(|| guarded(&self.path, read)).transpose()
    }

    /// Whether no process has committed since.
    pub(crate) fn are_last(&self) -> Result<bool> {
        let transaction = self.index.begin_read(&self.path)?;
        let meta = guarded(&self.path, || Meta::read(&transaction, &self.path))?;
        Ok(meta == Some(self.meta) && self.index.is_at(&self.path)?)
    }

    /// Copies the bucket tables into an index that has none.
    pub(crate) fn copy_buckets(&self, transaction: &WriteTransaction) -> Result<()> {
        guarded(&self.path, || {
            let copied = self.posted.copy_to(transaction);
            copied.map_err(|error| bucket_error(&self.path, error))
        })
    }
}

impl Drop for CommittedTables {
    /// Does not end the read transaction if this is not the process that began it.
    fn drop(&mut self) {
        if !self.process.is_current() {
            let _open = ManuallyDrop::new(self.transaction.clone());
        }
    }
}

/// Whether the recorded levels are consistent, and the levels that have tables, youngest first.
fn levels_of(meta: &Meta, path: &Path) -> Result<(bool, Vec<KeyedLevel>)> {
    // Each level starts where the next older one ends, and has no more contents than that leaves room for.
    let (mut fits, mut keyed) = (meta.banded() <= meta.contents, Vec::new());
    for (level, state) in meta.levels.iter().enumerate() {
        let contents = state.end.checked_sub(levels::start(&meta.levels, level));
        let prefix = narrow(path, state.prefix_bits)?;
        fits &= contents.is_some_and(|contents| {
            state
                .posted
                .checked_add(state.removed)
                .is_some_and(|all| all <= contents)
        }) && prefix <= MAX_PREFIX;
        if contents.is_some_and(|contents| contents > 0) {
            keyed.push(KeyedLevel { level, prefix });
        }
    }
    Ok((fits, keyed))
}

/// Converts an error of a bucket table into the crate's error.
pub(crate) fn bucket_error(path: &Path, error: BucketError) -> Error {
    match error {
        BucketError::Redb(error) => Error::index(path, error),
        BucketError::Damaged(reason) => Error::damaged(path, reason),
    }
}

/// Tables, columns and recent postings up to one length. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) schema: Arc<Schema>,
    pub(crate) signer: Arc<Signer>,
    pub(crate) tables: Arc<CommittedTables>,
    pub(crate) columns: PerColumn<ColumnView>,
    pub(crate) recent: Arc<RecentPostings>,
    /// The filters over the postings in tables.
    pub(crate) filters: Filters,
    /// The number of visible contents, including removed ones.
    pub(crate) len: u32,
}

impl Snapshot {
    /// Wraps an error of the index.
    pub(crate) fn in_index(&self, error: redb::Error) -> Error {
        Error::index(self.tables.path(), error)
    }

    /// The folder of the store.
    pub(crate) fn folder(&self) -> &Path {
        disk::parent(self.tables.path())
    }

    /// Checks that the path of the index still names the one that is read.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        self.tables.index.check_is_at(self.tables.path())
    }

    /// The document `key`.
    pub(crate) fn document(&self, key: &str) -> Result<Option<DocumentRow>> {
        self.look(|catalog| catalog.document(key))
    }

    /// The file with this number, unless that is 0.
    pub(crate) fn source(&self, number: u64) -> Result<Option<SourceFile>> {
        if number == 0 {
            return Ok(None);
        }
        let path = self.look(|catalog| catalog.source(number))?;
        Ok(path.map(|path| SourceFile {
            number,
            path: path.into(),
        }))
    }

    /// The folders from which keys lead to files.
    pub(crate) fn folders(&self) -> Result<Vec<String>> {
        self.look(Catalog::folders)
    }

    /// Whether ids hold in all files or in each, as far as it was said.
    pub(crate) fn id_scope(&self) -> IdScope {
        IdScope::of(self.tables.meta.id_scope)
    }

    /// Looks something up in the catalog.
    fn look<T>(&self, look: impl FnOnce(&Catalog) -> Result<T, redb::Error>) -> Result<T> {
        guarded(self.tables.path(), || {
            look(&self.tables.catalog).map_err(|error| self.in_index(error))
        })
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> Result<u64> {
        self.look(Catalog::documents)
    }

    /// The number of removed contents.
    pub(crate) fn removed(&self) -> Result<u64> {
        self.look(Catalog::removed)
    }

    /// The removed contents, ascending.
    pub(crate) fn removed_contents(&self) -> Result<Vec<u32>> {
        self.look(Catalog::removed_contents)
    }

    /// Every pair of content and key, in order.
    pub(crate) fn all_names(&self) -> Result<impl Iterator<Item = Result<(u32, String)>> + use<>> {
        self.names_from(0)
    }

    /// The pairs from the content `first` on.
    pub(crate) fn names_from(
        &self,
        first: u64,
    ) -> Result<impl Iterator<Item = Result<(u32, String)>> + use<>> {
        let first = narrow(self.tables.path(), first)?;
        let open = || self.tables.catalog.names_from(first);
        GuardedEntries::open(self.tables.path(), open)
    }

    /// The documents whose keys begin with `prefix`, ordered by key.
    pub(crate) fn documents_with_prefix(
        &self,
        prefix: &str,
    ) -> Result<impl Iterator<Item = Result<(String, DocumentRow)>> + use<>> {
        let open = || self.tables.catalog.documents_with_prefix(prefix);
        let mut rows = GuardedEntries::open(self.tables.path(), open)?;
        // The tables keep the index open while the iterator exists.
        let tables = self.tables.clone();
        Ok(std::iter::from_fn(move || {
            let _open = &tables;
            rows.next()
        }))
    }

    /// The keys that name `content`, in order.
    pub(crate) fn names(&self, content: u32) -> Result<impl Iterator<Item = Result<String>> + '_> {
        let open = || self.tables.catalog.names(content);
        GuardedEntries::open(self.tables.path(), open)
    }

    /// The row of `content`.
    pub(crate) fn content(&self, content: u32) -> Result<ContentRow> {
        self.rows().content(content)
    }

    /// The signature of `content` in stored form.
    #[inline]
    pub(crate) fn signature(&self, content: u32) -> Result<Cow<'_, [u8]>> {
        self.rows().signature(content)
    }

    /// The same, of which no more than the first `slots` slots are needed.
    #[inline]
    pub(crate) fn first_slots(&self, slots: u32, content: u32) -> Result<Cow<'_, [u8]>> {
        self.rows().first_slots(slots, content)
    }

    /// The same, of a content that has these shingles: none are unpacked.
    #[inline]
    pub(crate) fn signature_of(
        &self,
        content: u32,
        shingles: &ShingleSet,
    ) -> Result<Cow<'_, [u8]>> {
        self.rows().signature_of(content, shingles)
    }

    /// The same if it is kept: that of a small set is not.
    pub(crate) fn kept_signature(&self, content: u32) -> Result<Option<&[u8]>> {
        self.rows().kept_signature(&self.content(content)?)
    }

    #[inline]
    fn rows(&self) -> ContentRows<'_> {
        ContentRows {
            schema: &self.schema,
            signer: &self.signer,
            columns: &self.columns,
            snapshot: self,
        }
    }

    /// Compares the blocks of `bytes` that are not yet verified with their checksums.
    ///
    /// `column` must have the data of the column of a kind. Bytes past its end are not checked here, but where they are
    /// read.
    #[inline]
    pub(crate) fn verify(
        &self,
        kind: ColumnKind,
        column: &ColumnView,
        bytes: &Range<u64>,
    ) -> Result<()> {
        if bytes.end > column.len() || column.verified().has_all(bytes) {
            return Ok(());
        }
        self.compare(kind, column, bytes)
    }

    #[cold]
    fn compare(&self, kind: ColumnKind, column: &ColumnView, bytes: &Range<u64>) -> Result<()> {
        for block in blocks_of(bytes).filter(|&block| !column.verified().has(block)) {
            let start = block * BLOCK_BYTES;
            let end = column.len().min(start + BLOCK_BYTES);
            let found = sum(column.bytes(start..end)?);
            if self.look(|catalog| catalog.sum(kind, block))? != Some(found) {
                let reason = format!("the checksum of its bytes {start} to {end} is wrong");
                return Err(Error::damaged(column.path(), reason));
            }
            column.verified().set(block);
        }
        Ok(())
    }

    /// Verifies the last block of each column, which a writer is about to extend.
    pub(crate) fn verify_ends(&self) -> Result<()> {
        for kind in ColumnKind::ALL {
            let column = self.column(kind);
            let end = column.len();
            self.verify(kind, column, &(end.saturating_sub(1)..end))?;
        }
        Ok(())
    }

    /// The row of `content`, and its shingles.
    #[inline]
    pub(crate) fn content_and_shingles(
        &self,
        content: u32,
    ) -> Result<(ContentRow, PackedShingles<'_>)> {
        self.rows().content_and_shingles(content)
    }

    /// Replaces `set` by the shingles of `content`.
    pub(crate) fn shingles(&self, content: u32, set: &mut ShingleSet) -> Result<()> {
        self.content_and_shingles(content)?.1.unpack(set)
    }

    /// The shingles of `content` in stored form.
    pub(crate) fn packed_shingles(&self, content: u32) -> Result<&[u8]> {
        self.content_and_shingles(content)?.1.bytes()
    }

    /// The fingerprints of `content` in stored form: 4 bytes each, little-endian, in the order of the text.
    pub(crate) fn fingerprints(&self, content: u32) -> Result<&[u8]> {
        self.rows().fingerprints(content)
    }

    /// Reads all memory that [`Snapshot::with_fingerprint`] will need for some fingerprints before it reads tables.
    pub(crate) fn approach_fingerprints(&self, fingerprints: &[u32]) {
        let fingerprints = fingerprints.iter().copied();
        self.recent.approach_fingerprints(fingerprints.clone());
        if let Some(list) = BucketLists::of(&self.schema).fingerprints() {
            self.filters
                .approach(&fingerprints.map(|hash| (list, hash)));
        }
    }

    /// Replaces `found` by the contents with a fingerprint, youngest first, at most `most`. Some may be removed already.
    pub(crate) fn with_fingerprint(
        &self,
        fingerprint: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        found.clear();
        let recent = &self.recent;
        recent.with_fingerprint(fingerprint, self.len, most, found);
        match BucketLists::of(&self.schema).fingerprints() {
            Some(list) => self.look_up(list as usize, fingerprint, self.len, most, found),
            None => Ok(()),
        }
    }

    /// Where the blocks of all contents below `content` end.
    pub(crate) fn ends_before(&self, content: u32) -> Result<BlockEnds> {
        self.rows().ends_before(content)
    }

    /// Whether both are of one commit of one store, regardless of uncommitted contents.
    pub(crate) fn is_same_commit(&self, other: &Snapshot) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// Replaces `found` by the contents of the snapshot whose hash is `hash`. Some may be removed already.
    pub(crate) fn copies(&self, hash: &[u8; 32], found: &mut Vec<u32>) -> Result<()> {
        found.clear();
        let short = copy_hash(hash);
        self.look_up(0, short, self.len, usize::MAX, found)?;
        found.extend(self.recent.ids(0, short));
        let mut error = None;
        found.retain(|&id| {
            if id >= self.len {
                return false;
            }
            self.content(id).map_or_else(
                |failed| {
                    error.get_or_insert(failed);
                    false
                },
                |row| row.hash == *hash,
            )
        });
        found.sort_unstable();
        error.map_or(Ok(()), Err)
    }

    /// Reads all memory that [`Snapshot::read_bucket`] will need for some buckets before it reads tables.
    pub(crate) fn approach(
        &self,
        ids: &Range<u32>,
        hashes: impl Iterator<Item = (u32, u32)> + Clone,
    ) {
        if ids.start >= self.recent.base() {
            return;
        }
        self.filters
            .approach(&hashes.map(|(band, hash)| (band + 1, hash)));
    }

    /// Appends to `found` the contents within `ids` in the bucket of a band hash, youngest first, until it holds
    /// `most`.
    ///
    /// Returns whether these are all. They are not if only recent contents were appended: tables are read only when there
    /// are no more recent ones. Contents may be removed already. `recent` is the position to resume recent contents at,
    /// `None` at first. It is advanced.
    pub(crate) fn read_bucket(
        &self,
        (band, hash): (u32, u32),
        ids: Range<u32>,
        most: usize,
        recent: &mut Option<ChainLink>,
        found: &mut Vec<u32>,
    ) -> Result<bool> {
        let list = band as usize + 1;
        let end = ids.end.min(self.len);
        let before = found.len();
        // Recent contents first. Their chains have contents that came after the snapshot, which are skipped.
        if end > self.recent.base() {
            let mut all = match *recent {
                Some(at) => self.recent.ids_from(list, hash, at),
                None => self.recent.ids(list, hash),
            };
            let below = all.by_ref().skip_while(|&id| id >= end);
            let within = below.take_while(|&id| id >= ids.start);
            found.extend(within.take(most.saturating_sub(before)));
            *recent = Some(all.rest());
        }
        // Next the tables, but only if no recent content was found: the caller reads on if it wants more.
        if ids.start >= self.recent.base() {
            return Ok(found.len() < most);
        }
        if found.len() > before {
            return Ok(false);
        }
        // The tables give all ids below `end`, descending. Those below `ids` are cut off again.
        self.look_up(list, hash, end, most, found)?;
        let is_all = found.len() < most;
        let within = found[before..].partition_point(|&id| id >= ids.start);
        found.truncate(before + within);
        Ok(is_all || found.len() < most)
    }

    /// Appends to `found` the ids below `end` that the tables of a list have for a hash, descending, until it holds
    /// `most`.
    fn look_up(
        &self,
        list: usize,
        hash: u32,
        end: u32,
        most: usize,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        let holders = self.filters.holders(low32(list as u64), hash);
        if !holders.any() {
            return Ok(());
        }
        let path = self.tables.path();
        let before = found.len();
        guarded(path, || {
            let posted = &self.tables.posted;
            let done = posted.look_up((list, hash), holders, end, most, found);
            done.map_err(|error| bucket_error(path, error))
        })?;
        // In a leaf that is out of order, a binary search goes astray.
        if found[before..].iter().any(|&id| id >= end) {
            return Err(Error::damaged(path, "a bucket is out of order"));
        }
        Ok(())
    }

    /// Calls `visit` with each hash of `content` in a list of buckets, from its rows.
    pub(crate) fn for_each_hash(
        &self,
        content: u32,
        list: BucketList,
        visit: impl FnMut(u32),
    ) -> Result<()> {
        self.rows().for_each_hash(content, list, visit)
    }

    /// Calls `visit` with every posting in the tables of a list, sorted and in batches.
    ///
    /// The tables do not contain recent contents.
    pub(crate) fn for_each_in_list(&self, list: u32, visit: impl FnMut(&[Posting])) -> Result<()> {
        self.for_each_in_levels(list, 0..LEVELS, ALL_HASHES, visit)
    }

    /// Calls `visit` with every posting in the tables of a list but those of the contents in `removed`, which must be
    /// sorted, likewise.
    pub(crate) fn for_each_without(
        &self,
        list: u32,
        removed: &[u32],
        mut visit: impl FnMut(&[Posting]),
    ) -> Result<()> {
        if self.tables.meta.removed() == 0 {
            return self.for_each_in_list(list, visit);
        }
        let removed = BitSet::of(removed);
        let mut left = Vec::new();
        self.for_each_in_list(list, |some| {
            left.clear();
            left.extend(
                some.iter()
                    .filter(|posting| !removed.contains(posting.id())),
            );
            visit(&left);
        })
    }

    /// Calls `visit` with every posting with some hash in the tables of some levels of a list, likewise.
    pub(crate) fn for_each_in_levels(
        &self,
        list: u32,
        levels: Range<usize>,
        hashes: RangeInclusive<u32>,
        visit: impl FnMut(&[Posting]),
    ) -> Result<()> {
        guarded(self.tables.path(), || {
            let posted = &self.tables.posted;
            let done = posted.for_each(list as usize, levels, hashes, visit);
            done.map_err(|error| bucket_error(self.tables.path(), error))
        })
    }

    /// The postings in a list of the recent contents that are not in `removed`, which must be sorted.
    pub(crate) fn recent_postings<'a>(
        &'a self,
        list: u32,
        removed: &'a [u32],
    ) -> impl Iterator<Item = Posting> + 'a {
        self.recent
            .postings(list, self.recent.base()..self.len)
            .filter(|posting| removed.binary_search(&posting.id()).is_err())
    }

    /// The column of a kind.
    pub(crate) fn column(&self, kind: ColumnKind) -> &ColumnView {
        &self.columns[kind]
    }

    /// The byte ranges of the blocks of a column whose checksums do not match those in the index.
    pub(crate) fn wrong_blocks(&self, kind: ColumnKind) -> Result<Vec<Range<u64>>> {
        self.wrong_blocks_in(kind, self.column(kind))
    }

    /// The same ranges for another file with the data of the column of a kind.
    pub(crate) fn wrong_blocks_in(
        &self,
        kind: ColumnKind,
        column: &ColumnView,
    ) -> Result<Vec<Range<u64>>> {
        let mut wrong = Vec::new();
        for (block, sum) in (0..).zip(all_sums(column)) {
            let stored = self.look(|catalog| catalog.sum(kind, block))?;
            if stored != Some(sum?) {
                let start = block * BLOCK_BYTES;
                wrong.push(start..column.len().min(start + BLOCK_BYTES));
            }
        }
        Ok(wrong)
    }

    /// The store's files by name, each with its size in bytes.
    pub(crate) fn files(&self) -> Result<Vec<(String, u64)>> {
        let index = self.tables.path();
        let mut files = vec![file_size(index)?];
        for (_, column) in self.columns.each() {
            files.push((file_name(column.path()), HEADER_BYTES as u64 + column.len()));
        }
        for (_, filter) in self.filters.all() {
            files.push((file_name(filter.path()), filter.bytes()));
        }
        Ok(files)
    }
}

/// A file's name and its disk space in bytes, without its holes.
pub(crate) fn file_size(path: &Path) -> Result<(String, u64)> {
    Ok((file_name(path), disk::size(path)?))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
