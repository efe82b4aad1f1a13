//! What a store already has of a file.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::presence::{is_from, place_in};
use crate::walk::identity::FileIdentity;
use crate::walk::key::Key;
use crate::walk::read_file::ReadFile;
use dedupdb::write::SourceFile;
use dedupdb::{Document, Store};

/// What a store has under the key of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoredFile {
    /// Nothing, or an earlier text of the file.
    ToRead,
    /// The file as it is.
    Unchanged,
    /// Another file, which still exists: the same relative path led to it from another folder.
    OfAnotherFolder(PathBuf),
}

/// The store that files go to.
#[derive(Clone)]
pub(crate) struct StoredFiles {
    store: Arc<dyn Fn() -> Option<Store> + Send + Sync>,
    /// Whether files are read again although they are stored as they are.
    rereads: bool,
    /// The current folder.
    folder: Option<SourceFile>,
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
        }
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
        Ok(if is_as_stored && !has_moved && !self.rereads {
            StoredFile::Unchanged
        } else {
            StoredFile::ToRead
        })
    }

    /// Returns what the store has of a file of records whose records have no ids, or ids of their own file: their keys begin
    /// with its path.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn records(&self, key: &str, file: &ReadFile) -> dedupdb::Result<StoredFile> {
        let Some(store) = (self.store)() else {
            return Ok(StoredFile::ToRead);
        };
        let first = store.documents_with_prefix(&format!("{key}#"))?.next();
        let other = first.transpose()?.and_then(|stored| stored.source);
        let other = other.and_then(|path| Key::path(&path));
        // A link may lead to another file by now.
        let is_path = |other: &PathBuf| Path::new(key).is_relative() && other.ends_with(key);
        let other = other.filter(|other| is_path(other) && is_another(other, file.identity));
        Ok(other.map_or(StoredFile::ToRead, StoredFile::OfAnotherFolder))
    }
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
