//! What a store already has of a file.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::formats::format::Format;
use crate::presence::{is_from, path_of_document, place_in};
use crate::walk::identity::{FileIdentity, is_same_file};
use crate::walk::key::{Key, may_lead_to};
use crate::walk::others::OtherKeys;
use crate::walk::read_file::ReadFile;
use dedupdb::write::SourceFile;
use dedupdb::{Document, Store};

/// What a store has under the key of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoredFile {
    /// Nothing, or an earlier text of the file.
    ToRead,
    /// The file at another place, or another one that it replaces: documents with this source.
    Moved(SourceFile),
    /// The file as it is.
    Unchanged,
    /// Another file, which still exists: the same relative path led to it from another folder.
    OfAnotherFolder(PathBuf),
}

/// The key under which a store has a file, or the start of the keys of its records.
#[derive(Clone, Debug)]
pub(crate) struct StoredKey {
    pub(crate) key: String,
    /// Whether it is another key than that of the path.
    pub(crate) is_other: bool,
    /// The folder from which the key leads to the file, if it is one document and the key a relative path.
    pub(crate) folder: Option<SourceFile>,
    /// The source of the documents that the file replaces, if that is another one.
    pub(crate) instead_of: Option<SourceFile>,
}

impl StoredKey {
    fn new(key: String, folder: Option<SourceFile>) -> StoredKey {
        StoredKey {
            key,
            is_other: true,
            folder,
            instead_of: None,
        }
    }
}

/// The store that files go to.
#[derive(Clone)]
pub(crate) struct StoredFiles {
    store: Arc<dyn Fn() -> Option<Store> + Send + Sync>,
    /// Whether files are read again although they are stored as they are.
    rereads: bool,
    /// The current folder.
    folder: Option<SourceFile>,
    /// The folders from which keys lead to their files, once they were asked for. None if there were no documents.
    folders: OnceLock<Option<Vec<KeyFolder>>>,
}

/// A folder from which keys lead to their files.
#[derive(Clone, Debug)]
struct KeyFolder {
    path: PathBuf,
    source: SourceFile,
}

impl AsRef<Path> for KeyFolder {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for StoredFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredFiles")
            .field("rereads", &self.rereads)
            .finish_non_exhaustive()
    }
}

impl StoredFiles {
    pub(crate) fn new(store: &Store, rereads: bool) -> StoredFiles {
        StoredFiles {
            store: Arc::new(store.weak()),
            rereads,
            folder: current_folder(),
            folders: OnceLock::new(),
        }
    }

    /// Whether the store has records of this file.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn has_source(&self, source: &SourceFile) -> dedupdb::Result<bool> {
        (self.store)().map_or(Ok(false), |store| store.has_source(source))
    }

    /// Returns the key under which the store has the file at `path`, if that is not `own`, the key of this path. A file of
    /// records has a `source`.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn other_key(
        &self,
        own: &str,
        path: &Path,
        source: Option<&SourceFile>,
        names: &mut OtherKeys,
    ) -> dedupdb::Result<Option<StoredKey>> {
        let Some(store) = (self.store)() else {
            return Ok(None);
        };
        let Some(folders) = self.folders(&store)? else {
            return Ok(None);
        };
        if own != Key::of(path).text {
            // It was chosen.
            return Ok(None);
        }
        match source {
            None => self.other_document(own, path, &store, || self.keys(path, folders, names)),
            Some(source) => other_records(own, source.path(), &store, || names.upward(path)),
        }
    }

    /// Returns the other keys of the file at `path`.
    fn keys(&self, path: &Path, folders: &[KeyFolder], names: &mut OtherKeys) -> Vec<StoredKey> {
        let mut keys = Vec::new();
        for key in names.of(path) {
            let folder = self.folder.clone();
            let folder = folder.filter(|_| Path::new(&key).is_relative());
            keys.push(StoredKey::new(key, folder));
        }
        for (key, folder) in names.counted_from(path, folders) {
            keys.push(StoredKey::new(key, Some(folder.source.clone())));
        }
        keys
    }

    fn other_document(
        &self,
        own: &str,
        path: &Path,
        store: &Store,
        keys: impl FnOnce() -> Vec<StoredKey>,
    ) -> dedupdb::Result<Option<StoredKey>> {
        let at_own = store.get(own)?;
        let is_own = |stored: &Document| {
            Path::new(own).is_absolute() || is_from(stored, self.folder.as_ref())
        };
        if at_own.as_ref().is_some_and(is_own) {
            return Ok(None);
        }
        let mut moved = None;
        for other in keys() {
            let stored = store.get(&other.key)?;
            let Some(stored) = stored.filter(|stored| stored.modified.is_some()) else {
                continue;
            };
            let folder = other.folder.as_ref().map(SourceFile::path);
            if stored.folder.as_deref() == folder {
                return Ok(Some(other));
            }
            // The folder of the key is not known, or gone.
            let is_same = || path_of_document(&stored).is_some_and(|at| is_same_file(&at, path));
            if moved.is_none() && at_own.is_none() && is_same() {
                let instead_of = stored.folder.as_deref().map(SourceFile::folder);
                moved = Some(StoredKey {
                    instead_of,
                    ..other
                });
            }
        }
        Ok(moved)
    }

    /// Returns the folders from which keys lead to their files, or `None` if there are no documents.
    fn folders(&self, store: &Store) -> dedupdb::Result<Option<&[KeyFolder]>> {
        if self.folders.get().is_none() {
            // Another thread may have done it meanwhile, and found the same.
            drop(self.folders.set(key_folders(store)?));
        }
        Ok(self.folders.get().and_then(|folders| folders.as_deref()))
    }

    /// Returns what the store has under the key of a file that is one document. If the store is closed, files count as
    /// unchanged.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn document(&self, key: &str, file: &ReadFile) -> dedupdb::Result<StoredFile> {
        let Some(store) = (self.store)() else {
            return Ok(StoredFile::Unchanged);
        };
        let Some(stored) = store.get(key)? else {
            return Ok(StoredFile::ToRead);
        };
        if let Some(other) = of_another_folder(&stored, file.identity) {
            return Ok(StoredFile::OfAnotherFolder(other));
        }
        // What has moved with its folder is read again, so that the store knows where it is.
        let has_moved = !is_from(&stored, self.folder.as_ref());
        // A document of an interrupted run is read again, so that it can be published.
        let is_as_stored = stored.is_published
            && file.modified.is_some()
            && stored.modified == file.modified
            && stored.size == file.size;
        Ok(match stored.folder.filter(|_| has_moved) {
            Some(folder) => StoredFile::Moved(SourceFile::folder(&folder)),
            None if is_as_stored && !self.rereads => StoredFile::Unchanged,
            None => StoredFile::ToRead,
        })
    }

    /// Returns the key of a file that takes the place of documents with another source.
    pub(crate) fn moved(&self, key: &str, format: Format, instead_of: SourceFile) -> StoredKey {
        let is_path = format.is_document() && Path::new(key).is_relative();
        StoredKey {
            key: key.to_owned(),
            is_other: false,
            folder: self.folder.clone().filter(|_| is_path),
            instead_of: Some(instead_of),
        }
    }

    /// Returns what the store has of a file of records whose records have no ids, or ids of their own file: their keys begin
    /// with its path. `source` is the file, and `is_scoped` says whether all keys are of one file.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn records(
        &self,
        key: &str,
        file: &ReadFile,
        source: &SourceFile,
        is_scoped: bool,
    ) -> dedupdb::Result<StoredFile> {
        let Some(store) = (self.store)() else {
            return Ok(StoredFile::ToRead);
        };
        let stored = source_of_records(key, &store)?.map(|path| SourceFile::new(&path));
        let Some(stored) = stored.filter(|stored| stored != source) else {
            return Ok(StoredFile::ToRead);
        };
        let Some(other) = Key::path(stored.path()) else {
            return Ok(StoredFile::ToRead);
        };
        // A link may lead to another file by now.
        let is_path = may_lead_to(key, &other);
        Ok(if is_path && is_another(&other, file.identity) {
            StoredFile::OfAnotherFolder(other)
        } else if is_scoped || is_path && !other.exists() {
            StoredFile::Moved(stored)
        } else {
            StoredFile::ToRead
        })
    }
}

/// Returns the path of the file of the records whose keys begin with `key`, if there are any: that of the first one.
fn source_of_records(key: &str, store: &Store) -> dedupdb::Result<Option<String>> {
    let first = store.documents_with_prefix(&format!("{key}#"))?.next();
    Ok(first.transpose()?.and_then(|stored| stored.source))
}

/// Returns the key of the file of records that the store knows by this path, if it is another than `own`.
fn other_records(
    own: &str,
    path: &str,
    store: &Store,
    keys: impl FnOnce() -> Vec<String>,
) -> dedupdb::Result<Option<StoredKey>> {
    let has_records = |key: &str| -> dedupdb::Result<bool> {
        Ok(source_of_records(key, store)?.as_deref() == Some(path))
    };
    if has_records(own)? {
        return Ok(None);
    }
    for key in keys() {
        if has_records(&key)? {
            return Ok(Some(StoredKey::new(key, None)));
        }
    }
    Ok(None)
}

/// Returns the folders from which the keys of documents lead to their files, or `None` if there are no documents.
fn key_folders(store: &Store) -> dedupdb::Result<Option<Vec<KeyFolder>>> {
    if store.documents()?.next().is_none() {
        return Ok(None);
    }
    // What was below a folder that is gone is gone, too, but not what was beside it.
    let are_beside = store.documents_with_prefix("../")?.next().is_some();
    let folders = store.folders()?.into_iter().filter_map(|folder| {
        let path = Key::path(&folder)?;
        let source = SourceFile::folder(&folder);
        (are_beside || path.is_dir()).then_some(KeyFolder { path, source })
    });
    Ok(Some(folders.collect()))
}

/// Returns the path of a stored document's file if the folder where it was added is known, and the file there is another
/// one than `file`.
pub(crate) fn of_another_folder(stored: &Document, file: FileIdentity) -> Option<PathBuf> {
    let folder = Key::path(stored.folder.as_deref()?)?;
    let path = place_in(folder, &Key::path(&stored.key)?);
    is_another(&path, file).then_some(path)
}

/// Whether there is a file at this path, and not this one.
fn is_another(path: &Path, file: FileIdentity) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && FileIdentity::of(path, &found) != file)
}

/// Returns the current folder, for the keys that are relative paths.
pub(crate) fn current_folder() -> Option<SourceFile> {
    let folder = env::current_dir().ok()?;
    Some(SourceFile::folder(&Key::of(&folder).text))
}
