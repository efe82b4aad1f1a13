//! A process that is killed at every step of a write, beside another one that has the store open and writes next.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::schema::Schema;
use crate::storage::watch::{DiskEvent, DiskWatch, InodeNumber};
use crate::store::{Options, Query, Store};

/// The text of a key, which no other one has.
fn text(key: &str) -> String {
    let words = (0..30).map(|word| format!("{key}x{word}"));
    words.collect::<Vec<_>>().join(" ")
}

fn insert(store: &Store, key: &str) {
    let outcome = store.insert_unless_duplicate(key, text(key)).unwrap();
    assert!(outcome.duplicate_of().is_none(), "{key}");
}

/// What a process does before it is killed.
type Act = fn(&Store);

/// Copies the files of a store.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// What a process does to the files of a copy of a store, and which these are.
fn record(base: &Path, at: &Path, act: Act) -> (Vec<DiskEvent>, BTreeMap<InodeNumber, PathBuf>) {
    copy(base, at);
    let watch = DiskWatch::new(at);
    let store = Store::open(at).unwrap();
    act(&store);
    let events = watch.events();
    let files = fs::read_dir(at).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.metadata().unwrap().ino(), entry.file_name().into())
    });
    (events, files.collect())
}

/// Does one step of it to another copy.
fn apply(event: &DiskEvent, files: &BTreeMap<InodeNumber, PathBuf>, folder: &Path) {
    let open = |node: &InodeNumber| {
        let path = folder.join(files.get(node)?);
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        Some(opened.unwrap())
    };
    match event {
        DiskEvent::Written { node, start, bytes } => {
            if let Some(file) = open(node) {
                file.write_all_at(&bytes.0, *start).unwrap();
            }
        }
        DiskEvent::Resized { node, len } => {
            if let Some(file) = open(node) {
                file.set_len(*len).unwrap();
            }
        }
        _ => {}
    }
}

/// Checks that each document has its own text, and that the store is sound.
fn check(store: &Store, folder: &Path, place: &str) -> Vec<String> {
    let mut keys = Vec::new();
    for document in store.documents().unwrap() {
        let document = document.unwrap();
        let own = text(&document.key);
        assert_eq!(
            document.hash,
            *blake3::hash(own.as_bytes()).as_bytes(),
            "{place}: {}",
            document.key
        );
        let found = store.query(&Query::text(&own)).unwrap();
        assert_eq!(found.len(), 1, "{place}: {}", document.key);
        keys.push(document.key);
    }
    let report = Options::new().check(folder).unwrap();
    assert!(report.is_clean(), "{place}: {report:?}");
    keys
}

/// Kills a process after every step of what it does to a store of two documents, while another process has the store
/// open. That one then inserts two documents of its own.
fn kill_beside(act: Act) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    let schema = Schema::builder()
        .permutations(16)
        .bands(4, 4)
        .build()
        .unwrap();
    let store = Store::create(&base, &schema).unwrap();
    for key in ["a", "b"] {
        insert(&store, key);
    }
    drop(store);
    let (events, files) = record(&base, &folder.path().join("killed"), act);
    let mut seen = Vec::new();
    for steps in 0..=events.len() {
        let place = format!("after {steps} of {} steps", events.len());
        let at = folder.path().join(format!("beside{steps}"));
        copy(&base, &at);
        let survivor = Store::open(&at).unwrap();
        assert_eq!(survivor.query(&Query::key("a")).unwrap().len(), 0);
        survivor.writer().unwrap().commit().unwrap();
        for event in &events[..steps] {
            apply(event, &files, &at);
        }
        for key in ["survivor", "survivor again"] {
            insert(&survivor, key);
        }
        let keys = check(&survivor, &at, &place);
        assert!(keys.len() >= 3, "{place}: {keys:?}");
        drop(survivor);
        assert_eq!(
            check(&Store::open(&at).unwrap(), &at, &place),
            keys,
            "{place}"
        );
        seen.push(keys);
        fs::remove_dir_all(&at).unwrap();
    }
    seen.dedup();
    assert_eq!(seen.len(), 2, "all or nothing: {seen:?}");
}

#[test]
fn an_insert_is_done_or_not_for_the_next_process() {
    kill_beside(|store| insert(store, "killed"));
}

#[test]
fn a_removal_is_done_or_not_for_the_next_process() {
    kill_beside(|store| assert!(store.remove("b").unwrap()));
}

#[test]
fn a_commit_of_many_is_done_or_not_for_the_next_process() {
    kill_beside(|store| {
        let mut writer = store.writer().unwrap();
        for number in 0..40 {
            let key = format!("killed{number}");
            writer.add(key.as_str(), text(&key)).unwrap();
        }
        writer.commit().unwrap();
    });
}
