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

/// Makes a copy of a folder whose files are hard links to those of the first.
#[cfg(unix)]
fn link_all(sandbox: &Sandbox, from: &str, to: &str) {
    fs::create_dir(sandbox.path(to)).unwrap();
    for file in fs::read_dir(sandbox.path(from)).unwrap() {
        let file = file.unwrap();
        fs::hard_link(file.path(), sandbox.path(to).join(file.file_name())).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_hard_linked_copy_is_read_and_never_written() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder"], 0);
    let earlier = fs::read(sandbox.path(".dedupdb/index.redb")).unwrap();
    sandbox.add(&["pages.jsonl"], 0);
    // A rewritten index replaces the file, and the copy keeps the earlier one, which counts fewer rows of the columns.
    link_all(&sandbox, ".dedupdb", "copy");
    fs::remove_file(sandbox.path("copy/index.redb")).unwrap();
    sandbox.write("copy/index.redb", earlier);
    let bytes = |store: &str| {
        let files = fs::read_dir(sandbox.path(store)).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let files = files.map(|path| (path.clone(), fs::read(path).unwrap()));
        files.collect::<std::collections::BTreeMap<_, _>>()
    };
    let before = (bytes(".dedupdb"), bytes("copy"));
    let copy = |arguments: &[&str]| sandbox.run(&[&["--store", "copy"], arguments].concat());
    copy(&["check"]).expect(0);
    copy(&["query", "query.txt"]).expect(0);
    assert_eq!(copy(&["list"]).expect(0).lines().len(), 44);
    sandbox.run(&["check"]).expect(0);
    for store in ["copy", ".dedupdb"] {
        for command in [&["add", "query.txt"][..], &["compact"], &["reindex"]] {
            let ran = sandbox.run(&[&["--store", store], command].concat());
            let ran = ran.expect(2);
            let told = "this file has another name, too (a hard link)";
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
            assert!(ran.stderr.contains("`dedupdb backup`"), "{}", ran.stderr);
        }
    }
    assert!(before == (bytes(".dedupdb"), bytes("copy")));
    assert_eq!(sandbox.run(&["list"]).expect(0).lines().len(), 57);
    // What the message says to do works.
    copy(&["backup", "own"]).expect(0);
    sandbox.add(&["--store", "own", "pages.jsonl"], 0);
    fs::remove_dir_all(sandbox.path("copy")).unwrap();
    sandbox.add(&["query.txt"], 0);
    sandbox.run(&["check"]).expect(0);
}

/// Only a writer cuts what a killed one appended beyond the last commit.
#[test]
fn a_check_writes_to_no_column() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder"], 0);
    let path = sandbox.path(".dedupdb/shingles.1");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([7; 5000]);
    fs::write(&path, &bytes).unwrap();
    sandbox.run(&["check"]).expect(0);
    assert!(fs::read(&path).unwrap() == bytes);
    sandbox.add(&["pages.jsonl"], 0);
    sandbox.run(&["check"]).expect(0);
}
