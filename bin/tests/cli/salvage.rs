//! `salvage`: a store made from the intact parts of a damaged one.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, text};

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

/// Swapped pages of an index have the right checksums in the wrong places. Whatever redb makes of them, the columns are
/// whole, so no content is lost, and no message of a panic is printed.
#[test]
fn swapped_pages_of_an_index_cost_no_content() {
    const PAGE: usize = 4096;
    let sandbox = Sandbox::new();
    let line = |n: u64| {
        json!({"id": format!("key-{n:03}"), "text": text(n.max(12), 30)}).to_string() + "\n"
    };
    sandbox.write("a.jsonl", (0..300).map(line).collect::<String>());
    sandbox.add(&["a.jsonl"], 0);
    let path = sandbox.path(".dedupdb/index.redb");
    let index = fs::read(&path).unwrap();
    let salvage = || {
        fs::remove_dir_all(sandbox.path("saved")).unwrap_or_default();
        let ran = sandbox.run(&["--json", "salvage", ".dedupdb", "saved"]);
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let summary = ran.objects().pop().unwrap();
        let count = |name: &str| summary[name].as_u64().unwrap();
        (count("contents"), count("unnamed"))
    };
    fs::remove_file(&path).unwrap();
    assert_eq!(salvage(), (288, 288));
    let used = |page: &usize| index[page * PAGE..][..PAGE].iter().any(|&byte| byte != 0);
    let pages: Vec<usize> = (1..index.len() / PAGE).filter(used).collect();
    let mut unnamed = 0;
    for apart in [1, 2, 5] {
        for (&first, &second) in pages.iter().zip(&pages[apart..]) {
            let mut swapped = index.clone();
            swapped[first * PAGE..][..PAGE].copy_from_slice(&index[second * PAGE..][..PAGE]);
            swapped[second * PAGE..][..PAGE].copy_from_slice(&index[first * PAGE..][..PAGE]);
            fs::write(&path, &swapped).unwrap();
            let saved = salvage();
            assert_eq!(saved.0, 288, "{first} and {second}");
            unnamed += u64::from(saved.1 > 0);
            for command in [&["list"][..], &["query", "a.jsonl"], &["check"]] {
                let ran = sandbox.run(command);
                assert!(
                    !ran.stderr.contains("panicked"),
                    "{command:?}: {}",
                    ran.stderr
                );
            }
        }
    }
    assert!(unnamed > 0, "of {} pages", pages.len());
}
