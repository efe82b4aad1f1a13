//! `check`: a sound store and a damaged one.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn a_sound_store_is_clean() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox.run(&["remove", "page-01"]).expect(0);
    let ran = sandbox.run(&["check"]).expect(0);
    assert!(
        ran.stdout.starts_with("checked 56 documents"),
        "{}",
        ran.stdout
    );
    let summary = "0 postings (54 recent contents without postings in tables yet, which is normal): no damage found\n";
    assert!(ran.stdout.ends_with(summary), "{}", ran.stdout);
    let report = sandbox
        .run(&["--json", "check"])
        .expect(0)
        .objects()
        .remove(0);
    assert_eq!(report["documents"], 56);
    assert_eq!(
        (&report["postings"], &report["recent"]),
        (&0.into(), &54.into())
    );
    sandbox.run(&["compact"]).expect(0);
    let report = sandbox
        .run(&["--json", "check"])
        .expect(0)
        .objects()
        .remove(0);
    assert_eq!(report["recent"], 0);
    assert!(report["postings"].as_u64().unwrap() > 500);
    assert_eq!(report["problems"].as_array().unwrap().len(), 0);
}

#[test]
fn a_flipped_byte_is_found() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let file = sandbox.path(".dedupdb/shingles.1");
    let mut bytes = fs::read(&file).unwrap();
    bytes[5000] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    let ran = sandbox.run(&["check"]).expect(2);
    assert!(ran.lines()[0].contains("shingles.1: "), "{}", ran.stdout);
    let told =
        "could not go on to check the documents: 1 problem found; restore the store from a backup";
    assert!(ran.lines()[1].starts_with(told), "{}", ran.stdout);
    let report = sandbox
        .run(&["check", "--json"])
        .expect(2)
        .objects()
        .remove(0);
    let file = report["problems"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("shingles.1"), "{file}");
}

#[test]
fn of_a_damaged_filter_nothing_needs_to_be_restored() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox.run(&["compact"]).expect(0);
    let file = sandbox.path(".dedupdb/filter.2.1");
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    let ran = sandbox.run(&["check"]).expect(2);
    assert!(ran.lines()[0].contains("filter.2.1: "), "{}", ran.stdout);
    let remedy = "1 problem found; no document is damaged; delete the files named above while nobody uses the store";
    assert!(ran.lines()[1].ends_with(remedy), "{}", ran.stdout);
    fs::remove_file(&file).unwrap();
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn a_folder_without_a_store_is_an_error() {
    let ran = Sandbox::new().run(&["check"]).expect(2);
    assert_eq!(ran.stderr.lines().count(), 1);
    assert!(
        ran.stderr.contains("make one with init or add"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_cause_is_told_once() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "a file");
    let ran = sandbox.run(&["--store", "file/store", "init"]).expect(2);
    assert_eq!(ran.stderr.matches("os error").count(), 1, "{}", ran.stderr);
}
