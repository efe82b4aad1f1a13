//! What can still be read of a damaged store.
//!
//! Each part is read on its own: a damaged page of the index hides only the entries on it. The store's own files are
//! only read, and not mapped. The index is copied first, because opening it may repair it.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::part::SalvagedColumn;
use super::worn::WornFile;
use crate::codec::u32_at;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::columns::{most_bytes, unpack_stored};
use crate::storage::disk::{self, File, TurnWait};
use crate::storage::format::{ColumnKind, ContentRow, PerColumn};
use crate::storage::index::{
    Catalog, DocumentRow, GuardedEntries, IdScope, Index, Meta, RunRecord, SourceFile, catalog,
    guarded,
};
use crate::storage::names::{COPY, INDEX, SCRATCH};
use crate::text::ShingleSet;

/// A damaged store.
#[derive(Debug)]
pub(crate) struct Wreck {
    /// Why nothing in the index can be read, if so.
    pub(crate) no_index: Option<Error>,
    pub(crate) schema: Option<Schema>,
    catalog: Option<Catalog>,
    /// The store's own index.
    path: PathBuf,
    /// The folder of its copy.
    scratch: PathBuf,
    /// `None` for a column of which nothing is left.
    columns: PerColumn<Option<SalvagedColumn>>,
    /// The number of index bytes that the disk cannot read.
    unreadable: u64,
    /// Whether the index passes its own checksums.
    is_whole: bool,
    /// If the index is damaged, the contents that it records as removed, ascending.
    removed: Vec<u32>,
    meta: Option<Meta>,
    /// Keeps the copy open; dropped after the tables.
    index: Option<Arc<Index>>,
    /// The first error other than damage, from a call that skipped what it could not read.
    refusal: RefCell<Option<Error>>,
}

/// What is left of a content.
#[derive(Debug)]
pub(crate) struct ContentRemains {
    pub(crate) row: ContentRow,
    /// Whether the checksum of the row's block is right.
    pub(crate) is_row_sound: bool,
    /// The stored form of the shingles, or `None` if they are missing.
    pub(crate) packed_shingles: Option<Vec<u8>>,
    pub(crate) are_shingles_sound: bool,
    pub(crate) signature: Option<Vec<u8>>,
    pub(crate) is_signature_sound: bool,
    /// Its fingerprints in stored form, empty unless all their checksums are right.
    pub(crate) fingerprints: Vec<u8>,
}

/// The keys that name a content.
#[derive(Debug, Default)]
pub(crate) struct ContentKeys {
    pub(crate) keys: Vec<String>,
    /// The number of names that are too damaged to be keys.
    pub(crate) garbled: usize,
    /// Whether `keys` is complete.
    pub(crate) are_all: bool,
}

impl ContentRemains {
    /// Replaces `set` by the shingles, and returns whether they form a valid set.
    pub(crate) fn unpack(&self, set: &mut ShingleSet) -> bool {
        let count = self.row.shingle_count as usize;
        let packed = self.packed_shingles.as_deref().unwrap_or(&[]);
        unpack_stored(packed, count, set).is_ok() && set.is_ordered()
    }
}

impl Wreck {
    /// Examines the store in `folder`, copying its index into a folder in `building`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if nothing in the folder looks like a part of a store, [`Error::NewerFormat`],
    /// [`Error::OlderFormat`], or the system's error for a part that exists and cannot be read at the moment.
    pub(crate) fn open(folder: &Path, building: &Path) -> Result<Wreck> {
        if disk::metadata(folder)?.is_some_and(|found| !found.is_dir()) {
            let path = folder.to_owned();
            return Err(Error::NotAStore { path });
        }
        let path = folder.join(INDEX);
        let scratch = building.join(SCRATCH);
        let mut wreck = Wreck {
            no_index: None,
            schema: None,
            catalog: None,
            path: path.clone(),
            scratch: scratch.clone(),
            columns: PerColumn::default(),
            unreadable: 0,
            is_whole: false,
            removed: Vec::new(),
            meta: None,
            index: None,
            refusal: RefCell::default(),
        };
        disk::create_folder(&scratch)?;
        let copy = scratch.join(COPY);
        match wreck.examine_index(&copy) {
            Err(error) if error.is_of_damage() => wreck.no_index = Some(error.of_original(&path)),
            read => read?,
        }
        let (meta, schema) = (wreck.meta.as_ref(), wreck.schema.as_ref());
        // First the file that the index names. The name may be damaged, too, so any file of this kind is better than
        // none.
        for (kind, part) in wreck.columns.each_mut() {
            let find = |meta| SalvagedColumn::find(folder, kind, meta, schema, wreck.is_whole);
            *part = match find(meta)? {
                None if !wreck.is_whole => find(None)?,
                found => found,
            };
        }
        if wreck.no_index.is_some() && wreck.columns.each().all(|(_, part)| part.is_none()) {
            let path = folder.to_owned();
            return Err(Error::NotAStore { path });
        }
        wreck.compare_sums()?;
        Ok(wreck)
    }

    /// Copies the index, finds out whether it is whole, and reads what can be read of it.
    fn examine_index(&mut self, copy: &Path) -> Result<()> {
        copy_index(&self.path, copy, &mut self.unreadable)?;
        // The commit before anything is repaired. If a repair goes back behind it, the repair is not to be trusted.
        let last = if_sound(last_commit(copy, &self.path))?.flatten();
        let checked =
            Index::open(copy, &TurnWait::NONE).and_then(|mut index| Ok((index.check()?, index)));
        let is_sound = matches!(if_sound(checked)?, Some((true, _)));
        self.is_whole = is_sound
            && last.is_some()
            && if_sound(last_commit(copy, &self.path))?.flatten() == last;
        // The copy is made again as it was, because the check may have repaired it.
        if !self.is_whole {
            self.copy_again(copy)?;
        }
        self.read_index(copy, false)?;
        // Opened for writing, a damaged index may go back to an earlier commit.
        if last.is_some() && self.meta.map(|meta| meta.commit) < last {
            self.catalog = None;
            self.index = None;
            self.copy_again(copy)?;
            self.read_index(copy, true)?;
        }
        // Which contents were removed is known only if the index says so. Others that have lost their names are kept.
        if !self.is_whole && self.catalog.is_some() {
            let removed = if_sound(self.look(Catalog::removed_contents))?;
            self.removed = removed.unwrap_or_default();
        }
        let is_read = self.catalog.is_some() && self.meta.is_some() && self.schema.is_some();
        self.is_whole &= is_read;
        Ok(())
    }

    /// Replaces the copy, which a repair may have changed.
    fn copy_again(&mut self, copy: &Path) -> Result<()> {
        disk::remove(copy)?;
        copy_index(&self.path, copy, &mut self.unreadable)
    }

    /// Opens the copy of the index and reads what can be read of it.
    fn read_index(&mut self, copy: &Path, read_only: bool) -> Result<()> {
        let index = Arc::new(if read_only {
            Index::open_read_only(copy)?
        } else {
            Index::open_damaged(copy)?
        });
        let path = &self.path;
        let transaction = index.begin_read(path)?;
        let in_index = |error| Error::index(path, error);
        let meta = guarded(path, || Meta::read(&transaction, path));
        self.meta = if_sound(meta)?.flatten();
        let catalog = guarded(path, || Catalog::open(&transaction).map_err(in_index));
        self.catalog = if_sound(catalog)?;
        let schema = guarded(path, || {
            let parameters = catalog::read_schema(&transaction).map_err(in_index)?;
            Schema::from_parameters(&parameters)
        });
        self.schema = if_sound(schema)?;
        self.index = Some(index);
        Ok(())
    }

    /// Compares the columns' blocks with their checksums in the index.
    fn compare_sums(&mut self) -> Result<()> {
        let Some(catalog) = &self.catalog else {
            return Ok(());
        };
        let path = &self.path;
        for (kind, part) in self.columns.each_mut() {
            let Some(part) = part else { continue };
            part.compare_sums(|block, sum| {
                let stored = guarded(path, || {
                    let stored = catalog.sum(kind, block);
                    stored.map_err(|error| Error::index(path, error))
                });
                Ok(if_sound(stored)?.flatten() == Some(sum))
            })?;
        }
        Ok(())
    }

    /// The runs, as far as the index records them. Contents are renumbered, so `first` is 0.
    pub(crate) fn runs(&self) -> RunRecord {
        let runs = self.meta.map_or(RunRecord::default(), |meta| meta.runs);
        RunRecord { first: 0, ..runs }
    }

    /// Whether `content`, which no document names, may have been removed.
    ///
    /// A damaged index may lack the name, or be that of an earlier commit. So it has to say that the content was removed.
    pub(crate) fn may_be_removed(&self, content: u32) -> bool {
        self.is_whole || self.removed.binary_search(&content).is_ok()
    }

    /// The scope of ids, as far as the index records it.
    pub(crate) fn id_scope(&self) -> IdScope {
        IdScope::of(self.meta.map_or(0, |meta| meta.id_scope))
    }

    /// The file with this number, if its path can be read.
    pub(crate) fn source(&self, number: u64) -> Result<Option<SourceFile>> {
        if number == 0 || self.catalog.is_none() {
            return Ok(None);
        }
        let path = if_sound(self.look(|catalog| catalog.source(number)))?.flatten();
        // A path that damage changed has another number.
        let file = path.map(|path| SourceFile::new(&path));
        Ok(file.filter(|file| file.number == number))
    }

    /// The number of contents of which something may be left.
    pub(crate) fn len(&self) -> u32 {
        let contents = &self.columns[ColumnKind::Contents];
        let bytes = contents.as_ref().map_or(0, |part| part.len);
        u32::try_from(bytes / ContentRow::BYTES as u64).unwrap_or(u32::MAX - 1)
    }

    /// The size of a signature in bytes, if the column of signatures records it.
    pub(crate) fn signature_bytes(&self) -> Option<usize> {
        let row_bytes = self.columns[ColumnKind::Signatures].as_ref()?.row_bytes;
        row_bytes.and_then(|bytes| bytes.try_into().ok())
    }

    /// What is left of `content`, or `None` without its row, in a store with this schema.
    pub(crate) fn content(&self, content: u32, schema: &Schema) -> Option<ContentRemains> {
        let found = self.find_content(content, schema);
        found.unwrap_or_else(|error| {
            self.note(&error);
            None
        })
    }

    fn find_content(&self, content: u32, schema: &Schema) -> Result<Option<ContentRemains>> {
        let Some((row, is_row_sound)) = self.row(content)? else {
            return Ok(None);
        };
        // The row before says where the blocks begin. They are as trustworthy as both rows.
        let before = match content.checked_sub(1) {
            None => Some(((0, 0), true)),
            Some(before) => self
                .row(before)?
                .map(|(row, is_sound)| ((row.shingles_end, row.fingerprints_end), is_sound)),
        };
        let block = |kind, range: Range<u64>, most| -> Result<Option<(Vec<u8>, bool)>> {
            match &self.columns[kind] {
                // A damaged row may ask for any number of bytes.
                Some(column) if range.end.saturating_sub(range.start) <= most => {
                    column.bytes(range)
                }
                _ => Ok(None),
            }
        };
        let (mut packed, mut fingerprints) = (None, None);
        if let Some(((shingles, prints), is_before_sound)) = before {
            let range = shingles..row.shingles_end;
            packed = block(ColumnKind::Shingles, range, most_bytes(row.shingle_count))?
                .map(|(bytes, is_sound)| (bytes, is_sound && is_before_sound));
            // Fingerprints have no form of their own, so damage to them would not show. Without sound checksums they
            // are left out.
            if is_row_sound && is_before_sound {
                let range = prints..row.fingerprints_end;
                let found = block(ColumnKind::Fingerprints, range, u64::MAX)?;
                fingerprints = found.and_then(|(bytes, is_sound)| is_sound.then_some(bytes));
            }
        }
        let (packed_shingles, are_shingles_sound) = packed.unzip();
        let place = row.signatures.checked_sub(1);
        let place = place.filter(|_| schema.keeps_signature(row.shingle_count));
        let signature = match (&self.columns[ColumnKind::Signatures], place) {
            (Some(column), Some(place)) => column.row(place, schema.signature_bytes())?,
            _ => None,
        };
        let (signature, is_signature_sound) = signature.unzip();
        Ok(Some(ContentRemains {
            row,
            is_row_sound,
            packed_shingles,
            are_shingles_sound: are_shingles_sound.unwrap_or(false),
            signature,
            is_signature_sound: is_signature_sound.unwrap_or(false),
            fingerprints: fingerprints.unwrap_or_default(),
        }))
    }

    /// The row of a content, and whether the checksums of its blocks match.
    fn row(&self, content: u32) -> Result<Option<(ContentRow, bool)>> {
        let Some(contents) = &self.columns[ColumnKind::Contents] else {
            return Ok(None);
        };
        let row = contents.row(content, ContentRow::BYTES)?;
        Ok(row.and_then(|(bytes, is_sound)| {
            let row = ContentRow::decode(bytes.first_chunk()?);
            Some((row, is_sound))
        }))
    }

    /// The files that the disk cannot read in full, and the number of unreadable bytes requested of each.
    pub(crate) fn unreadable(&self) -> impl Iterator<Item = (&Path, u64)> {
        let columns = self.columns.each().filter_map(|(_, part)| part.as_ref());
        let columns = columns.map(SalvagedColumn::file);
        let columns = columns.map(|file| (file.path(), file.unreadable()));
        let files = std::iter::once((&*self.path, self.unreadable)).chain(columns);
        files.filter(|&(_, bytes)| bytes > 0)
    }

    /// Whether the index has tables of keys.
    pub(crate) fn has_catalog(&self) -> bool {
        self.catalog.is_some()
    }

    /// The keys that name `content`, as far as they can be read from either end.
    pub(crate) fn names(&self, content: u32) -> ContentKeys {
        let mut found = Vec::new();
        let Some(catalog) = &self.catalog else {
            return ContentKeys::default();
        };
        let forward = GuardedEntries::open(&self.path, || catalog.name_bytes(content));
        let mut are_all = self.read(forward, |key| {
            found.push(key);
            true
        });
        // Past the damage, the entries can be read from the other end, as far as they were not read before.
        if !are_all {
            let last = found.last().cloned();
            let backward =
                GuardedEntries::open(&self.path, || catalog.name_bytes_backwards(content));
            self.read(backward, |key| {
                let is_new = last.as_ref().is_none_or(|last| *last < key);
                if is_new {
                    found.push(key);
                }
                is_new
            });
        }
        let count = found.len();
        let keys: Vec<String> = found.into_iter().filter_map(key).collect();
        let garbled = count - keys.len();
        are_all &= garbled == 0;
        ContentKeys {
            keys,
            garbled,
            are_all,
        }
    }

    /// Whether `key` names `content`.
    pub(crate) fn is_name(&self, content: u32, key: &str) -> Result<bool> {
        self.look(|catalog| catalog.has_name(content, key))
    }

    /// The document `key`.
    pub(crate) fn document(&self, key: &str) -> Result<Option<DocumentRow>> {
        self.look(|catalog| catalog.document(key))
    }

    fn look<T>(&self, look: impl FnOnce(&Catalog) -> Result<T, redb::Error>) -> Result<T> {
        let Some(catalog) = &self.catalog else {
            return Err(Error::damaged(&self.path, "it cannot be read"));
        };
        let found = guarded(&self.path, || {
            look(catalog).map_err(|error| Error::index(&self.path, error))
        });
        if let Err(error) = &found {
            self.note(error);
        }
        found
    }

    /// Passes entries to `take` until they end, one cannot be read, or `take` returns `false`.
    ///
    /// Returns whether all requested entries could be read.
    fn read<T, I>(
        &self,
        entries: Result<GuardedEntries<I>>,
        mut take: impl FnMut(T) -> bool,
    ) -> bool
    where
        GuardedEntries<I>: Iterator<Item = Result<T>>,
    {
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                self.note(&error);
                return false;
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) => {
                    if !take(entry) {
                        return true;
                    }
                }
                Err(error) => {
                    self.note(&error);
                    return false;
                }
            }
        }
        true
    }

    fn note(&self, error: &Error) {
        if !error.is_of_damage() {
            self.refusal.borrow_mut().get_or_insert(error.clone());
        }
    }

    /// Checks that everything requested was either read or is damaged.
    ///
    /// # Errors
    ///
    /// The first error other than damage.
    pub(crate) fn check_read(&self) -> Result<()> {
        self.refusal.take().map_or(Ok(()), Err)
    }

    /// Calls `visit` with each document that can be read from either end of the table and has a valid key.
    pub(crate) fn for_each_document(&self, mut visit: impl FnMut(String, DocumentRow)) {
        let Some(catalog) = &self.catalog else { return };
        let mut visit = |bytes, row| {
            if let Some(key) = key(bytes) {
                visit(key, row);
            }
        };
        let mut last = None;
        let forward = GuardedEntries::open(&self.path, || catalog.entries());
        let are_all = self.read(forward, |(key, row)| {
            last = Some(key.clone());
            visit(key, row);
            true
        });
        if are_all {
            return;
        }
        // The part of the table behind the damage, from its end.
        let backward = GuardedEntries::open(&self.path, || catalog.entries().map(Iterator::rev));
        self.read(backward, |(key, row)| {
            let is_new = last.as_ref().is_none_or(|last| *last < key);
            if is_new {
                visit(key, row);
            }
            is_new
        });
    }

    /// Deletes the copy of the index, and returns whether it passes its own checksums.
    pub(crate) fn has_whole_index(self) -> Result<bool> {
        let (scratch, is_whole) = (self.scratch.clone(), self.is_whole);
        drop(self);
        disk::remove_folder(&scratch)?;
        Ok(is_whole)
    }
}

/// The number of the last commit of a copy of the index at `path`. The copy is only read.
fn last_commit(copy: &Path, path: &Path) -> Result<Option<u64>> {
    let index = Index::open_read_only(copy)?;
    let transaction = index.begin_read(path)?;
    let meta = guarded(path, || Meta::read(&transaction, path))?;
    Ok(meta.map(|meta| meta.commit))
}

/// Converts stored bytes to a key, if they are a valid one.
fn key(bytes: Vec<u8>) -> Option<String> {
    let key = String::from_utf8(bytes).ok();
    key.filter(|key| !key.is_empty())
}

/// What was read, or `None` if it is damaged.
pub(super) fn if_sound<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_of_damage() => Ok(None),
        read => read.map(Some),
    }
}

/// The bytes of an index's header that are read.
const HEADER: usize = 32;

/// A header that states more than this times the length of its file is not believed.
const MOST_GROWTH: u64 = 16;

/// Copies what is left of an index. Zeros, which are not a valid page, replace unreadable bytes.
///
/// Sets `unreadable` to the number of unreadable bytes.
///
/// The file is not copied by the system, which might let the copy share the unreadable blocks.
fn copy_index(from: &Path, to: &Path, unreadable: &mut u64) -> Result<()> {
    const AT_ONCE: usize = 1 << 20;
    let file = File::open(from)?;
    let len = file.len()?;
    let (file, copy) = (WornFile::new(file, len), File::create_private(to)?);
    let mut bytes = Vec::new();
    for start in (0..len).step_by(AT_ONCE) {
        file.read(start..len.min(start + AT_ONCE as u64), &mut bytes)?;
        copy.write(start, &bytes)?;
    }
    *unreadable = file.unreadable();
    // redb does not read on in an index that is shorter than its header says.
    let mut header = [0; HEADER];
    if copy.read(0, &mut header)? {
        let stated = stated_len(&header);
        if stated > len && stated / MOST_GROWTH <= len {
            copy.set_len(stated)?;
        }
    }
    Ok(())
}

/// The length that the header of an index states (redb's `docs/design.md`, "Database header"): a page, the full regions,
/// and one that is not full. A region has pages of its own before those of data.
fn stated_len(header: &[u8; HEADER]) -> u64 {
    let [page, head, data, full, last] =
        [12, 16, 20, 24, 28].map(|at| u64::from(u32_at(header, at)));
    let region = |data: u64| if data == 0 { 0 } else { head + data };
    let pages = full.saturating_mul(region(data)) + region(last) + 1;
    pages.saturating_mul(page)
}
