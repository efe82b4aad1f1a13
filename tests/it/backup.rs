//! Copies of a store that is in use.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dedupdb::{Error, Input, Options, Query, Schema, Store};

use crate::concurrency::AtEnd;
use crate::numbered;

fn text(number: usize) -> String {
    numbered::text(number, 80)
}

fn add(store: &Store, numbers: std::ops::Range<usize>) {
    numbered::add(store, numbers, 80);
}

/// The documents with the hashes of their contents, and the matches of some texts.
fn holdings(store: &Store) -> Vec<String> {
    let documents = store.documents().unwrap();
    let mut held: Vec<String> = documents.map(|d| format!("{:?}", d.unwrap())).collect();
    let texts = (0..held.len() + 5).step_by(held.len() / 40 + 1);
    held.extend(texts.map(|n| format!("{:?}", store.query(&Query::text(&text(n))).unwrap())));
    held
}

fn assert_is_clean(folder: &Path) {
    let report = Store::check(folder).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

#[test]
fn a_copy_holds_what_the_store_holds_and_goes_on_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let copies = ["kept", "none kept"].map(|name| folder.path().join(name).join("copy"));
    for (copy, keep) in copies.iter().zip([true, false]) {
        let live = folder.path().join(format!("live {keep}"));
        let schema = Schema::builder().keep_shingles(keep).build().unwrap();
        let store = Store::create(&live, &schema).unwrap();
        // Merged postings, recent ones, removed contents and uncommitted rows.
        add(&store, 0..1500);
        let mut writer = store.writer().unwrap();
        for number in (0..1500).step_by(7) {
            writer.remove(&format!("{number:05}")).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        add(&store, 1500..1600);
        let mut writer = store.writer().unwrap();
        let inputs = (1600..9000).map(|n| Input::new(format!("{n:05}"), text(n)));
        writer.add_all(inputs.collect()).unwrap();
        let stats = store.backup(copy).unwrap();
        drop(writer);
        assert_eq!(stats.documents, store.stats().unwrap().documents);
        for (name, bytes) in stats.files {
            assert_eq!(fs::metadata(copy.join(name)).unwrap().len(), bytes);
        }
        assert_is_clean(copy);
        let copied = Store::open(copy).unwrap();
        assert_eq!(holdings(&copied), holdings(&store));
        add(&copied, 1600..3000);
        add(&store, 1600..1610);
        drop(copied);
        assert_is_clean(copy);
    }
}

#[test]
fn copies_of_a_store_that_is_written_to_are_whole_commits() {
    const BATCH: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("live"), &Schema::default()).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let at_end = AtEnd(&done);
        let copier = scope.spawn(|| {
            let mut copies = Vec::new();
            while !done.load(Ordering::Acquire) || copies.is_empty() {
                let copy = folder.path().join(format!("copy {}", copies.len()));
                copies.push((store.backup(&copy).unwrap().documents, copy));
            }
            copies
        });
        for round in 0..25 {
            add(&store, round * BATCH..(round + 1) * BATCH);
        }
        drop(at_end);
        for (documents, copy) in copier.join().unwrap() {
            assert_is_clean(&copy);
            let copy = Options::new().read_only(true).open(&copy).unwrap();
            assert_eq!(copy.documents().unwrap().count() as u64, documents);
            assert_eq!(documents % BATCH as u64, 0);
        }
    });
}

#[test]
fn a_copy_goes_only_where_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let (live, copy) = (folder.path().join("live"), folder.path().join("copy"));
    let store = Store::create(&live, &Schema::default()).unwrap();
    add(&store, 0..10);
    assert!(matches!(
        store.backup(&live),
        Err(Error::AlreadyAStore { .. })
    ));
    fs::create_dir(&copy).unwrap();
    fs::write(copy.join("thesis"), "Chapter one").unwrap();
    assert!(matches!(store.backup(&copy), Err(Error::NotEmpty { .. })));
    let file = copy.join("thesis");
    assert!(matches!(store.backup(&file), Err(Error::Occupied { .. })));
    assert_eq!(fs::read(&file).unwrap(), b"Chapter one");
    assert!(matches!(
        store.backup("/"),
        Err(Error::NotEmpty { .. } | Error::Io { .. })
    ));
    assert!(store.backup("").is_err());
    // An empty folder will do.
    fs::remove_file(file).unwrap();
    store.backup(&copy).unwrap();
    assert_is_clean(&copy);
}

#[test]
fn no_store_is_made_inside_another() {
    let folder = tempfile::tempdir().unwrap();
    let live = folder.path().join("live");
    let store = Store::create(&live, &Schema::default()).unwrap();
    add(&store, 0..10);
    let names = || fs::read_dir(&live).unwrap().count();
    let before = names();
    for inside in ["copy", "a/b"].map(|name| live.join(name)) {
        let backup = store.backup(&inside).map(drop);
        let create = Store::create(&inside, &Schema::default()).map(drop);
        let salvage = Store::salvage(folder.path().join("x"), &inside, |_| {}).map(drop);
        for refused in [backup, create, salvage] {
            let Err(Error::InsideStore { path, store }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(path, inside);
            assert_eq!(store, fs::canonicalize(&live).unwrap());
        }
    }
    assert_eq!(names(), before);
}

#[test]
fn what_a_killed_backup_left_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    let (live, copy) = (folder.path().join("live"), folder.path().join("copy"));
    let store = Store::create(&live, &Schema::default()).unwrap();
    add(&store, 0..10);
    let left = folder.path().join(".copy.dedupdb-backup");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("index.redb"), [0; 40]).unwrap();
    fs::write(left.join("signatures.7"), "dedupdb\nof another generation").unwrap();
    store.backup(&copy).unwrap();
    assert!(!left.exists());
    assert!(!copy.join("signatures.7").exists());
    assert_is_clean(&copy);
}

#[test]
fn damage_is_not_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let (live, copy) = (folder.path().join("live"), folder.path().join("copy"));
    let store = Store::create(&live, &Schema::default()).unwrap();
    add(&store, 0..100);
    drop(store);
    for column in ["contents.1", "shingles.1", "signatures.1"] {
        let path = live.join(column);
        let sound = fs::read(&path).unwrap();
        let mut damaged = sound.clone();
        damaged[64 + 700] ^= 4;
        fs::write(&path, damaged).unwrap();
        // Damage to data that is read at once is reported when the store is opened.
        let opened = Options::new().read_only(true).open(&live);
        let refused = opened.and_then(|store| store.backup(&copy));
        assert!(
            matches!(&refused, Err(Error::Damaged { path: named, .. }) if *named == path),
            "{refused:?}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(&path, sound).unwrap();
    }
}
