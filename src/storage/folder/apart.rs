//! How a path lies relative to stores around and inside of it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::storage::disk::{self, File};
use crate::storage::format::{ColumnKind, is_column, is_redb};
use crate::storage::names::INDEX;

/// A store's folder has few files. One with more than this is only recognized by its index.
const MOST_FILES: usize = 200;

/// The folder of the store that `path` is, or lies in.
///
/// Links are followed. A path that does not exist yet lies in the folder in which it would be created.
pub(crate) fn enclosing(path: &Path) -> Result<Option<PathBuf>> {
    let resolved = disk::resolved(path)?;
    for folder in resolved.ancestors() {
        if is_store(folder)? {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}

/// The folder of a store that lies in the folder `path`, at any depth.
///
/// Links inside are not followed, because replacing the folder replaces only the links.
pub(crate) fn inside(path: &Path) -> Result<Option<PathBuf>> {
    let mut folders = Vec::from([disk::resolved(path)?]);
    while let Some(folder) = folders.pop() {
        if !disk::is_folder(&folder)? {
            continue;
        }
        if is_store(&folder)? {
            return Ok(Some(folder));
        }
        let mut below = disk::list(&folder)?;
        // Taken from the end, so the first name comes first, in whatever order the system lists them.
        below.sort_unstable_by(|a, b| b.cmp(a));
        folders.append(&mut below);
    }
    Ok(None)
}

/// Refuses a folder that lies in a store's folder.
///
/// # Errors
///
/// [`Error::InsideStore`].
pub(crate) fn check_outside(folder: &Path) -> Result<()> {
    match enclosing(disk::parent(folder))? {
        None => Ok(()),
        Some(store) => {
            let path = folder.to_owned();
            Err(Error::InsideStore { path, store })
        }
    }
}

/// Whether a folder is that of a store, intact or damaged: it has an index or a column.
pub(crate) fn is_store(folder: &Path) -> Result<bool> {
    if begins_like(&folder.join(INDEX), is_redb)? {
        return Ok(true);
    }
    // A user who may not list a folder cannot create files in it either.
    let Ok(files) = disk::list_some(folder, MOST_FILES) else {
        return Ok(false);
    };
    let has_name = |path: &&PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.and_then(ColumnKind::of_file_name).is_some()
    };
    for column in files.iter().filter(has_name) {
        if begins_like(column, is_column)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether `path` is a file whose first bytes satisfy `form`.
fn begins_like(path: &Path, form: fn(&[u8]) -> bool) -> Result<bool> {
    const START: usize = 16;
    if !disk::is_plain_file(path)? {
        return Ok(false);
    }
    let start = File::open(path).and_then(|file| file.start(START));
    // A file that may not be read counts as part of a store.
    Ok(start.map_or(true, |start| form(&start)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::schema::Schema;
    use crate::storage::StoreFiles;

    #[test]
    fn stores_are_found_around_and_inside() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let store = root.join("a/store");
        drop(StoreFiles::create(&store, Schema::default(), 1).unwrap());
        let found = Some(store.clone());
        for path in [
            "a/store",
            "a/store/contents.1",
            "a/store/x/../y/z",
            "a/b/../store/x",
        ] {
            assert_eq!(enclosing(&root.join(path)).unwrap(), found, "{path}");
        }
        for path in ["a", "a/store2", "a/store/../x", "b/c", "."] {
            assert_eq!(enclosing(&root.join(path)).unwrap(), None, "{path}");
        }
        for path in ["a", ".", "a/store", "b/../a"] {
            assert_eq!(inside(&root.join(path)).unwrap(), found, "{path}");
        }
        assert_eq!(inside(&root.join("a/store/contents.1")).unwrap(), None);
        assert_eq!(inside(&root.join("b/c")).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_what_is_there_and_what_is_not() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let store = root.join("store");
        drop(StoreFiles::create(&store, Schema::default(), 1).unwrap());
        for (target, link) in [
            ("store", "link"),
            ("store/new", "hanging"),
            ("round", "round"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        for path in ["link", "link/x/y", "hanging", "hanging/x"] {
            assert_eq!(
                enclosing(&root.join(path)).unwrap(),
                Some(store.clone()),
                "{path}"
            );
        }
        assert!(enclosing(&root.join("round")).is_err());
        fs::create_dir(root.join("b")).unwrap();
        symlink(&store, root.join("b/link")).unwrap();
        assert_eq!(inside(&root.join("b")).unwrap(), None);
    }

    #[test]
    fn a_damaged_store_is_one_and_a_file_of_that_name_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        drop(StoreFiles::create(&root.join("store"), Schema::default(), 1).unwrap());
        fs::write(root.join("store/index.redb"), "no index").unwrap();
        assert!(enclosing(&root.join("store/x")).unwrap().is_some());
        fs::remove_file(root.join("store/index.redb")).unwrap();
        assert!(enclosing(&root.join("store/x")).unwrap().is_some());
        fs::create_dir(root.join("none")).unwrap();
        fs::write(root.join("none/index.redb"), "of the redbreast").unwrap();
        fs::write(root.join("none/contents.1"), "a chapter").unwrap();
        assert_eq!(enclosing(&root.join("none/x")).unwrap(), None);
    }
}
