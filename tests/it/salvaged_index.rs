//! Salvages of stores with a damaged index: each of the two tables of keys replaces the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use dedupdb::{
    Error, Options, Schema, Store,
    upkeep::{Casualty, SalvageSummary},
};

use crate::numbered;

const WORDS: usize = 80;
const PAGE: usize = 4096;

/// The first byte of a leaf, and the number of bytes before the places of its entries.
const LEAF: u8 = 1;
const LEAF_HEADER: usize = 4;

/// A store in its own folder, and what it held when it was sound.
struct Broken {
    folder: tempfile::TempDir,
    index: Vec<u8>,
    /// The hash of each document's text, by key.
    sound: BTreeMap<String, [u8; 32]>,
}

fn hashes(path: &Path) -> BTreeMap<String, [u8; 32]> {
    let store = Options::new().read_only(true).open(path).unwrap();
    let documents = store.documents().unwrap().map(Result::unwrap);
    documents
        .map(|document| (document.key, document.hash))
        .collect()
}

impl Broken {
    /// Of the documents, `copies` have the same text.
    fn new(documents: usize, copies: usize) -> Broken {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::create(&path, &Schema::default()).unwrap();
        let mut writer = store.writer().unwrap();
        for number in 0..documents {
            let text = numbered::text(number.max(copies), WORDS);
            writer.add(format!("key-{number:05}"), text).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        drop(store);
        Broken {
            sound: hashes(&path),
            index: fs::read(path.join("index.redb")).unwrap(),
            folder,
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("saved")
    }

    /// Salvages the store with another index.
    fn salvage_with(&self, index: &[u8]) -> (SalvageSummary, Vec<Casualty>) {
        fs::remove_dir_all(self.target()).unwrap_or_default();
        fs::write(self.store().join("index.redb"), index).unwrap();
        let mut told = Vec::new();
        let saved = Store::salvage(self.store(), self.target(), |casualty| {
            told.push(casualty.clone());
        });
        let saved = saved.unwrap();
        let report = Store::check(self.target()).unwrap();
        assert!(report.is_clean(), "{:?}", report.problems);
        assert_eq!(report.documents, saved.documents);
        (saved, told)
    }

    /// Checks that every document is unchanged or reported, if need be under a key that damage made of its own, and
    /// that everything else is reported.
    fn compare(&self, told: &[Casualty], place: &str) {
        let saved = hashes(&self.target());
        let keys: Vec<&String> = told.iter().filter_map(|told| told.key.as_ref()).collect();
        let unique: BTreeSet<_> = keys.iter().collect();
        assert_eq!(unique.len(), keys.len(), "{place}: told twice: {keys:?}");
        let is_known =
            |(key, hash): &(&String, _)| saved.get(*key) == Some(*hash) || unique.contains(key);
        let missing: Vec<_> = self.sound.iter().filter(|known| !is_known(known)).collect();
        let made_up = keys.iter().filter(|key| !self.sound.contains_key(**key));
        assert!(missing.len() <= made_up.count(), "{place}: {missing:?}");
        for key in saved.keys() {
            let is_known = self.sound.contains_key(key) || unique.contains(&key);
            assert!(is_known, "{place}: {key} is told of nowhere");
        }
    }

    /// The places of a key, in either table.
    fn places(&self, key: &str) -> Vec<usize> {
        let windows = self.index.windows(key.len());
        let found = windows.enumerate();
        found
            .filter(|(_, window)| *window == key.as_bytes())
            .map(|(at, _)| at)
            .collect()
    }

    /// The leaves that hold keys.
    fn pages(&self) -> BTreeSet<usize> {
        let places = self.places("key-");
        let pages = places.into_iter().map(|at| at / PAGE * PAGE);
        pages.filter(|page| self.index[*page] == LEAF).collect()
    }
}

/// What is left of an index that was cut short still gives its keys.
#[test]
fn an_index_that_was_cut_short_is_read_as_far_as_it_goes() {
    let broken = Broken::new(3000, 0);
    for cut in [
        1,
        PAGE,
        20_000,
        broken.index.len() / 4,
        broken.index.len() / 2,
    ] {
        let place = format!("without {cut} bytes");
        let left = broken.index.len() - cut;
        let (saved, told) = broken.salvage_with(&broken.index[..left]);
        broken.compare(&told, &place);
        assert_eq!((saved.documents, saved.lost), (3000, 0), "{place}");
    }
}

/// Flips a bit of a key, so that it becomes another key or no text at all. The table that still has the key saves the
/// document under it, and all others are unchanged.
#[test]
fn a_bit_of_a_key_costs_that_key_at_most() {
    for (documents, copies) in [(320, 300), (320, 0)] {
        let broken = Broken::new(documents, copies);
        for number in [0, 150, 319] {
            for at in broken.places(&format!("key-{number:05}")) {
                for bit in [0x80, 0x01] {
                    let place = format!("{copies} copies, key {number} at {at}, bit {bit:#x}");
                    let mut index = broken.index.clone();
                    index[at + 4] ^= bit;
                    let (saved, told) = broken.salvage_with(&index);
                    broken.compare(&told, &place);
                    assert_eq!(saved.lost, 0, "{place}: {told:?}");
                    assert!(saved.documents >= 319, "{place}: {saved:?}");
                    assert!(told.len() <= 2, "{place}: {told:?}");
                }
            }
        }
    }
}

/// Overwrites a page of either table. The other table has what was on it.
#[test]
fn a_page_of_keys_that_is_gone_costs_no_document() {
    for (documents, copies) in [(320, 300), (600, 0)] {
        let broken = Broken::new(documents, copies);
        let pages = broken.pages();
        assert!(pages.len() >= 4, "{pages:?}");
        for page in pages {
            for filling in [0, 0xff] {
                let place = format!("{copies} copies, page {page}, {filling:#x}");
                let mut index = broken.index.clone();
                index[page + LEAF_HEADER..page + PAGE].fill(filling);
                let (saved, told) = broken.salvage_with(&index);
                broken.compare(&told, &place);
                assert_eq!(saved.lost, 0, "{place}: {told:?}");
                assert_eq!(saved.documents, documents as u64, "{place}");
            }
        }
    }
}

/// Parameters that determine the signatures are checked against them, wherever they come from.
#[test]
fn parameters_that_do_not_give_the_signatures_are_not_believed() {
    let broken = Broken::new(40, 0);
    let like = Schema::default();
    for (name, wrong) in [("seed1", 4), ("word:5", 5), ("128", 2), ("17x7", 1)] {
        for at in broken.places(name) {
            let mut index = broken.index.clone();
            index[at + wrong] ^= 1;
            fs::remove_dir_all(broken.target()).unwrap_or_default();
            fs::write(broken.store().join("index.redb"), &index).unwrap();
            let saved = Store::salvage(broken.store(), broken.target(), |_| {}).unwrap();
            assert!(!saved.index_is_whole, "{name} at {at}");
            let schema = Store::open(broken.target()).unwrap().schema();
            // Only the texts show how they were cut into shingles.
            if name != "word:5" && name != "17x7" {
                assert_eq!(*schema, like, "{name} at {at}");
            }
            // But the caller may know better.
            if *schema != like {
                fs::remove_dir_all(broken.target()).unwrap();
                let options = Options::new();
                let refused = options.salvage(broken.store(), broken.target(), Some(&like), |_| {});
                assert!(
                    matches!(refused, Err(Error::SchemaMismatch { .. })),
                    "{refused:?}"
                );
                assert!(!broken.target().exists());
            }
        }
    }
}
