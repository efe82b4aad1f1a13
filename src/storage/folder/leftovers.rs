//! Files of a store that no index names any more.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::holder;
use crate::error::{Error, Result};
use crate::storage::disk::{self, File};
use crate::storage::format::{
    ColumnKind, HEADER_BYTES, is_column, is_lost, is_redb, may_be_a_filter, may_be_unfinished_index,
};
use crate::storage::index::{Index, Meta, guarded};
use crate::storage::names::{
    COPY, FIRST_GENERATION, INDEX, NEW_INDEX, NEXT_INDEX, SCRATCH, is_filter_of, is_of_other,
    is_of_store,
};
use crate::storage::postings::LevelAge;

/// The meaning of the name of a file that belongs to a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GenerationFile {
    Column(ColumnKind, u32),
    Filter { generation: u32, number: u32 },
}

impl GenerationFile {
    fn of(name: &str) -> Option<GenerationFile> {
        if let Some((kind, generation)) = ColumnKind::of_file_name(name) {
            return Some(GenerationFile::Column(kind, generation));
        }
        let (generation, number) = name.strip_prefix("filter.")?.split_once('.')?;
        Some(GenerationFile::Filter {
            generation: generation.parse().ok()?,
            number: number.parse().ok()?,
        })
    }

    fn generation(self) -> u64 {
        match self {
            GenerationFile::Column(_, generation) | GenerationFile::Filter { generation, .. } => {
                generation.into()
            }
        }
    }

    /// Whether the file of this name, at `path`, belongs to a store.
    fn is_of(self, path: &Path, store: u64) -> bool {
        match self {
            GenerationFile::Column(..) => is_of_store(path, store),
            GenerationFile::Filter { .. } => is_filter_of(path, store),
        }
    }

    /// Whether `meta` names the file.
    fn is_in(self, meta: &Meta) -> bool {
        match self {
            GenerationFile::Column(kind, file) => meta.files[kind] == u64::from(file),
            GenerationFile::Filter { generation, number } => {
                let numbers = LevelAge::filter_numbers(meta);
                meta.generation == u64::from(generation) && numbers.contains(&number.into())
            }
        }
    }
}

/// Renames the files in `folder` that carry the number of another store and that `meta` does not name, since the store
/// may need their names. Returns their new paths.
///
/// A process that works on a store by its path leaves such files if another store takes its place meanwhile. They may
/// be needed where that store is now, so none is deleted.
pub(crate) fn put_aside(folder: &Path, meta: &Meta) -> Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    for path in disk::list(folder)? {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
        let is_other = match GenerationFile::of(name) {
            Some(named) => !named.is_in(meta) && is_of_other(&path, meta.store),
            None => name == NEXT_INDEX && is_index_of_other(&path, meta.store),
        };
        if is_other {
            let aside = free_name(folder, name)?;
            disk::rename(&path, &aside)?;
            moved.push(aside);
        }
    }
    moved.sort();
    Ok(moved)
}

/// The first path of `NAME.other`, `NAME.other.2` and so on at which nothing exists.
fn free_name(folder: &Path, name: &str) -> Result<PathBuf> {
    let mut path = folder.join(format!("{name}.other"));
    let mut number = 1;
    while !disk::is_absent(&path)? {
        number += 1;
        path = folder.join(format!("{name}.other.{number}"));
    }
    Ok(path)
}

/// Whether the file at `path` is the index of another store, whole enough to say so.
fn is_index_of_other(path: &Path, store: u64) -> bool {
    let meta = Index::open_read_only(path).and_then(|index| {
        let transaction = index.begin_read(path)?;
        guarded(path, || Meta::read(&transaction, path))
    });
    matches!(meta, Ok(Some(meta)) if meta.store != store)
}

/// Deletes the store's files in `folder` that neither `meta` names nor the next generation, if one exists.
///
/// A file that cannot be deleted only costs space. Readers that have a deleted file open can still use it.
pub(crate) fn clear(folder: &Path, meta: &Meta) -> Result<()> {
    let has_next = disk::is_plain_file(&folder.join(NEXT_INDEX))?;
    remove_of(folder, meta.store, |named| {
        let is_next = has_next && named.generation() == meta.generation + 1;
        !named.is_in(meta) && !is_next
    })
}

/// Deletes the store's files of the generation after that of `meta`, except its index.
///
/// The caller has the right to write to that index, or keeps writers out of it.
pub(crate) fn clear_next(folder: &Path, meta: &Meta) -> Result<()> {
    remove_of(folder, meta.store, |named| {
        named.generation() == meta.generation + 1
    })
}

/// Deletes those of a store's columns and filters that `is_left` says are not needed.
fn remove_of(folder: &Path, store: u64, is_left: impl Fn(GenerationFile) -> bool) -> Result<()> {
    for path in disk::list(folder)? {
        let name = path.file_name().and_then(OsStr::to_str);
        let named = name.and_then(GenerationFile::of);
        if named.is_some_and(|named| is_left(named) && named.is_of(&path, store)) {
            disk::remove(&path).unwrap_or_default();
        }
    }
    Ok(())
}

/// Whether a killed process may have left a file of this name when it created a store.
pub(crate) fn is_of_creation(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let column = |(_, generation)| generation == FIRST_GENERATION;
    name == NEW_INDEX || ColumnKind::of_file_name(name).is_some_and(column)
}

/// Deletes the files of a next generation, whose index exists.
///
/// # Errors
///
/// [`Error::Occupied`] if the file with the name of the index does not contain the store's id.
pub(crate) fn remove_next(folder: &Path, meta: &Meta) -> Result<()> {
    let path = folder.join(NEXT_INDEX);
    let is_ours = may_be_unfinished_index(&File::open(&path)?.start(HEADER_BYTES)?)
        || carries(&path, meta.store)?
        || Index::open_read_only(&path).is_ok_and(|index| index.is_empty());
    if !is_ours {
        return Err(Error::Occupied { path });
    }
    // As long as the index is there, no other process begins another one.
    clear_next(folder, meta)?;
    disk::remove(&path)
}

/// Whether a file contains the id of a store anywhere.
///
/// An index has it among its values. Any other file with the same 64 bits must have copied them from there.
fn carries(path: &Path, store: u64) -> Result<bool> {
    const AT_ONCE: usize = 1 << 20;
    let number = store.to_le_bytes();
    let file = File::open(path)?;
    let len = file.len()?;
    let mut bytes = Vec::new();
    for start in (0..len).step_by(AT_ONCE - number.len()) {
        let size = usize::try_from(len - start).unwrap_or(AT_ONCE);
        bytes.resize(size.min(AT_ONCE), 0);
        if file.read(start, &mut bytes)? && bytes.windows(number.len()).any(|found| found == number)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Deletes the folder `building`, in which a killed process was building a store.
///
/// # Errors
///
/// [`Error::Occupied`] if it is not a folder, or holds anything that such a process does not create.
pub(crate) fn clear_building(building: &Path) -> Result<()> {
    if disk::is_folder(building)? {
        check_building(building)?;
        return disk::remove_folder(building);
    }
    if disk::is_absent(building)? {
        return Ok(());
    }
    let path = building.to_owned();
    Err(Error::Occupied { path })
}

fn check_building(building: &Path) -> Result<()> {
    for path in disk::list(building)? {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
        if name == SCRATCH && disk::is_folder(&path)? {
            check_building(&path)?;
            continue;
        }
        if !disk::is_plain_file(&path)? {
            return Err(Error::Occupied { path });
        }
        let start = File::open(&path)?.start(HEADER_BYTES)?;
        let is_ours = match GenerationFile::of(name) {
            Some(GenerationFile::Column(..)) => is_column(&start) || is_lost(&start),
            Some(GenerationFile::Filter { .. }) => may_be_a_filter(&start),
            None if name == holder::NAME => holder::is_note(&start) || is_lost(&start),
            None => {
                let is_index = [INDEX, NEW_INDEX, NEXT_INDEX, COPY].contains(&name);
                is_index && (is_redb(&start) || may_be_unfinished_index(&start))
            }
        };
        if !is_ours {
            return Err(Error::Occupied { path });
        }
    }
    Ok(())
}
