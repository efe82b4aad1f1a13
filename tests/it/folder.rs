//! Other files in a store's folder: they stay, and no link leads out of the folder.

use std::fs;
use std::path::{Path, PathBuf};

use dedupdb::{Error, Schema, Store, upkeep::Rebuild};

use crate::numbered;

fn make(path: &Path) {
    let store = Store::create(path, &Schema::default()).unwrap();
    numbered::add(&store, 0..20, 20);
}

#[test]
fn a_store_is_made_only_in_a_folder_that_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    drop(Store::create(&full, &Schema::default()).unwrap());
    let full = folder.path().join("fuller");
    fs::create_dir(&full).unwrap();
    for name in [
        "myfile.txt",
        "holder",
        "contents.2",
        "filter.1.1",
        "index.redb.next",
    ] {
        fs::write(full.join(name), "").unwrap();
        let refused = Store::create(&full, &Schema::default()).map(drop);
        let Err(Error::NotEmpty { path, holds }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((path, holds.as_str()), (full.clone(), name));
        assert_eq!(fs::read_dir(&full).unwrap().count(), 1, "{name}");
        fs::remove_file(full.join(name)).unwrap();
    }
}

#[test]
fn files_of_others_stay_and_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    make(&store);
    for name in ["holder", "index.redb.next", "contents.7", "filter.1.9"] {
        fs::write(store.join(name), "Chapter one").unwrap();
    }
    let opened = Store::open(&store).unwrap();
    let next = store.join("index.redb.next");
    let is_named = |refused: Result<(), Error>| {
        assert!(
            matches!(&refused, Err(Error::Occupied { path }) if *path == next),
            "{refused:?}"
        );
    };
    is_named(opened.rebuild(Rebuild::compact()).map(drop));
    drop(opened);
    for name in ["holder", "index.redb.next", "contents.7", "filter.1.9"] {
        assert_eq!(
            fs::read(store.join(name)).unwrap(),
            b"Chapter one",
            "{name}"
        );
    }
    fs::remove_file(next).unwrap();
    let opened = Store::open(&store).unwrap();
    for taken in ["contents.2", "filter.2.1"].map(|name| store.join(name)) {
        fs::write(&taken, "Chapter one").unwrap();
        let refused = opened.rebuild(Rebuild::compact()).map(drop);
        assert!(
            matches!(&refused, Err(Error::Occupied { path }) if *path == taken),
            "{refused:?}"
        );
        assert_eq!(fs::read(&taken).unwrap(), b"Chapter one");
        fs::remove_file(taken).unwrap();
    }
    opened.rebuild(Rebuild::compact()).unwrap();
    drop(opened);
    assert!(Store::check(&store).unwrap().is_clean());
}

/// A process that works on a store by its path leaves files in the one that takes its place.
#[test]
fn files_of_another_store_are_put_aside_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (store, other) = (folder.path().join("store"), folder.path().join("other"));
    make(&store);
    make(&other);
    Store::open(&other)
        .unwrap()
        .rebuild(Rebuild::compact())
        .unwrap();
    let names = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    fs::copy(other.join("index.redb"), other.join("index.redb.next")).unwrap();
    let before = names(&store);
    let mut left: Vec<String> = names(&other);
    left.retain(|name| name != "index.redb");
    assert!(
        left.iter().any(|name| name.starts_with("filter.")),
        "{left:?}"
    );
    assert_eq!(left.len(), 6, "{left:?}");
    for round in ["other", "other.2"] {
        for name in &left {
            fs::copy(other.join(name), store.join(name)).unwrap();
        }
        let opened = Store::open(&store).unwrap();
        let aside = |name: &String| store.join(format!("{name}.{round}"));
        let expected: Vec<PathBuf> = left.iter().map(aside).collect();
        assert_eq!(opened.put_aside(), expected);
        for name in &left {
            assert!(fs::read(aside(name)).unwrap() == fs::read(other.join(name)).unwrap());
        }
        drop(opened);
    }
    let opened = Store::open(&store).unwrap();
    assert!(opened.put_aside().is_empty());
    opened.rebuild(Rebuild::compact()).unwrap();
    drop(opened);
    let kept = names(&store)
        .into_iter()
        .filter(|name| name.contains("other"));
    assert_eq!(kept.count(), 2 * left.len());
    assert_eq!(before.len(), 5, "{before:?}");
    assert!(Store::check(&store).unwrap().is_clean());
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use dedupdb::Options;

    use super::*;

    /// A write through a link in a store would end up outside.
    #[test]
    fn links_are_named_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (store, outside) = (folder.path().join("store"), folder.path().join("outside"));
        make(&store);
        for name in ["index.redb", "contents.1", "shingles.1", "signatures.1"] {
            let file = store.join(name);
            fs::rename(&file, &outside).unwrap();
            let before = fs::read(&outside).unwrap();
            symlink(&outside, &file).unwrap();
            for read_only in [false, true] {
                let error = Options::new()
                    .read_only(read_only)
                    .open(&store)
                    .unwrap_err();
                let message = error.to_string();
                assert!(
                    matches!(&error, Error::Io { path, .. } if *path == file),
                    "{message}"
                );
                assert!(message.contains("symbolic link"), "{message}");
            }
            assert_eq!(fs::read(&outside).unwrap(), before);
            fs::remove_file(&file).unwrap();
            fs::rename(&outside, &file).unwrap();
        }
        // A link to nothing is not one of the store's files, either.
        for name in ["index.redb.next", "contents.2", "filter.2.1"] {
            symlink(&outside, store.join(name)).unwrap();
            let opened = Store::open(&store).unwrap();
            assert!(opened.rebuild(Rebuild::compact()).is_err(), "{name}");
            assert!(!outside.exists(), "{name}");
            drop(opened);
            fs::remove_file(store.join(name)).unwrap();
        }
        assert!(Store::check(&store).unwrap().is_clean());
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn set_modes(store: &Path, of_folder: u32, of_files: u32) {
        for entry in fs::read_dir(store).unwrap() {
            let path = entry.unwrap().path();
            fs::set_permissions(path, fs::Permissions::from_mode(of_files)).unwrap();
        }
        fs::set_permissions(store, fs::Permissions::from_mode(of_folder)).unwrap();
    }

    fn assert_modes(store: &Path, of_folder: u32, of_files: u32) {
        assert_eq!(mode(store), of_folder);
        for entry in fs::read_dir(store).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), of_files, "{}", path.display());
        }
    }

    #[test]
    fn permissions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for (of_folder, of_files) in [(0o700, 0o600), (0o775, 0o664)] {
            let path = |name: &str| folder.path().join(format!("{name}{of_files:o}"));
            let store = path("store");
            make(&store);
            set_modes(&store, of_folder, of_files);
            let opened = Store::open(&store).unwrap();
            opened.rebuild(Rebuild::compact()).unwrap();
            opened.backup(path("copy")).unwrap();
            drop(opened);
            assert!(store.join("filter.2.1").exists());
            assert_modes(&store, of_folder, of_files);
            assert_modes(&path("copy"), of_folder, of_files);
            Store::salvage(&store, path("saved"), |_| {}).unwrap();
            assert_modes(&path("saved"), of_folder, of_files);
        }
    }
}
