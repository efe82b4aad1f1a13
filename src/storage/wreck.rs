//! What can still be read of a damaged store.
//!
//! Nothing is believed that cannot be read, and each part is read for itself: a damaged page of the
//! index hides the entries on it and no others. The store's own files are only read. The index is
//! copied first, because opening one may mend it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{self, Catalog, DocumentRow};
use super::column::ColumnView;
use super::columns::ColumnSpec;
use super::disk::{self, File};
use super::elias_fano;
use super::format::{ContentRow, HEADER_BYTES, Header, Kind};
use super::guard::{Guarded, guarded};
use super::index::{INDEX, Index};
use super::meta::Meta;
use super::sums::{BLOCK_BYTES, all_sums};
use crate::error::{Error, Result};
use crate::schema::Schema;

/// The name of the index's copy.
const COPY: &str = "damaged.redb";

/// A damaged store.
#[derive(Debug)]
pub(crate) struct Wreck {
    /// Why nothing of the index can be read, if that is so.
    pub(crate) no_index: Option<Error>,
    pub(crate) schema: Option<Schema>,
    catalog: Option<Catalog>,
    path: PathBuf,
    columns: [Part; 3],
    meta: Option<Meta>,
    /// Keeps the copy open; dropped after the tables.
    index: Option<Arc<Index>>,
}

/// What is there of a column.
#[derive(Debug, Default)]
struct Part {
    view: Option<ColumnView>,
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

impl Content<'_> {
    /// Replaces `set` by the shingles; says whether they are a set.
    pub(crate) fn unpack(&self, set: &mut Vec<u32>) -> bool {
        let count = self.row.shingle_count as usize;
        let packed = self.packed_shingles.unwrap_or(&[]);
        elias_fano::decode(packed, count, set).is_ok() && set.is_sorted_by(|a, b| a < b)
    }
}

impl Wreck {
    /// Looks at the store in `folder`; `scratch` is a folder for the copy of its index.
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if nothing is there that looks like a part of one.
    pub(crate) fn open(folder: &Path, scratch: &Path) -> Result<Wreck> {
        let path = folder.join(INDEX);
        let copy = scratch.join(COPY);
        let mut wreck = Wreck {
            no_index: None,
            schema: None,
            catalog: None,
            path: path.clone(),
            columns: Default::default(),
            meta: None,
            index: None,
        };
        let opened = copy_index(&path, &copy).and_then(|()| wreck.read_index(&copy));
        wreck.no_index = opened.err();
        for (part, kind) in wreck.columns.iter_mut().zip(KINDS) {
            part.view = find_column(folder, kind, wreck.meta.as_ref(), wreck.schema.as_ref());
        }
        if wreck.no_index.is_some() && wreck.columns.iter().all(|part| part.view.is_none()) {
            let path = folder.to_owned();
            return Err(Error::NotAStore { path });
        }
        wreck.compare_sums()?;
        Ok(wreck)
    }

    /// Reads what can be read of the index at `copy`. What it says is about the store's own.
    fn read_index(&mut self, copy: &Path) -> Result<()> {
        let index = Arc::new(Index::open(copy)?);
        let path = &self.path;
        let transaction = index.begin_read(path)?;
        self.catalog = guarded(path, || {
            Catalog::open(&transaction).map_err(|error| Error::index(path, error))
        })
        .ok();
        self.meta = guarded(path, || Meta::read(&transaction, path))
            .ok()
            .flatten();
        let parameters = guarded(path, || {
            catalog::read_schema(&transaction).map_err(|error| Error::index(path, error))
        });
        self.schema = parameters
            .ok()
            .and_then(|parameters| Schema::from_parameters(&parameters).ok());
        self.index = Some(index);
        Ok(())
    }

    /// Compares the columns' blocks with their checksums in the index.
    fn compare_sums(&mut self) -> Result<()> {
        let Some(catalog) = &self.catalog else {
            return Ok(());
        };
        let path = &self.path;
        for (part, kind) in self.columns.iter_mut().zip(KINDS) {
            let Some(view) = &part.view else { continue };
            for (block, sum) in (0..).zip(all_sums(view)) {
                let sum = sum?;
                let stored = guarded(path, || {
                    let stored = catalog.sum(kind, block);
                    stored.map_err(|error| Error::index(path, error))
                });
                part.sound
                    .push(stored.is_ok_and(|stored| stored == Some(sum)));
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

    /// The keys that name `content`, as far as they can be read, and whether those are all.
    pub(crate) fn names(&self, content: u32) -> (Vec<String>, bool) {
        let mut keys = Vec::new();
        let Some(catalog) = &self.catalog else {
            return (keys, false);
        };
        let names = Guarded::open(&self.path, || catalog.names(content));
        for name in names.into_iter().flatten() {
            match name {
                Ok(key) => keys.push(key),
                Err(_) => return (keys, false),
            }
        }
        (keys, true)
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
        guarded(&self.path, || {
            look(catalog).map_err(|error| Error::index(&self.path, error))
        })
    }

    /// Calls `visit` with the documents that can be reached from either end of their table.
    pub(crate) fn for_each_document(&self, mut visit: impl FnMut(String, DocumentRow)) {
        let Some(catalog) = &self.catalog else { return };
        let mut last = None;
        let forward = Guarded::open(&self.path, || catalog.documents_with_prefix(""));
        let mut forward = forward.into_iter().flatten();
        for entry in forward.by_ref() {
            let Ok((key, row)) = entry else { break };
            last = Some(key.clone());
            visit(key, row);
        }
        let backward = Guarded::open(&self.path, || catalog.documents_backwards());
        for (key, row) in backward.into_iter().flatten().map_while(Result::ok) {
            if last.as_ref().is_some_and(|last| key <= *last) {
                break;
            }
            visit(key, row);
        }
    }

    /// Whether the index has no damage that its own checksums tell; the store's copy is used up.
    pub(crate) fn has_whole_index(self, scratch: &Path) -> bool {
        let read_all = self.index.is_some() && self.meta.is_some() && self.schema.is_some();
        drop(self);
        let copy = scratch.join(COPY);
        let whole = Index::open(&copy).and_then(|mut index| index.check());
        read_all && whole.is_ok_and(|whole| whole)
    }
}

const KINDS: [Kind; 3] = [Kind::Contents, Kind::Shingles, Kind::Signatures];

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

/// The column of a kind: the one that the index names or, where it says nothing, that of the oldest
/// generation, for a newer one may not be finished.
fn find_column(
    folder: &Path,
    kind: Kind,
    meta: Option<&Meta>,
    schema: Option<&Schema>,
) -> Option<ColumnView> {
    let spec = meta
        .zip(schema)
        .and_then(|(meta, schema)| ColumnSpec::of(kind, meta, schema).ok());
    let path = match &spec {
        Some(spec) => spec.path(folder),
        None => oldest(folder, kind)?,
    };
    let file = File::open(&path).ok()?;
    let bytes = file.len().ok()?.checked_sub(HEADER_BYTES as u64)?;
    let start = file.start(HEADER_BYTES).ok()?;
    // A header that is whole tells a file that got here from elsewhere.
    if let Some(header) = Header::decode(&start)
        && (header.kind != kind || spec.is_some_and(|spec| spec.header != header))
    {
        return None;
    }
    let committed = spec.map_or(bytes, |spec| spec.len);
    ColumnView::of_file(&file, bytes.min(committed)).ok()
}

/// Copies an index with what is left of it.
fn copy_index(from: &Path, to: &Path) -> Result<()> {
    let len = File::open(from)?.len()?;
    File::create(to)?.copy(from, len)
}

/// The file of a kind with the lowest generation.
fn oldest(folder: &Path, kind: Kind) -> Option<PathBuf> {
    let name = kind.file_name(0);
    let stem = name.strip_suffix('0')?;
    let files = disk::list(folder).ok()?;
    let generations = files.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(stem)?.parse::<u32>().ok()
    });
    Some(folder.join(kind.file_name(generations.min()?)))
}
