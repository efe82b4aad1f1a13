//! `salvage`: a store made from the intact parts of a damaged one.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox
}

/// Flips a bit of a file of the store.
fn flip(sandbox: &Sandbox, file: &str, at: usize) {
    let path = sandbox.path(".dedupdb").join(file);
    let mut bytes = fs::read(&path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

fn keys(sandbox: &Sandbox, store: &str) -> Ran {
    sandbox.run(&["list", "--store", store]).expect(0)
}

#[test]
fn a_store_that_is_sound_is_saved_whole() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("saved 57 documents"), "{}", ran.stderr);
    assert_eq!(
        keys(&sandbox, "saved").stdout,
        keys(&sandbox, ".dedupdb").stdout
    );
    sandbox.run(&["check", "--store", "saved"]).expect(0);
    let ran = sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(2);
    assert!(
        ran.stderr.contains("choose another folder"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_is_lost_or_doubtful_is_told_by_key() {
    let sandbox = sandbox();
    flip(&sandbox, "shingles.1", 5000);
    sandbox.run(&["check"]).expect(2);
    let ran = sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(1);
    let lost: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("lost\t"))
        .collect();
    assert!(lost.len() <= 2, "{lost:?}");
    let all = ran.stdout.lines().all(|line| line.split('\t').count() == 3);
    assert!(all, "{}", ran.stdout);
    sandbox.run(&["check", "--store", "saved"]).expect(0);
    let ran = sandbox
        .run(&["--json", "salvage", ".dedupdb", "again"])
        .expect(1);
    let mut objects = ran.objects();
    let summary = objects.pop().unwrap();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(count("documents") + count("lost"), 57);
    assert_eq!(count("lost") + count("doubtful"), objects.len() as u64);
    assert_eq!(summary["index_is_whole"], true);
    assert_eq!(summary["unreadable"], json!([]));
    let told = |object: &Value| object["key"].is_string() && object["why"].is_string();
    assert!(objects.iter().all(told), "{objects:?}");
}

#[test]
fn without_an_index_another_store_tells_the_parameters() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["init", "--seed", "7"]).expect(0);
    sandbox
        .run(&["init", "--seed", "7", "--store", "other"])
        .expect(0);
    sandbox.add(&["folder"], 0);
    fs::write(sandbox.path(".dedupdb/index.redb"), b"gone").unwrap();
    let ran = sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(2);
    assert!(ran.stderr.contains("the same ones"), "{}", ran.stderr);
    let salvage = ["salvage", ".dedupdb", "saved", "--like", "other"];
    let ran = sandbox.run(&salvage).expect(1);
    assert!(ran.stderr.contains("without a key"), "{}", ran.stderr);
    let text = fs::read(sandbox.path("folder/news/library-night.txt")).unwrap();
    let key = format!("blake3:{}\n", blake3::hash(&text));
    let keys = keys(&sandbox, "saved").stdout;
    assert!(keys.contains(&key), "{key}{keys}");
}

/// Signatures do not show one flipped bit of the parameters, so a note shows the parameters.
#[test]
fn parameters_of_a_damaged_index_are_shown() {
    let sandbox = sandbox();
    let index = fs::read(sandbox.path(".dedupdb/index.redb")).unwrap();
    let name = b"word:5";
    let places = index.windows(name.len()).enumerate();
    let places: Vec<usize> = places
        .filter(|(_, bytes)| bytes == name)
        .map(|(at, _)| at)
        .collect();
    let mut shown = 0;
    for at in places {
        let mut index = index.clone();
        index[at + 5] ^= 1;
        fs::write(sandbox.path(".dedupdb/index.redb"), index).unwrap();
        fs::remove_dir_all(sandbox.path("saved")).unwrap_or_default();
        let ran = sandbox.run(&["salvage", ".dedupdb", "saved"]).expect(1);
        assert!(ran.stderr.contains("the parameters"), "{}", ran.stderr);
        shown += usize::from(ran.stderr.contains("shingling word:4,"));
    }
    assert!(shown > 0);
}

#[test]
fn what_is_no_folder_is_no_store() {
    let sandbox = Sandbox::with_testdata();
    let ran = sandbox.run(&["salvage", "query.txt", "saved"]).expect(2);
    assert!(
        ran.stderr
            .contains("query.txt: there is no dedupdb store here"),
        "{}",
        ran.stderr
    );
    assert!(!sandbox.path("saved").exists());
}
