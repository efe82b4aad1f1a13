//! The intact parts of a damaged store are saved, and the rest is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use dedupdb::{
    Document, Error, Input, Options, Query, Schema, Store,
    upkeep::{Casualty, SalvageSummary},
};

use crate::numbered;

const DOCUMENTS: usize = 1200;
const WORDS: usize = 80;

fn schema() -> Schema {
    let schema = Schema::builder().permutations(16).bands(4, 4);
    schema.build().unwrap()
}

fn key(number: usize) -> String {
    format!("{number:05}")
}

/// The number of documents at the end: one is removed, one replaced, one copied, and one removed and added again.
const LEFT: usize = DOCUMENTS + 1;

/// The number of their texts, with that of the removed one and the one that was replaced.
const TEXTS: usize = LEFT + 1;

/// A store with a removed document, a replaced one, a copy, and a text that came back.
fn make(path: &Path, documents: usize) {
    let store = Store::create(path, &schema()).unwrap();
    let mut writer = store.writer().unwrap();
    let inputs = (0..documents).map(|number| {
        let modified = Duration::from_micros(1_000 + number as u64);
        Input::new(key(number), numbered::text(number, WORDS)).modified(UNIX_EPOCH + modified)
    });
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    writer.remove(&key(3)).unwrap();
    writer.add(key(4), numbered::text(90_000, WORDS)).unwrap();
    writer.add("copy", numbered::text(5, WORDS)).unwrap();
    writer.commit().unwrap();
    let text = numbered::text(91_000, WORDS);
    writer.add("again", text.as_str()).unwrap();
    writer.commit().unwrap();
    writer.remove("again").unwrap();
    writer.commit().unwrap();
    writer.add("again", text.as_str()).unwrap();
    writer.commit().unwrap();
}

/// The documents by key, without the ids of their contents, which a new store may assign differently.
fn documents(path: &Path) -> BTreeMap<String, Document> {
    let store = Options::new().read_only(true).open(path).unwrap();
    let documents = store.documents().unwrap().map(|document| {
        let mut document = document.unwrap();
        document.content = 0;
        (document.key.clone(), document)
    });
    documents.collect()
}

/// The matches of some texts: keys and similarities.
fn answers(path: &Path) -> Vec<(String, Option<f64>, f64)> {
    let store = Options::new().read_only(true).open(path).unwrap();
    let mut answers = Vec::new();
    for number in (0..DOCUMENTS).step_by(7) {
        // One word fewer.
        let text = numbered::text(number, WORDS - 1);
        for found in store.query(&Query::text(&text)).unwrap() {
            answers.push((found.key, found.jaccard, found.estimate.jaccard));
        }
    }
    answers
}

struct Wreck {
    folder: tempfile::TempDir,
    sound: BTreeMap<String, Document>,
    answers: Vec<(String, Option<f64>, f64)>,
    files: BTreeMap<String, Vec<u8>>,
}

fn read_all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    });
    files.collect()
}

impl Wreck {
    fn new() -> Wreck {
        Wreck::of(DOCUMENTS)
    }

    fn of(count: usize) -> Wreck {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        make(&path, count);
        Wreck {
            sound: documents(&path),
            answers: answers(&path),
            files: read_all(&path),
            folder,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("saved")
    }

    /// Replaces a file. `None` removes it.
    fn set(&self, file: &str, bytes: Option<&[u8]>) {
        let path = self.path().join(file);
        match bytes {
            Some(bytes) => fs::write(path, bytes).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }

    fn flip(&self, file: &str, at: usize) {
        let mut bytes = self.files[file].clone();
        bytes[at] ^= 1 << (at % 8);
        self.set(file, Some(&bytes));
    }

    fn mend(&self) {
        for (file, bytes) in &self.files {
            self.set(file, Some(bytes));
        }
        fs::remove_dir_all(self.target()).unwrap_or_default();
    }

    fn salvage(&self) -> (SalvageSummary, Vec<Casualty>) {
        let before = read_all(&self.path());
        let mut told = Vec::new();
        let salvaged = Options::new()
            .salvage(self.path(), self.target(), Some(&schema()), |casualty| {
                told.push(casualty.clone());
            })
            .unwrap();
        assert_eq!(read_all(&self.path()), before, "the source is not changed");
        let report = Store::check(self.target()).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        assert_eq!(report.documents, salvaged.documents);
        let fate = |is_lost| told.iter().filter(|told| told.is_lost == is_lost).count() as u64;
        assert_eq!(
            (fate(true), fate(false)),
            (salvaged.lost, salvaged.doubtful)
        );
        assert!(!self.folder.path().join(".saved.dedupdb-backup").exists());
        (salvaged, told)
    }

    /// Salvages the store. Every document must be reported or unchanged, and there must be no others.
    fn salvage_and_compare(&self) -> (SalvageSummary, BTreeSet<String>) {
        let (salvaged, told) = self.salvage();
        let told: BTreeSet<String> = told.into_iter().filter_map(|told| told.key).collect();
        let saved = documents(&self.target());
        for (key, document) in &self.sound {
            let is_same = saved.get(key) == Some(document);
            assert!(
                is_same || told.contains(key),
                "{document:?}, {:?}",
                saved.get(key)
            );
        }
        for key in saved.keys() {
            assert!(self.sound.contains_key(key), "{key}");
        }
        let is_untold = |answer: &&(String, _, _)| !told.contains(&answer.0);
        let expected: Vec<_> = self.answers.iter().filter(is_untold).collect();
        let answers = answers(&self.target());
        assert_eq!(
            answers.iter().filter(is_untold).collect::<Vec<_>>(),
            expected
        );
        (salvaged, told)
    }
}

#[test]
fn a_sound_store_is_saved_whole() {
    let wreck = Wreck::new();
    let (salvaged, told) = wreck.salvage_and_compare();
    assert_eq!(salvaged.documents, LEFT as u64);
    assert_eq!((salvaged.undated, salvaged.unnamed), (0, 0));
    assert!(told.is_empty() && salvaged.index_is_whole);
}

#[test]
fn a_damaged_signature_is_made_anew() {
    let wreck = Wreck::new();
    let bytes = wreck.files["signatures.1"].len();
    for at in [0, 20, 64, bytes / 2, bytes - 1] {
        wreck.flip("signatures.1", at);
        let (_, told) = wreck.salvage_and_compare();
        assert!(told.is_empty(), "byte {at}: {told:?}");
        wreck.mend();
    }
    for bytes in [
        None,
        Some(&wreck.files["signatures.1"][..5000]),
        Some(b"none"),
    ] {
        wreck.set("signatures.1", bytes);
        let (_, told) = wreck.salvage_and_compare();
        assert!(told.is_empty());
        wreck.mend();
    }
    // The column of another store.
    let other = tempfile::tempdir().unwrap();
    make(other.path(), DOCUMENTS);
    let foreign = fs::read(other.path().join("signatures.1")).unwrap();
    wreck.set("signatures.1", Some(&foreign));
    assert!(wreck.salvage_and_compare().1.is_empty());
}

/// A block of shingles or rows has a wrong checksum. What does not fit is lost, what fits is reported, and what lies in
/// other blocks is neither.
#[test]
fn damage_to_a_column_stays_in_its_block() {
    const BLOCK: usize = 64 << 10;
    let documents = 4000;
    let wreck = Wreck::of(documents);
    for file in ["shingles.1", "contents.1"] {
        let bytes = wreck.files[file].len();
        // A tenth more, because rows differ in size, and one, because a row says where the next one begins.
        let in_block = 1 + documents * BLOCK * 11 / (bytes * 10);
        assert!(in_block < documents / 2, "{file}");
        let mut damaged = 0;
        for at in (64..bytes).step_by((bytes / 24) | 1) {
            wreck.flip(file, at);
            let (salvaged, told) = wreck.salvage_and_compare();
            assert!(told.len() <= in_block, "{file}, byte {at}: {}", told.len());
            assert!(salvaged.lost <= 3, "{file}, byte {at}: {salvaged:?}");
            damaged += salvaged.lost;
            wreck.mend();
        }
        assert!(damaged > 0, "{file}");
    }
}

#[test]
fn what_is_below_the_cut_is_saved() {
    let wreck = Wreck::new();
    for file in ["contents.1", "shingles.1"] {
        let bytes = &wreck.files[file];
        wreck.set(file, Some(&bytes[..bytes.len() / 2]));
        let (salvaged, told) = wreck.salvage_and_compare();
        assert!((400..=800).contains(&salvaged.lost), "{file}: {salvaged:?}");
        // All of it is reported by key.
        assert!(told.len() as u64 >= salvaged.lost);
        wreck.set(file, None);
        assert_eq!(wreck.salvage_again().lost, LEFT as u64, "{file}");
        wreck.mend();
    }
}

impl Wreck {
    fn salvage_again(&self) -> SalvageSummary {
        fs::remove_dir_all(self.target()).unwrap();
        self.salvage().0
    }
}

/// Damages bytes all over the index. A key that either table still has is saved or reported, or damage has turned it
/// into another key, which is reported. Without any table of keys, the texts are there under their hashes.
#[test]
fn a_damaged_index_loses_what_it_alone_has() {
    let wreck = Wreck::new();
    let bytes = &wreck.files["index.redb"];
    let is_used = |at: &usize| {
        let page = at / 4096 * 4096;
        bytes[page..bytes.len().min(page + 4096)]
            .iter()
            .any(|&byte| byte != 0)
    };
    let (mut saved_all, mut lost_some) = (0, 0);
    for at in (11..bytes.len())
        .step_by((bytes.len() / 100) | 1)
        .filter(is_used)
    {
        wreck.flip("index.redb", at);
        let (salvaged, told) = wreck.salvage();
        let told: BTreeSet<String> = told.into_iter().filter_map(|told| told.key).collect();
        let saved = documents(&wreck.target());
        let known = |key: &String| told.contains(key) || saved.contains_key(key);
        let unknown: Vec<_> = wreck.sound.keys().filter(|key| !known(key)).collect();
        let is_made_up = |key: &&String| !wreck.sound.contains_key(*key);
        let made_up = told.iter().filter(is_made_up).count() as u64;
        assert!(
            unknown.len() as u64 <= salvaged.unnamed + made_up,
            "byte {at}: {unknown:?}, {told:?}, {salvaged:?}"
        );
        for (key, document) in &saved {
            let sound = wreck.sound.get(key).map(|sound| sound.hash);
            let is_hash = *key == format!("blake3:{}", blake3::Hash::from_bytes(document.hash));
            assert!(
                sound == Some(document.hash) || told.contains(key) || is_hash,
                "byte {at}: {key}"
            );
        }
        saved_all += u64::from(saved == wreck.sound);
        lost_some += u64::from(saved != wreck.sound);
        wreck.mend();
    }
    println!("{saved_all} times all saved, {lost_some} times not");
    assert!(saved_all > lost_some && lost_some > 0);
}

#[test]
fn without_an_index_contents_have_their_hash_for_a_key() {
    let wreck = Wreck::new();
    for index in [None, Some(&b"this is not an index"[..])] {
        wreck.set("index.redb", index);
        let (salvaged, told) = wreck.salvage();
        // The removed document and the replaced text cannot be distinguished from the others.
        assert_eq!(salvaged.unnamed, TEXTS as u64);
        assert_eq!((salvaged.lost, salvaged.doubtful), (0, salvaged.documents));
        assert!(!salvaged.index_is_whole && told.iter().all(|told| told.key.is_some()));
        let store = Store::open(wreck.target()).unwrap();
        let text = numbered::text(17, WORDS);
        let found = store.query(&Query::text(&text)).unwrap();
        assert_eq!(
            found[0].key,
            format!("blake3:{}", blake3::hash(text.as_bytes()))
        );
        assert!(found[0].exact_copy);
        drop(store);
        wreck.mend();
    }
    // The parameters are lost with the index. Others are refused.
    wreck.set("index.redb", None);
    let refused = Store::salvage(wreck.path(), wreck.target(), |_| {});
    let Err(Error::Damaged { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        reason.ends_with("name a store that has the same ones"),
        "{reason}"
    );
    assert!(!wreck.target().exists());
}

#[test]
fn a_store_without_shingles_is_saved_by_its_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("store"), folder.path().join("saved"));
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(&path, &schema).unwrap();
    numbered::add(&store, 0..500, WORDS);
    drop(store);
    let file = path.join("signatures.1");
    let mut bytes = fs::read(&file).unwrap();
    // In the second of two blocks.
    bytes[100_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    let salvaged = Store::salvage(&path, &target, |told| assert!(!told.is_lost)).unwrap();
    assert_eq!(salvaged.documents, 500);
    assert!((200..300).contains(&salvaged.doubtful), "{salvaged:?}");
    assert!(Store::check(&target).unwrap().is_clean());
}

/// They have no signature that could verify the shingles.
#[test]
fn of_small_texts_the_shingles_must_fit_the_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &Schema::default()).unwrap();
    numbered::add(&store, 0..20, 12);
    drop(store);
    let file = path.join("shingles.1");
    let sound = fs::read(&file).unwrap();
    let mut lost = 0;
    for at in (64..sound.len()).step_by(11) {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&file, bytes).unwrap();
        let target = folder.path().join(at.to_string());
        let salvaged = Store::salvage(&path, &target, |_| {}).unwrap();
        assert_eq!(salvaged.lost + salvaged.doubtful, 20, "byte {at}");
        assert!(Store::check(&target).unwrap().is_clean(), "byte {at}");
        lost += salvaged.lost;
    }
    assert!(lost > 0);
}

/// A killed process may have left a note, and its process number may belong to another one by now.
#[test]
fn a_note_that_nobody_stands_by_is_in_nobodys_way() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("store"), folder.path().join("saved"));
    drop(Store::create(&path, &Schema::default()).unwrap());
    let note = "process 1\nsince 5\n";
    fs::write(path.join("holder"), note).unwrap();
    let before = read_all(&path);
    assert_eq!(Store::salvage(&path, &target, |_| {}).unwrap().lost, 0);
    assert_eq!(read_all(&path), before);
}

/// What a killed process left of a store or of an index may be damaged like anything else. If it does not show whose it
/// is, an error names it.
#[test]
fn damaged_leftovers_are_cleared_away_or_named() {
    let wreck = Wreck::new();
    let empty = wreck.folder.path().join("empty");
    drop(Store::create(&empty, &schema()).unwrap());
    let empty = fs::read(empty.join("index.redb")).unwrap();
    let mut cleared = 0;
    let bytes = wreck.files["index.redb"].clone();
    let building = wreck.folder.path().join(".saved.dedupdb-backup");
    let new = wreck.folder.path().join("new");
    for at in (9..bytes.len()).step_by(bytes.len() / 64 + 1).chain(9..40) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        fs::create_dir(&building).unwrap();
        fs::write(building.join("index.redb"), &bytes).unwrap();
        let place = numbered::text(at, 1);
        drop(
            Store::open(wreck.path())
                .unwrap()
                .backup(wreck.target())
                .unwrap(),
        );
        assert!(Store::open(wreck.target()).is_ok(), "{place}");
        wreck.mend();
        fs::create_dir(&new).unwrap();
        let leftover = new.join("index.redb.new");
        let mut bytes = empty.clone();
        let at = at % bytes.len();
        bytes[at] ^= 0x40;
        fs::write(&leftover, &bytes).unwrap();
        match Store::create(&new, &schema()) {
            Ok(made) => {
                assert_eq!(made.documents().unwrap().count(), 0, "{place}");
                cleared += 1;
            }
            Err(Error::Occupied { path }) => assert_eq!(path, leftover),
            Err(error) => panic!("{error}"),
        }
        fs::remove_dir_all(&new).unwrap();
    }
    assert!(cleared > 0);
}

/// Otherwise, only the length of its signatures is known of such a store.
#[test]
fn without_index_and_shingles_the_caller_names_the_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("store"), folder.path().join("saved"));
    let schema = Schema::builder().keep_shingles(false).build().unwrap();
    let store = Store::create(&path, &schema).unwrap();
    numbered::add(&store, 0..20, WORDS);
    drop(store);
    fs::write(path.join("index.redb"), "gone").unwrap();
    let salvage = |schema: &Schema| Options::new().salvage(&path, &target, Some(schema), |_| {});
    let longer = schema.to_builder().permutations(256).choose_bands();
    let refused = salvage(&longer.build().unwrap());
    let Err(Error::Damaged { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(!reason.contains("scratch"), "{reason}");
    let saved = salvage(&schema).unwrap();
    assert_eq!((saved.documents, saved.unnamed), (20, 20));
    let store = Store::open(&target).unwrap();
    assert_eq!(*store.schema(), schema);
    let text = numbered::text(7, WORDS);
    assert_eq!(store.query(&Query::text(&text)).unwrap().len(), 1);
}

/// Another release wrote the column, so it cannot be read correctly.
#[test]
fn a_column_of_another_format_is_refused() {
    let wreck = Wreck::new();
    for index in [Some(&wreck.files["index.redb"][..]), None] {
        wreck.set("index.redb", index);
        for file in ["contents.1", "shingles.1", "signatures.1"] {
            for format in [1, 9] {
                let mut bytes = wreck.files[file].clone();
                bytes[8] = format;
                let sum = blake3::hash(&bytes[..56]);
                bytes[56..64].copy_from_slice(&sum.as_bytes()[..8]);
                wreck.set(file, Some(&bytes));
                let refused =
                    Options::new().salvage(wreck.path(), wreck.target(), Some(&schema()), |_| {});
                let is_told = match &refused {
                    Err(Error::OlderFormat { found: 1, .. }) => format == 1,
                    Err(Error::NewerFormat { found: 9, .. }) => format == 9,
                    _ => false,
                };
                assert!(is_told, "{file}: {refused:?}");
                assert!(!wreck.target().exists());
            }
            wreck.set(file, Some(&wreck.files[file]));
        }
    }
}

#[test]
fn a_store_in_use_and_a_folder_in_use_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("store"), folder.path().join("saved"));
    let store = Store::create(&path, &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    writer.add("one", "a text").unwrap();
    let salvage = || {
        let options = Options::new().wait(Duration::ZERO);
        options.salvage(&path, &target, None, |_| {})
    };
    assert!(matches!(salvage(), Err(Error::Locked { .. })));
    drop((writer, store));
    fs::create_dir(&target).unwrap();
    fs::write(target.join("thesis"), "Chapter one").unwrap();
    assert!(matches!(salvage(), Err(Error::NotEmpty { .. })));
    fs::remove_file(target.join("thesis")).unwrap();
    assert_eq!(salvage().unwrap().documents, 0);
    assert!(matches!(salvage(), Err(Error::AlreadyAStore { .. })));
    let nowhere = folder.path().join("nowhere");
    let nothing = Store::salvage(&nowhere, folder.path().join("other"), |_| {});
    assert!(matches!(nothing, Err(Error::NotAStore { .. })));
    fs::create_dir(&nowhere).unwrap();
    let nothing = Store::salvage(&nowhere, folder.path().join("other"), |_| {});
    assert!(matches!(nothing, Err(Error::NotAStore { .. })));
}
