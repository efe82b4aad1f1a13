//! `backup`: a copy that is a store.

use std::fs;

use crate::sandbox::{Sandbox, fields};

#[test]
fn a_backup_is_a_store_of_its_own() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    let ran = sandbox.run(&["backup", "copies/monday"]).expect(0);
    let start = "copied 57 documents to copies/monday, ";
    assert!(ran.stdout.starts_with(start), "{}", ran.stdout);
    sandbox.run(&["remove", "--prefix", ""]).expect(2);
    sandbox.run(&["remove", "--prefix", "page-"]).expect(0);
    let copy = ["--store", "copies/monday"];
    let run = |arguments: &[&str]| sandbox.run(&[&copy, arguments].concat());
    run(&["check"]).expect(0);
    assert_eq!(run(&["list"]).lines().len(), 57);
    run(&["query", "query.txt"]).expect(0);
    // The first one stays.
    let ran = sandbox.run(&["backup", "copies/monday"]).expect(2);
    let told =
        "copies/monday: there is a dedupdb store here already, and a backup goes into a new folder";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(run(&["list"]).lines().len(), 57);
    let names = fs::read_dir(sandbox.path("copies")).unwrap();
    assert_eq!(names.count(), 1);
}

#[test]
fn a_backup_tells_what_it_copied() {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["backup", "copy"]).expect(2);
    assert!(!sandbox.path("copy").exists());
    sandbox.add(&["pages.jsonl"], 0);
    let ran = sandbox.run(&["--json", "backup", "copy/"]).expect(0);
    let object = ran.objects().remove(0);
    assert_eq!(fields(&object), ["bytes", "contents", "documents", "store"]);
    assert_eq!(object["documents"], 13);
    let files = fs::read_dir(sandbox.path("copy")).unwrap();
    let bytes: u64 = files.map(|f| f.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(object["bytes"], bytes);
}
