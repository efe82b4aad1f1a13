//! Whether the file of a stored document still exists, and is as it was.

use std::env;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::FileIdentity;
use crate::number::times::modified;
use crate::walk::key::Key;
use dedupdb::write::SourceFile;
use dedupdb::{Document, Store};

/// The state of a stored document's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// Unknown: the document did not come from its own file, or [`Key::path`] finds no path.
    Unknown,
    /// The system refuses access.
    OutOfReach,
    /// It has the stored size and modification time.
    Present,
    /// It has another size or modification time.
    Changed,
    /// It does not exist, or something else is in its place, such as a folder, or a symbolic link that was made after
    /// the document was added.
    Gone,
}

impl Presence {
    /// Returns the state of the file of a stored document, as its key names it from the folder where it was added or, if
    /// that is not known or gone, from the current one.
    pub fn of(document: &Document) -> Presence {
        Presence::look(document).0
    }

    /// Returns the state of the file, and which file it is, if it exists.
    pub(crate) fn with_file(document: &Document) -> (Presence, Option<FileIdentity>) {
        let (presence, file) = Presence::look(document);
        let identity = file.map(|(path, metadata)| FileIdentity::of(&path, &metadata));
        (presence, identity)
    }

    fn look(document: &Document) -> (Presence, Option<(PathBuf, Metadata)>) {
        let path = document.modified.and_then(|_| path_of_document(document));
        path.map_or((Presence::Unknown, None), |path| {
            Presence::look_at(path, document)
        })
    }

    /// Returns the state of the file of a stored document if this is its path.
    pub(crate) fn look_at(
        path: PathBuf,
        document: &Document,
    ) -> (Presence, Option<(PathBuf, Metadata)>) {
        match fs::metadata(&path) {
            Ok(found) if !found.is_file() || is_later_link(&path, document) => {
                (Presence::Gone, None)
            }
            Ok(found) => {
                let is_same = found.len() == document.size && modified(&found) == document.modified;
                let presence = if is_same {
                    Presence::Present
                } else {
                    Presence::Changed
                };
                (presence, Some((path, found)))
            }
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => (Presence::Gone, None),
                _ => (Presence::OutOfReach, None),
            },
        }
    }
}

/// Whether the key of a document leads to its file from the folder `current`, as far as the store knows.
pub(crate) fn is_from(document: &Document, current: Option<&SourceFile>) -> bool {
    let folder = document.folder.as_deref();
    folder.is_none_or(|folder| current.is_some_and(|current| current.path() == folder))
}

/// Returns the folder from which the key of a document leads to its file, if the store knows it and it still exists.
pub(crate) fn folder_of_document(document: &Document) -> Option<PathBuf> {
    let folder = Key::path(document.folder.as_deref()?)?;
    folder.is_dir().then_some(folder)
}

/// Returns the path of a document's file: from the folder where it was added or, if the store does not know that or it is
/// gone, from the current one. Returns `None` if [`Key::path`] finds no path.
pub fn path_of_document(document: &Document) -> Option<PathBuf> {
    let path = Key::path(document.first_key())?;
    let is_elsewhere =
        |folder: &PathBuf| !env::current_dir().is_ok_and(|current| current == *folder);
    if let Some(folder) = folder_of_document(document).filter(is_elsewhere) {
        return Some(folder.join(path));
    }
    Some(beside_folder_that_is_gone(document, &path).unwrap_or(path))
}

/// Returns the path of a document's file if its key leads upward, from a folder that need not exist any more.
fn beside_folder_that_is_gone(document: &Document, path: &Path) -> Option<PathBuf> {
    let place = place_in(Key::path(document.folder.as_deref()?)?, path);
    (path.starts_with("..") && place.exists()).then_some(place)
}

/// Returns where a path leads from a folder without links in its own path, which need not exist.
pub(crate) fn place_in(mut folder: PathBuf, path: &Path) -> PathBuf {
    let mut parts = path.components();
    while parts.clone().next() == Some(Component::ParentDir) {
        parts.next();
        folder.pop();
    }
    folder.join(parts.as_path())
}

/// Returns the paths at which a document's file may be: that from the folder where it was added or, if the store does not
/// know that or it is gone, those from the folder of the store and from the current one.
pub(crate) fn paths_of_document(document: &Document, store: &Store) -> Vec<PathBuf> {
    let path = path_of_document(document);
    let of_store = path.as_ref().zip(store.folder().parent());
    let of_store = of_store.map(|(path, folder)| folder.join(path));
    let of_store = of_store.filter(|_| folder_of_document(document).is_none());
    of_store.into_iter().chain(path).collect()
}

/// Whether the path is a symbolic link that was made after the document was added: it took the place of a file, as if a
/// tool replaced copies by links. An older one was there when links were followed.
fn is_later_link(path: &Path, document: &Document) -> bool {
    let Ok(own) = fs::symlink_metadata(path) else {
        return false;
    };
    // The time of adding has no fractions of a second.
    let end = document.added.checked_add(Duration::from_secs(1));
    own.is_symlink() && own.modified().ok() >= end
}

/// Returns whether the file of a stored document exists, at the path of [`Presence::of`]. Something else in its place, such
/// as a folder or a later symbolic link, is not the file.
///
/// Returns `None` if the document did not come from its own file, or if this is unknown: [`Key::path`] finds no path,
/// or the system refuses access.
pub fn file_exists(document: &Document) -> Option<bool> {
    match Presence::of(document) {
        Presence::Unknown | Presence::OutOfReach => None,
        Presence::Gone => Some(false),
        Presence::Present | Presence::Changed => Some(true),
    }
}
