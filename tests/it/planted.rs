//! The texts in `testdata`, whose similar pairs are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dedupdb::{Input, Query, Schema, Store};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The files of the texts, sorted.
pub(crate) fn paths() -> Vec<PathBuf> {
    let root = testdata();
    let mut paths = vec![root.join("query.txt")];
    files(&root.join("folder"), &mut paths);
    paths.sort();
    paths
}

fn documents() -> Vec<Input> {
    let root = testdata();
    let paths = paths();
    let inputs = paths.iter().map(|path| {
        let key = path.strip_prefix(&root).unwrap().to_str().unwrap();
        Input::new(key.replace('\\', "/"), fs::read_to_string(path).unwrap())
    });
    inputs.collect()
}

#[test]
fn the_planted_pairs_are_found_and_no_others() {
    let documents = documents();
    let expected: BTreeMap<(String, String), f64> =
        fs::read_to_string(testdata().join("expected.tsv"))
            .unwrap()
            .lines()
            .map(|line| {
                let fields: Vec<&str> = line.split('\t').collect();
                let pair = (fields[0].to_owned(), fields[1].to_owned());
                (pair, fields[2].parse().unwrap())
            })
            .filter(|((a, b), jaccard)| {
                let here = |key: &String| documents.iter().any(|input| input.key() == *key);
                *jaccard >= 0.8 && here(a) && here(b)
            })
            .collect();
    assert!(expected.len() > 12);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    writer.add_all(documents.clone()).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut found = BTreeMap::new();
    for document in &documents {
        for other in store.query(&Query::key(document.key())).unwrap() {
            if document.key() < other.key.as_str() {
                found.insert(
                    (document.key().to_owned(), other.key),
                    other.jaccard.unwrap(),
                );
            }
        }
    }
    let rounded = |pairs: &BTreeMap<(String, String), f64>| -> Vec<String> {
        let lines = pairs.iter().map(|((a, b), j)| format!("{a}\t{b}\t{j:.6}"));
        lines.collect()
    };
    assert_eq!(rounded(&found), rounded(&expected));
}
