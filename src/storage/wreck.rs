//! What can still be read of a damaged store.
//!
//! Nothing is believed that cannot be read, and each part is read for itself: a damaged page of the
//! index hides the entries on it and no others. The store's own files are only read. The index is
//! copied first, because opening one may mend it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{self, Catalog, DocumentRow};
use super::column::ColumnView;
use super::columns::ColumnSpec;
use super::disk::{self, File};
use super::elias_fano;
use super::format::{ContentRow, HEADER_BYTES, Header, Kind, refuse_newer};
use super::guard::{Guarded, guarded};
use super::index::{INDEX, Index};
use super::meta::Meta;
use super::snapshot::narrow;
use super::sums::{BLOCK_BYTES, all_sums};
use crate::error::{Error, Result};
use crate::schema::Schema;

/// The folder for the index's copy.
const SCRATCH: &str = "scratch";

/// The name of the copy.
const COPY: &str = "damaged.redb";

/// A damaged store.
#[derive(Debug)]
pub(crate) struct Wreck {
    /// Why nothing of the index can be read, if that is so.
    pub(crate) no_index: Option<Error>,
    pub(crate) schema: Option<Schema>,
    catalog: Option<Catalog>,
    /// The store's own index.
    path: PathBuf,
    /// Where its copy is.
    scratch: PathBuf,
    columns: [Part; 3],
    meta: Option<Meta>,
    /// Keeps the copy open; dropped after the tables.
    index: Option<Arc<Index>>,
    /// The first error that is not one of damage, of a call that goes on without what it could not
    /// read.
    refusal: RefCell<Option<Error>>,
}

/// What is there of a column.
#[derive(Debug, Default)]
struct Part {
    view: Option<ColumnView>,
    /// What its header says of the bytes of a row.
    row_bytes: Option<u32>,
    /// Of each block, whether its checksum is the one in the index.
    sound: Vec<bool>,
}

/// What is there of a content.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub(crate) row: ContentRow,
    /// Whether the checksum of the row's block is right.
    pub(crate) is_row_sound: bool,
    /// The shingles as they are stored; none if they are not there.
    pub(crate) packed_shingles: Option<&'a [u8]>,
    pub(crate) are_shingles_sound: bool,
    pub(crate) signature: Option<&'a [u8]>,
    pub(crate) is_signature_sound: bool,
}

/// The keys that name a content.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) keys: Vec<String>,
    /// Names that are no keys, for they are damaged.
    pub(crate) garbled: usize,
    /// Whether `keys` are all of them.
    pub(crate) are_all: bool,
}

impl Content<'_> {
    /// Replaces `set` by the shingles; says whether they are a set.
    pub(crate) fn unpack(&self, set: &mut Vec<u32>) -> bool {
        let count = self.row.shingle_count as usize;
        let packed = self.packed_shingles.unwrap_or(&[]);
        elias_fano::decode(packed, count, set).is_ok() && set.is_sorted_by(|a, b| a < b)
    }
}

impl Wreck {
    /// Looks at the store in `folder`. A copy of its index is made in a folder in `building`.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if nothing is there that looks like a part of one, [`Error::NewerFormat`],
    /// or what the system says of a part that is there and cannot be read just now.
    pub(crate) fn open(folder: &Path, building: &Path) -> Result<Wreck> {
        let path = folder.join(INDEX);
        let scratch = building.join(SCRATCH);
        let mut wreck = Wreck {
            no_index: None,
            schema: None,
            catalog: None,
            path: path.clone(),
            scratch: scratch.clone(),
            columns: Default::default(),
            meta: None,
            index: None,
            refusal: RefCell::default(),
        };
        disk::create_folder(&scratch)?;
        let copy = scratch.join(COPY);
        match copy_index(&path, &copy).and_then(|()| wreck.read_index(&copy)) {
            Err(error) if error.is_of_damage() => wreck.no_index = Some(error.of_original(&path)),
            read => read?,
        }
        for (part, kind) in wreck.columns.iter_mut().zip(Kind::ALL) {
            let found = find_column(folder, kind, wreck.meta.as_ref(), wreck.schema.as_ref())?;
            *part = found.unwrap_or_default();
        }
        if wreck.no_index.is_some() && wreck.columns.iter().all(|part| part.view.is_none()) {
            let path = folder.to_owned();
            return Err(Error::NotAStore { path });
        }
        wreck.compare_sums()?;
        Ok(wreck)
    }

    /// Reads what can be read of the index, whose copy is opened.
    fn read_index(&mut self, copy: &Path) -> Result<()> {
        let index = Arc::new(Index::open_damaged(copy)?);
        let path = &self.path;
        let transaction = index.begin_read(path)?;
        let in_index = |error| Error::index(path, error);
        let meta = guarded(path, || Meta::read(&transaction, path));
        self.meta = if_sound(meta)?.flatten();
        if let Some(meta) = &self.meta {
            refuse_newer(path, narrow(path, meta.format)?)?;
        }
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
        for (part, kind) in self.columns.iter_mut().zip(Kind::ALL) {
            let Some(view) = &part.view else { continue };
            for (block, sum) in (0..).zip(all_sums(view)) {
                let sum = sum?;
                let stored = guarded(path, || {
                    let stored = catalog.sum(kind, block);
                    stored.map_err(|error| Error::index(path, error))
                });
                part.sound.push(if_sound(stored)?.flatten() == Some(sum));
            }
        }
        Ok(())
    }

    /// Contents of which there may be something.
    pub(crate) fn len(&self) -> u32 {
        let [contents, _, _] = &self.columns;
        let bytes = contents.view.as_ref().map_or(0, ColumnView::len);
        u32::try_from(bytes / ContentRow::BYTES as u64).unwrap_or(u32::MAX - 1)
    }

    /// Bytes of a signature, if the column of them tells.
    pub(crate) fn signature_bytes(&self) -> Option<usize> {
        let [_, _, signatures] = &self.columns;
        signatures.row_bytes.and_then(|bytes| bytes.try_into().ok())
    }

    /// What is there of `content`, whose signature has so many bytes; none without its row.
    pub(crate) fn content(&self, content: u32, signature_bytes: usize) -> Option<Content<'_>> {
        let [contents, shingles, signatures] = &self.columns;
        let (row, is_row_sound) = contents.row(content, ContentRow::BYTES)?;
        let row = ContentRow::decode(row.first_chunk()?);
        let (start, is_start_sound) = match content.checked_sub(1) {
            None => (0, true),
            Some(before) => {
                let (bytes, is_sound) = contents.row(before, ContentRow::BYTES)?;
                (
                    ContentRow::decode(bytes.first_chunk()?).shingles_end,
                    is_sound,
                )
            }
        };
        let packed = shingles.bytes(start, row.shingles_end);
        let signature = signatures.row(content, signature_bytes);
        Some(Content {
            row,
            is_row_sound: is_row_sound && is_start_sound,
            packed_shingles: packed.map(|(bytes, _)| bytes),
            are_shingles_sound: packed.is_some_and(|(_, is_sound)| is_sound),
            signature: signature.map(|(bytes, _)| bytes),
            is_signature_sound: signature.is_some_and(|(_, is_sound)| is_sound),
        })
    }

    /// Whether there are any tables of keys.
    pub(crate) fn has_catalog(&self) -> bool {
        self.catalog.is_some()
    }

    /// The keys that name `content`, those that can be read from either end.
    pub(crate) fn names(&self, content: u32) -> Names {
        let mut found = Vec::new();
        let Some(catalog) = &self.catalog else {
            return Names::default();
        };
        let forward = Guarded::open(&self.path, || catalog.name_bytes(content));
        let mut are_all = self.read(forward, |key| {
            found.push(key);
            true
        });
        if !are_all {
            let last = found.last().cloned();
            let backward = Guarded::open(&self.path, || catalog.name_bytes_backwards(content));
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
        Names {
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

    /// Takes entries until there are no more, one cannot be read, or `take` wants no more; says
    /// whether all that were asked for could be read.
    fn read<T, I>(&self, entries: Result<Guarded<I>>, mut take: impl FnMut(T) -> bool) -> bool
    where
        Guarded<I>: Iterator<Item = Result<T>>,
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

    /// Whether all that was asked for was either read or is damaged.
    ///
    /// # Errors
    ///
    /// The first one that says something else.
    pub(crate) fn check_read(&self) -> Result<()> {
        self.refusal.take().map_or(Ok(()), Err)
    }

    /// Calls `visit` with the documents that can be read from either end of their table, but those
    /// whose keys are none.
    pub(crate) fn for_each_document(&self, mut visit: impl FnMut(String, DocumentRow)) {
        let Some(catalog) = &self.catalog else { return };
        let mut visit = |bytes, row| {
            if let Some(key) = key(bytes) {
                visit(key, row);
            }
        };
        let mut last = None;
        let forward = Guarded::open(&self.path, || catalog.entries());
        let are_all = self.read(forward, |(key, row)| {
            last = Some(key.clone());
            visit(key, row);
            true
        });
        if are_all {
            return;
        }
        let backward = Guarded::open(&self.path, || catalog.entries().map(Iterator::rev));
        self.read(backward, |(key, row)| {
            let is_new = last.as_ref().is_none_or(|last| *last < key);
            if is_new {
                visit(key, row);
            }
            is_new
        });
    }

    /// Whether the index has no damage that its own checksums tell. Its copy is used up and taken
    /// away.
    pub(crate) fn has_whole_index(self) -> Result<bool> {
        let is_there = self.index.is_some() && self.catalog.is_some();
        let is_read = is_there && self.meta.is_some() && self.schema.is_some();
        let scratch = self.scratch.clone();
        drop(self);
        let checked = Index::open(&scratch.join(COPY)).and_then(|mut index| index.check());
        let is_whole = if_sound(checked)? == Some(true);
        disk::remove_folder(&scratch)?;
        Ok(is_read && is_whole)
    }
}

/// Stored bytes as a key, if they are one.
fn key(bytes: Vec<u8>) -> Option<String> {
    let key = String::from_utf8(bytes).ok();
    key.filter(|key| !key.is_empty())
}

impl Part {
    /// The bytes from `start` to `end`, and whether the checksums of their blocks are right.
    fn bytes(&self, start: u64, end: u64) -> Option<(&[u8], bool)> {
        let bytes = self.view.as_ref()?.bytes(start..end).ok()?;
        let mut blocks = start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
        let is_sound = |block: u64| {
            let block = usize::try_from(block).ok();
            block.and_then(|block| self.sound.get(block)) == Some(&true)
        };
        Some((bytes, blocks.all(is_sound)))
    }

    fn row(&self, index: u32, row_bytes: usize) -> Option<(&[u8], bool)> {
        let start = u64::from(index) * row_bytes as u64;
        self.bytes(start, start + row_bytes as u64)
    }
}

/// What could be read; none if that is damaged.
fn if_sound<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_of_damage() => Ok(None),
        read => read.map(Some),
    }
}

/// The column of a kind: the one that the index names or, where it says nothing, that of the oldest
/// generation, for a newer one may not be finished.
fn find_column(
    folder: &Path,
    kind: Kind,
    meta: Option<&Meta>,
    schema: Option<&Schema>,
) -> Result<Option<Part>> {
    let no_schema = Schema::default();
    let schema = schema.unwrap_or(&no_schema);
    let spec = meta.and_then(|meta| ColumnSpec::of(kind, meta, schema).ok());
    let path = match &spec {
        Some(spec) => Some(spec.path(folder)),
        None => oldest(folder, kind)?,
    };
    let file = path.map(|path| File::open(&path)).transpose();
    let Some(file) = if_sound(file)?.flatten() else {
        return Ok(None);
    };
    let start = file.start(HEADER_BYTES)?;
    Header::refuse_newer(file.path(), &start)?;
    let header = Header::decode(&start);
    // A header that is whole tells a file that got here from elsewhere. The schema is not verified.
    let is_foreign = |header: &Header| {
        let row_bytes = header.row_bytes;
        let expected = spec.map_or(*header, |spec| spec.header);
        header.kind != kind
            || Header {
                row_bytes,
                ..expected
            } != *header
    };
    let Some(bytes) = file.len()?.checked_sub(HEADER_BYTES as u64) else {
        return Ok(None);
    };
    if header.as_ref().is_some_and(is_foreign) {
        return Ok(None);
    }
    let row_bytes = header.map(|header| header.row_bytes);
    let committed = match (meta, row_bytes) {
        (Some(meta), Some(row_bytes)) if row_bytes > 0 => {
            meta.contents.saturating_mul(row_bytes.into())
        }
        _ => spec.map_or(bytes, |spec| spec.len),
    };
    let view = if_sound(ColumnView::of_file(&file, bytes.min(committed)))?;
    Ok(Some(Part {
        view,
        row_bytes,
        sound: Vec::new(),
    }))
}

/// Copies an index with what is left of it.
fn copy_index(from: &Path, to: &Path) -> Result<()> {
    let len = File::open(from)?.len()?;
    File::create(to)?.copy(from, len)
}

/// The file of a kind with the lowest generation.
fn oldest(folder: &Path, kind: Kind) -> Result<Option<PathBuf>> {
    let name = kind.file_name(0);
    let stem = name.trim_end_matches('0');
    let files = if_sound(disk::list(folder))?.unwrap_or_default();
    let generations = files.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(stem)?.parse::<u32>().ok()
    });
    let oldest = generations.min();
    Ok(oldest.map(|generation| folder.join(kind.file_name(generation))))
}
