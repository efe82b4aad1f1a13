//! The files of a store that is open for writing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{ReadTransaction, WriteTransaction};

use super::merge::RunningMerge;
use crate::clock;
use crate::codec::{low32, words};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::schema::Schema;
use crate::sketch::Signer;
use crate::storage::columns::{ColumnSpec, ColumnWriters};
use crate::storage::disk::{self, TurnWait};
use crate::storage::folder::{HolderNote, check_free, check_outside, holder, leftovers};
use crate::storage::format::{ColumnKind, ContentRow, FORMAT, PerColumn, copy_hash, narrow};
use crate::storage::index::{
    Catalog, Index, InodeIdentity, Meta, catalog, existing_index, guarded, identity,
};
use crate::storage::limits::Limits;
use crate::storage::names::{FIRST_GENERATION, INDEX, NEW_INDEX, is_of_store};
use crate::storage::postings::{BucketLists, ContentHashes, Filters, RecentPostings};
use crate::storage::view::{BlockEnds, CommittedTables, Snapshot};

/// The state of the files beyond the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// The appended rows line up.
    Sound,
    /// A row is in some columns and not in others. Rolling back repairs that.
    Torn,
    /// A commit failed, and it is unknown what reached the disk. Opening the files again repairs that.
    Unknown,
}

/// A content that is to be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewContent<'a> {
    pub(crate) hash: &'a [u8; 32],
    pub(crate) shingle_count: u32,
    /// Its shingles in stored form, empty if the store keeps none.
    pub(crate) packed_shingles: &'a [u8],
    /// The signature's bytes.
    pub(crate) signature: &'a [u8],
    /// One hash per band, empty for a content without shingles.
    pub(crate) band_hashes: &'a [u32],
    /// Its fingerprints in the order of the text, empty if the store keeps none.
    pub(crate) fingerprints: &'a [u32],
}

impl<'a> NewContent<'a> {
    /// Its row, given where the blocks of the contents before it end, which then end with its own.
    fn row(&self, ends: &mut BlockEnds, schema: &Schema) -> ContentRow {
        ends.shingles_end += self.packed_shingles.len() as u64;
        ends.fingerprints_end += size_of_val(self.fingerprints) as u64;
        ends.signatures += u32::from(schema.keeps_signature(self.shingle_count));
        ContentRow {
            hash: *self.hash,
            shingles_end: ends.shingles_end,
            fingerprints_end: ends.fingerprints_end,
            shingle_count: self.shingle_count,
            signatures: ends.signatures,
        }
    }

    /// Its signature, unless it is one that the store does not keep.
    fn kept_signature(&self, schema: &Schema) -> &'a [u8] {
        if schema.keeps_signature(self.shingle_count) {
            self.signature
        } else {
            &[]
        }
    }

    /// Its fingerprints as they are stored.
    fn fingerprint_bytes(&self) -> Vec<u8> {
        let words = self.fingerprints.iter();
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    fn hashes(&self) -> ContentHashes<'a> {
        ContentHashes {
            first: copy_hash(self.hash),
            others: self.band_hashes,
            fingerprints: self.fingerprints,
        }
    }
}

/// Appended contents whose postings are still missing.
#[derive(Debug)]
#[must_use = "unposted contents cannot be found"]
pub(crate) struct UnpostedContents {
    recent: Arc<RecentPostings>,
    filters: Filters,
}

impl UnpostedContents {
    /// Enters the postings of the contents, which must be the last ones appended.
    ///
    /// Returns, for each content, the bands in which it may share a bucket with an earlier one, ascending.
    pub(crate) fn post(self, contents: &[NewContent<'_>], pool: &Pool) -> Vec<Vec<u32>> {
        let hashes: Vec<ContentHashes<'_>> = contents.iter().map(NewContent::hashes).collect();
        self.recent.fill(&hashes, &self.filters, pool)
    }
}

/// The writing side of a store.
///
/// Any number of processes have one, and write by turns. A process changes the files only while it has the
/// [turn](StoreFiles::take_turn). A turn begins with the last commit of all processes, and nothing is left of what it did not
/// commit.
#[derive(Debug)]
pub(crate) struct StoreFiles {
    pub(crate) schema: Arc<Schema>,
    signer: Arc<Signer>,
    pub(crate) index: Arc<Index>,
    pub(crate) index_path: PathBuf,
    /// Which folder was opened, if the system tells.
    folder: Option<InodeIdentity>,
    pub(crate) columns: ColumnWriters,
    pub(crate) tables: Arc<CommittedTables>,
    pub(crate) recent: Arc<RecentPostings>,
    pub(crate) filters: Filters,
    /// The merge that this handle does.
    pub(crate) merging: Option<RunningMerge>,
    pub(crate) has_committed: bool,
    /// The number of appended contents, including uncommitted ones.
    pub(crate) len: u32,
    /// The rows of contents below this id are not in the columns' buffers.
    flushed: u32,
    /// The number of contents that should have fingerprints and have none, including uncommitted ones.
    pub(crate) unfingerprinted: u64,
    pub(crate) limits: Limits,
    /// How long to wait for a turn.
    pub(crate) wait: TurnWait,
    /// The note that this process has the turn.
    note: Option<HolderNote>,
    /// Whether this process keeps the turn as long as the store is open.
    pub(crate) is_exclusive: bool,
    pub(crate) health: Health,
    /// The files of other stores that got new names when this one was opened.
    pub(crate) put_aside: Vec<PathBuf>,
}

impl StoreFiles {
    /// Creates a store in `folder`, which must be missing or empty except for the remains of a killed creation.
    ///
    /// An error leaves the folder as it was. The index is created under another name and renamed at the end, so the
    /// store appears complete or not at all.
    pub(crate) fn create(folder: &Path, schema: Schema, store: u64) -> Result<StoreFiles> {
        check_outside(folder)?;
        check_free(folder, leftovers::is_of_creation)?;
        StoreFiles::create_in(folder, None, schema, store)
    }

    /// Creates a store in a folder of this process, whatever else it holds.
    ///
    /// If `like` is given, the store gets the access rights of the one in `like`.
    pub(crate) fn create_in(
        folder: &Path,
        like: Option<&Path>,
        schema: Schema,
        store: u64,
    ) -> Result<StoreFiles> {
        let made = disk::create_folders(folder)?;
        let files = disk::sync_folder(disk::parent(folder))
            .and_then(|()| StoreFiles::begin(folder, like, schema, store));
        if files.is_err() {
            made.undo();
        }
        files
    }

    /// Creates the files of a store.
    fn begin(folder: &Path, like: Option<&Path>, schema: Schema, store: u64) -> Result<StoreFiles> {
        let index_path = folder.join(INDEX);
        let new_path = folder.join(NEW_INDEX);
        let like = like.map(|like| like.join(INDEX));
        let like = like.as_deref();
        let created = match like {
            Some(like) => Index::create_like(&new_path, like),
            None => Index::create(&new_path),
        };
        // The creator of a store in this folder holds the lock of the new index. It may also have given the file its
        // final name since, whatever error that led to here.
        let is_taken = disk::is_file(&index_path);
        if !matches!(is_taken, Ok(false)) {
            if created.map(drop).is_ok() {
                disk::remove(&new_path).unwrap_or_default();
            }
            is_taken?;
            let path = folder.to_owned();
            return Err(Error::AlreadyAStore { path });
        }
        let index = Arc::new(created?);
        let files = StoreFiles::fill(folder, index, like, schema, store);
        if files.is_err() {
            // The first error is the one to report.
            for path in [&new_path, &index_path] {
                disk::remove(path).unwrap_or_default();
            }
            for kind in ColumnKind::ALL {
                let path = folder.join(kind.file_name(FIRST_GENERATION));
                if is_of_store(&path, store) {
                    disk::remove(&path).unwrap_or_default();
                }
            }
        }
        files
    }

    /// Fills the files of a new store, and renames the index to its final name.
    fn fill(
        folder: &Path,
        index: Arc<Index>,
        like: Option<&Path>,
        schema: Schema,
        store: u64,
    ) -> Result<StoreFiles> {
        let (index_path, new_path) = (folder.join(INDEX), folder.join(NEW_INDEX));
        let generation = FIRST_GENERATION.into();
        let meta = Meta {
            format: FORMAT.into(),
            store,
            generation,
            files: PerColumn::new(|_| generation),
            committed: clock::now().unsigned_abs(),
            ..Meta::default()
        };
        // Columns first: the index that names them must not exist without them.
        let columns = ColumnWriters::create(folder, like, &meta, &schema)?;
        let transaction = index.begin_write()?;
        guarded(&new_path, || {
            let committed = commit_empty(transaction, &meta, &schema);
            committed.map_err(|error| Error::index(&new_path, error))
        })?;
        // The index is renamed only when the names of the columns are durable.
        disk::sync_folder(folder)?;
        disk::rename(&new_path, &index_path)?;
        disk::sync_folder(folder)?;
        StoreFiles::with_columns(index, index_path, Arc::new(schema), columns)
    }

    /// Opens the store in `folder`, waits for the turn, and truncates the files to the last commit.
    pub(crate) fn open(folder: &Path, wait: &TurnWait) -> Result<StoreFiles> {
        let index_path = existing_index(folder)?;
        // This comes first because opening an index for writing modifies it at once.
        if let Some(linked) = linked_file(&index_path)? {
            return Err(disk::has_other_name(&linked));
        }
        let index = Arc::new(Index::open(&index_path, wait)?);
        let transaction = index.begin_read(&index_path)?;
        let (meta, schema) = read_meta(&transaction, &index_path)?;
        drop(transaction);
        // A killed process may have stopped right after renaming the index. The files of the replaced generation are
        // needed until the new name is durable.
        disk::sync_folder(folder)?;
        // Files of another store give up the names that this one may need. Then what no index names is deleted.
        let put_aside = leftovers::put_aside(folder, &meta)?;
        leftovers::clear(folder, &meta)?;
        let columns = ColumnWriters::open(folder, &meta, &schema)?;
        let mut files = StoreFiles::with_columns(index, index_path, Arc::new(schema), columns)?;
        files.put_aside = put_aside;
        files.wait = wait.clone();
        Ok(files)
    }

    pub(crate) fn with_columns(
        index: Arc<Index>,
        index_path: PathBuf,
        schema: Arc<Schema>,
        columns: ColumnWriters,
    ) -> Result<StoreFiles> {
        let lists = BucketLists::of(&schema);
        let tables = CommittedTables::open(&index, &index_path, lists)?;
        let len = narrow(&index_path, tables.meta.contents)?;
        let filters = Filters::open(&index_path, &tables.meta, true)?;
        let unfingerprinted = tables.meta.unfingerprinted;
        let folder = identity(disk::parent(&index_path))?;
        // The rows are read through a snapshot, so the recent postings are a placeholder at first.
        let mut files = StoreFiles {
            signer: Arc::new(schema.signer()?),
            schema,
            index,
            index_path,
            folder,
            columns,
            tables: Arc::new(tables),
            recent: Arc::new(RecentPostings::new(0, 1, 0, 0)),
            filters,
            merging: None,
            has_committed: false,
            len,
            flushed: 0,
            unfingerprinted,
            limits: Limits::default(),
            wait: TurnWait::NONE,
            is_exclusive: false,
            note: None,
            health: Health::Sound,
            put_aside: Vec::new(),
        };
        let snapshot = files.snapshot()?;
        // A checksum computed over damaged data would hide the damage.
        snapshot.verify_ends()?;
        files.recent = rebuild_recent(&snapshot, None)?;
        Ok(files)
    }

    /// The memory in bytes that the postings of recent contents occupy.
    pub(crate) fn recent_bytes(&self) -> u64 {
        self.recent.bytes()
    }

    /// Checks that no earlier call failed half-way.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match self.health {
            Health::Sound => Ok(()),
            Health::Torn | Health::Unknown => Err(Error::Poisoned),
        }
    }

    /// Waits for the right to write, unless this process has it, and takes over what others committed. Returns whether
    /// there was any. After a failure, the files are opened again, at the last commit.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] if another process keeps it, [`Error::Moved`] if the store's folder has moved, and those of
    /// opening the files.
    pub(crate) fn take_turn(&mut self) -> Result<bool> {
        if self.check_writable().is_err() {
            return self.open_again().map(|()| true);
        }
        if self.index.has_turn() {
            return Ok(false);
        }
        let taken = self.index.take_turn(&self.wait);
        taken.map_err(|error| error.held_by(|| holder(disk::parent(&self.index_path))))?;
        let caught_up = match self.catch_up() {
            // redb reads nothing more after an error of the system.
            Err(_) if self.index.has_failed() => self.open_again().map(|()| true),
            caught_up => caught_up,
        };
        if caught_up.is_err() {
            self.index.end_turn();
        }
        caught_up
    }

    /// Leaves a note that this process has the turn. For turns of a moment it would cost more than it tells.
    pub(crate) fn announce(&mut self) {
        if self.note.is_none() {
            let folder = disk::parent(&self.index_path);
            self.note = Some(HolderNote::leave(folder, self.tables.meta.store));
        }
    }

    /// Whether this process has the turn and another one waits for it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.index.is_awaited()
    }

    /// Lets others write. What is appended must be committed or rolled back.
    pub(crate) fn end_turn(&mut self) {
        if !self.is_exclusive {
            self.note = None;
            self.index.end_turn();
        }
    }

    fn catch_up(&mut self) -> Result<bool> {
        if !self.index.is_at(&self.index_path)? {
            // A rebuild has put another index in the place of this one.
            return self.open_again().map(|()| true);
        }
        let path = &self.index_path;
        self.index.publish_last_commit()?;
        let transaction = self.index.begin_read(path)?;
        let Some(meta) = guarded(path, || Meta::read(&transaction, path))? else {
            return Err(Error::damaged(path, "it has no committed store"));
        };
        // The metadata has the number of the commit, so it differs after any commit.
        if meta == self.tables.meta {
            return Ok(false);
        }
        let lists = BucketLists::of(&self.schema);
        let tables = CommittedTables::of(transaction, &meta, &self.index, path, lists)?;
        self.follow(tables)?;
        Ok(true)
    }

    /// Opens the store again, in the generation in use, as after a crash of this process.
    ///
    /// The old index may stay open for snapshots of it. It writes nothing more, since it never gets the right to.
    fn open_again(&mut self) -> Result<()> {
        self.index.end_turn();
        let path = self.index_path.clone();
        let (store, wait) = (self.tables.meta.store, self.wait.clone());
        // Opening for writing would write to a store that is another one, or to a copy of this one.
        if identity(disk::parent(&path))? != self.folder
            || !disk::is_file(&path)?
            || last_meta(&path)?.0.store != store
        {
            return Err(Error::Moved { path });
        }
        // Another store may have taken the place since the check above.
        let opened = StoreFiles::open(disk::parent(&path), &wait)?;
        if opened.tables.meta.store != store {
            return Err(Error::Moved { path });
        }
        let (limits, is_exclusive) = (self.limits, self.is_exclusive);
        *self = opened;
        self.limits = limits;
        self.is_exclusive = is_exclusive;
        Ok(())
    }

    /// Takes over the last commit of the index, which has these tables.
    fn follow(&mut self, tables: CommittedTables) -> Result<()> {
        // After an error, the parts are those of two commits.
        self.health = Health::Unknown;
        let (earlier, meta) = (self.tables.meta, tables.meta);
        for (kind, column) in self.columns.each_mut() {
            column.follow(ColumnSpec::of(kind, &meta, &self.schema)?.len)?;
        }
        // Most commits change no filter, and opening one costs a mapping.
        let filtered = |meta: &Meta| (meta.levels, meta.young_filter, meta.old_filter);
        if filtered(&earlier) != filtered(&meta) {
            self.filters = Filters::open(&self.index_path, &meta, true)?;
        }
        self.len = narrow(&self.index_path, meta.contents)?;
        self.unfingerprinted = meta.unfingerprinted;
        self.tables = Arc::new(tables);
        let snapshot = self.snapshot()?;
        snapshot.verify_ends()?;
        self.recent = rebuild_recent(&snapshot, Some(&self.recent))?;
        self.health = Health::Sound;
        Ok(())
    }

    /// Checks that the store is still where it was opened.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        self.index.check_is_at(&self.index_path)
    }

    /// Checks that `contents` more contents can be appended.
    pub(crate) fn check_room(&self, contents: usize) -> Result<()> {
        self.check_writable()?;
        let left = (u32::MAX - 1).saturating_sub(self.len);
        if contents as u64 > u64::from(left) {
            return Err(Error::Full);
        }
        Ok(())
    }

    /// Appends a content and gives it the next id.
    ///
    /// # Errors
    ///
    /// After an error, nothing more can be appended before [`StoreFiles::roll_back`].
    pub(crate) fn push(&mut self, content: &NewContent<'_>, pool: &Pool) -> Result<u32> {
        self.check_room(1)?;
        self.health = Health::Torn;
        self.append_rows(content)?;
        self.health = Health::Sound;
        // The rows come before the postings that lead to them.
        self.make_room(std::slice::from_ref(content), pool);
        self.recent.push(content.hashes());
        let id = self.len;
        self.len += 1;
        self.count(std::slice::from_ref(content));
        Ok(id)
    }

    /// Appends contents and gives them the next ids.
    ///
    /// A view taken before they are [posted](UnpostedContents::post) gets their postings when they are.
    ///
    /// # Errors
    ///
    /// After an error, nothing more can be appended before [`StoreFiles::roll_back`].
    pub(crate) fn append(
        &mut self,
        contents: &[NewContent<'_>],
        pool: &Pool,
    ) -> Result<UnpostedContents> {
        self.check_room(contents.len())?;
        self.health = Health::Torn;
        self.append_all_rows(contents, pool)?;
        self.health = Health::Sound;
        self.make_room(contents, pool);
        self.len += low32(contents.len() as u64);
        self.count(contents);
        Ok(UnpostedContents {
            recent: self.recent.clone(),
            filters: self.filters.clone(),
        })
    }

    /// Counts appended contents that lack fingerprints.
    fn count(&mut self, contents: &[NewContent<'_>]) {
        if self.schema.fingerprint_step().is_some() {
            let lacks = |content: &&NewContent<'_>| {
                content.fingerprints.is_empty() && content.shingle_count > 0
            };
            self.unfingerprinted += contents.iter().filter(lacks).count() as u64;
        }
    }

    /// Makes room for more recent contents.
    fn make_room(&mut self, contents: &[NewContent<'_>], pool: &Pool) {
        let more = contents.len();
        let fingerprints = contents.iter().map(|content| content.fingerprints.len());
        let fingerprints = fingerprints.sum();
        if !self.recent.has_room(more, fingerprints) {
            self.recent = Arc::new(self.recent.grown(more, fingerprints, pool));
        }
    }

    fn append_all_rows(&mut self, contents: &[NewContent<'_>], pool: &Pool) -> Result<()> {
        let mut ends = self.ends();
        // Rows hold the ends of the blocks, so they are complete before anything is appended.
        let rows = contents
            .iter()
            .map(|content| content.row(&mut ends, &self.schema).encode());
        let rows: Vec<[u8; ContentRow::BYTES]> = rows.collect();
        ends.check()?;
        let columns = &mut self.columns;
        let shingles = contents.iter().map(|content| content.packed_shingles);
        columns[ColumnKind::Shingles].append_all(shingles, pool)?;
        let rows = rows.iter().map(|row| &row[..]);
        columns[ColumnKind::Contents].append_all(rows, pool)?;
        let signatures = contents
            .iter()
            .map(|content| content.kept_signature(&self.schema));
        columns[ColumnKind::Signatures].append_all(signatures, pool)?;
        let fingerprints = contents.iter().map(NewContent::fingerprint_bytes);
        let fingerprints: Vec<Vec<u8>> = fingerprints.collect();
        let fingerprints = fingerprints.iter().map(Vec::as_slice);
        columns[ColumnKind::Fingerprints].append_all(fingerprints, pool)
    }

    fn append_rows(&mut self, content: &NewContent<'_>) -> Result<()> {
        let mut ends = self.ends();
        let row = content.row(&mut ends, &self.schema);
        ends.check()?;
        let columns = &mut self.columns;
        columns[ColumnKind::Shingles].append(content.packed_shingles)?;
        columns[ColumnKind::Contents].append(&row.encode())?;
        columns[ColumnKind::Signatures].append(content.kept_signature(&self.schema))?;
        columns[ColumnKind::Fingerprints].append(&content.fingerprint_bytes())
    }

    /// Where the blocks of all contents end.
    fn ends(&self) -> BlockEnds {
        BlockEnds {
            shingles_end: self.columns[ColumnKind::Shingles].len(),
            fingerprints_end: self.columns[ColumnKind::Fingerprints].len(),
            signatures: self
                .schema
                .signatures_in(self.columns[ColumnKind::Signatures].len()),
        }
    }

    /// A view of everything appended so far, on top of the documents of the last commit.
    pub(crate) fn snapshot(&mut self) -> Result<Snapshot> {
        for (_, column) in self.columns.each_mut() {
            column.flush()?;
        }
        self.flushed = self.len;
        Ok(self.view())
    }

    /// Like [`StoreFiles::snapshot`], but the rows of the contents after `content` may be missing.
    pub(crate) fn snapshot_up_to(&mut self, content: u32) -> Result<Snapshot> {
        if content < self.flushed {
            Ok(self.view())
        } else {
            self.snapshot()
        }
    }

    /// Returns the youngest of the recent contents that share a bucket with the band hashes `hashes`.
    pub(crate) fn youngest_met(&self, hashes: &[u32]) -> Option<u32> {
        self.recent.youngest_met(hashes)
    }

    /// Like [`StoreFiles::snapshot`], but without flushing the columns' buffers.
    ///
    /// Candidates can be found in it, but the rows of the contents appended last may be missing.
    pub(crate) fn view(&self) -> Snapshot {
        Snapshot {
            schema: self.schema.clone(),
            signer: self.signer.clone(),
            tables: self.tables.clone(),
            columns: PerColumn::new(|kind| self.columns[kind].view()),
            recent: self.recent.clone(),
            filters: self.filters.clone(),
            len: self.len,
        }
    }

    /// Discards everything appended since the last commit.
    ///
    /// If that commit failed, this does nothing: nothing more may be written, and nothing is repaired by guessing.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        let committed = narrow(&self.index_path, self.tables.meta.contents)?;
        let is_clean = self.len == committed && self.health == Health::Sound;
        if is_clean || self.health == Health::Unknown {
            return Ok(());
        }
        self.health = Health::Torn;
        for (_, column) in self.columns.each_mut() {
            column.roll_back()?;
        }
        self.len = committed;
        self.unfingerprinted = self.tables.meta.unfingerprinted;
        // Chains cannot lose entries, so the recent postings are made again.
        self.recent = rebuild_recent(&self.snapshot()?, None)?;
        self.health = Health::Sound;
        Ok(())
    }

    /// Whether the last commit is the one that these files are at, and this process may cut them.
    fn may_cut(&self) -> bool {
        self.health == Health::Sound
            && self.index.take_turn(&TurnWait::NONE).is_ok()
            && self.index.publish_last_commit().is_ok()
            && self.tables.are_last().unwrap_or(false)
    }
}

impl Drop for StoreFiles {
    /// Releases the space by which the columns grew in advance, unless others write just now, and ends the turn.
    ///
    /// The files of a process that this one is a fork of are leaked, not dropped.
    fn drop(&mut self) {
        if self.may_cut() {
            for (_, column) in self.columns.each_mut() {
                column.cut();
            }
        }
        self.note = None;
        self.index.end_turn();
    }
}

/// The file of the store whose index is at `path` that is also a file of another folder, if there is one.
///
/// A copy that was made with hard links shares its files with the original, and neither may write to them.
///
/// # Errors
///
/// [`Error::NewerFormat`] and [`Error::OlderFormat`] among others, so that no writer opens such a store.
pub(super) fn linked_file(path: &Path) -> Result<Option<PathBuf>> {
    let (meta, schema) = last_meta(path)?;
    let mut files = vec![path.to_owned()];
    for kind in ColumnKind::ALL {
        files.push(ColumnSpec::of(kind, &meta, &schema)?.path(disk::parent(path)));
    }
    for file in files {
        if !disk::is_sole(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Reads the metadata and the schema of the last commit of the index at `path`, and writes nothing.
fn last_meta(path: &Path) -> Result<(Meta, Schema)> {
    let index = Index::open_read_only(path)?;
    let transaction = index.begin_read(path)?;
    read_meta(&transaction, path)
}

/// Reads the metadata and the schema from a transaction of the index at `path`.
pub(crate) fn read_meta(transaction: &ReadTransaction, path: &Path) -> Result<(Meta, Schema)> {
    let in_index = |error| Error::index(path, error);
    let Some(meta) = guarded(path, || Meta::read(transaction, path))? else {
        return Err(Error::damaged(path, "it does not say what the store holds"));
    };
    let parameters = guarded(path, || catalog::read_schema(transaction).map_err(in_index))?;
    let schema = Schema::from_parameters(&parameters)
        .map_err(|error| Error::damaged(path, format!("its schema is not one: {error}")))?;
    Ok((meta, schema))
}

/// The first commit: a schema and no documents.
fn commit_empty(
    transaction: WriteTransaction,
    meta: &Meta,
    schema: &Schema,
) -> Result<(), redb::Error> {
    Catalog::create(&transaction)?;
    catalog::write_schema(&transaction, &schema.parameters())?;
    meta.write(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Rebuilds the postings of the contents that are not in the tables.
///
/// Extends `earlier` ones of the same signatures, if they have the first of these contents or end before it. The
/// caller must be their only writer.
pub(crate) fn rebuild_recent(
    snapshot: &Snapshot,
    earlier: Option<&Arc<RecentPostings>>,
) -> Result<Arc<RecentPostings>> {
    let meta = &snapshot.tables.meta;
    let banded = narrow(snapshot.tables.path(), meta.banded())?;
    let schema = &snapshot.schema;
    let bands = schema.bands();
    let contents = snapshot.len.saturating_sub(banded);
    // A commit leaves far fewer than this outside of the tables.
    if contents > u32::MAX / (bands.bands() + 1) {
        let reason = format!("{contents} contents are in no table");
        return Err(Error::damaged(snapshot.tables.path(), reason));
    }
    let pool = Pool::new(1);
    // Earlier postings are reused if no content is missing between them and the tables.
    let overlaps = |earlier: &&Arc<RecentPostings>| {
        (earlier.base()..=earlier.base() + earlier.len()).contains(&banded)
    };
    let mut recent = match earlier.filter(overlaps) {
        Some(earlier) if earlier.base() == banded => earlier.clone(),
        Some(earlier) => Arc::new(earlier.after(banded, &pool)),
        None => Arc::new(RecentPostings::new(
            banded,
            BucketLists::of(schema).per_content() as usize,
            contents as usize,
            fingerprint_count(snapshot, banded)?,
        )),
    };
    // The rest is derived from the rows. Readers of `earlier` ignore what is appended here, by the length of their
    // snapshot.
    let (mut hashes, mut fingerprints) = (Vec::new(), Vec::new());
    for id in banded + recent.len()..snapshot.len {
        let row = snapshot.content(id)?;
        hashes.clear();
        let signature = snapshot.signature(id)?;
        schema.band_hashes(row.shingle_count as usize, &signature, &mut hashes);
        fingerprints.clear();
        fingerprints.extend(words(snapshot.fingerprints(id)?));
        if !recent.has_room(1, fingerprints.len()) {
            recent = Arc::new(recent.grown(1, fingerprints.len(), &pool));
        }
        recent.push(ContentHashes {
            first: copy_hash(&row.hash),
            others: &hashes,
            fingerprints: &fingerprints,
        });
    }
    Ok(recent)
}

/// The number of fingerprints of the contents of a snapshot from `first` on.
fn fingerprint_count(snapshot: &Snapshot, first: u32) -> Result<usize> {
    let [start, end] = [first, snapshot.len].map(|content| snapshot.ends_before(content));
    let bytes = end?
        .fingerprints_end
        .saturating_sub(start?.fingerprints_end);
    // Damaged rows may count more than a column has.
    let bytes = bytes.min(snapshot.column(ColumnKind::Fingerprints).len());
    Ok(usize::try_from(bytes).unwrap_or(0) / size_of::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::salvage::Wreck;

    #[cfg(unix)]
    #[test]
    fn a_store_that_cannot_be_made_leaves_nothing() {
        use crate::storage::watch::{DiskFault, DiskWatch};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/store");
        let watch = DiskWatch::new(folder.path());
        let mut refused = 0;
        for (step, is_full) in (0..).flat_map(|step| [(step, true), (step, false)]) {
            watch.fail(Some(if is_full {
                DiskFault::Full { step }
            } else {
                DiskFault::Once { step }
            }));
            let made = StoreFiles::create(&path, Schema::default(), 1).map(drop);
            watch.fail(None);
            let failed = watch.failed();
            if made.is_err() {
                refused += 1;
                let left = std::fs::read_dir(folder.path()).unwrap().count();
                assert_eq!(left, 0, "step {step}: {failed:?}");
            } else {
                std::fs::remove_dir_all(folder.path().join("a")).unwrap();
            }
            if failed.is_empty() && !is_full {
                break;
            }
        }
        assert!(refused > 20, "{refused}");
    }

    #[test]
    fn who_creates_a_store_beside_another_creator_is_told_that_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let create = || StoreFiles::create_in(folder.path(), None, Schema::default(), 1).map(drop);
        create().unwrap();
        // The other one may be at any step, so whatever the new index leads to is no answer.
        let new = folder.path().join(NEW_INDEX);
        for start in ["", "no index"] {
            std::fs::write(&new, start).unwrap();
            let refused = create().unwrap_err();
            assert!(matches!(refused, Error::AlreadyAStore { .. }), "{refused}");
        }
        // It is not of this creator.
        assert_eq!(std::fs::read(&new).unwrap(), b"no index");
    }

    #[test]
    fn more_contents_in_no_table_than_a_commit_leaves_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        let mut snapshot = files.snapshot().unwrap();
        snapshot.len = u32::MAX - 1;
        let error = rebuild_recent(&snapshot, None).unwrap_err();
        assert!(
            matches!(&error, Error::Damaged { path, .. } if *path == files.index_path),
            "{error}"
        );
        assert!(error.to_string().contains("are in no table"), "{error}");
    }

    #[test]
    fn an_index_of_another_format_is_refused() {
        let error = refusal(FORMAT + 1);
        let Error::NewerFormat {
            supported, found, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((*supported, *found), (FORMAT, FORMAT + 1));
        assert!(
            error.to_string().ends_with("so use the newer release"),
            "{error}"
        );
        let error = refusal(1);
        let Error::OlderFormat {
            supported, found, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((*supported, *found), (FORMAT, 1));
        assert!(
            error
                .to_string()
                .ends_with("so make a new store and add the texts again"),
            "{error}"
        );
    }

    /// The error with which every way of opening refuses a store whose index records `format`.
    fn refusal(format: u32) -> Error {
        let folder = tempfile::tempdir().unwrap();
        let files = StoreFiles::create(folder.path(), Schema::default(), 1).unwrap();
        let transaction = files.index.begin_write().unwrap();
        let meta = Meta {
            format: format.into(),
            ..files.tables.meta
        };
        meta.write(&transaction).unwrap();
        transaction.commit().unwrap();
        let index = folder.path().join(INDEX);
        let left = std::fs::read(&index).unwrap();
        let in_use = StoreFiles::open(folder.path(), &TurnWait::NONE)
            .map(drop)
            .unwrap_err();
        assert!(matches!(
            in_use,
            Error::NewerFormat { .. } | Error::OlderFormat { .. }
        ));
        assert!(std::fs::read(&index).unwrap() == left);
        drop(files);
        let left = std::fs::read(&index).unwrap();
        let opened = StoreFiles::open(folder.path(), &TurnWait::NONE).map(drop);
        assert!(std::fs::read(&index).unwrap() == left, "it was written to");
        let read = Snapshot::open(folder.path()).map(drop);
        let scratch = tempfile::tempdir().unwrap();
        let wreck = Wreck::open(folder.path(), scratch.path()).map(drop);
        let refused = [opened, read, wreck].map(Result::unwrap_err);
        let [first, others @ ..] = refused;
        for other in others {
            assert_eq!(other.to_string(), first.to_string());
        }
        first
    }
}
