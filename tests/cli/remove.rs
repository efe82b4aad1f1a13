//! `remove`: by key, by prefix, and what is missing.

use std::fs;

use crate::sandbox::Sandbox;

fn filled() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox
}

#[test]
fn removed_documents_are_not_found_any_more() {
    let sandbox = filled();
    let key = "folder/news/library-night.txt";
    let ran = sandbox.run(&["remove", key, "page-02"]).expect(0);
    assert_eq!(ran.stdout, "removed 2 documents\n");
    sandbox.run(&["query", "query.txt"]).expect(1);
    sandbox.run(&["show", key]).expect(1);
    let ran = sandbox.run(&["remove", key]).expect(1);
    assert_eq!(ran.stdout, "removed 0 documents\n");
    assert!(
        ran.stderr
            .contains(&format!("{key}: no document has this key"))
    );
}

#[test]
fn a_prefix_removes_all_below_it() {
    let sandbox = filled();
    let ran = sandbox
        .run(&["--json", "remove", "--prefix", "page-"])
        .expect(0);
    assert_eq!(ran.objects()[0]["removed"], 13);
    assert_eq!(sandbox.keys().len(), 44);
    sandbox.run(&["remove", "--prefix", "page-"]).expect(1);
    sandbox.run(&["remove"]).expect(2);
    sandbox.run(&["remove", "--prefix", "a", "b"]).expect(2);
}

#[test]
fn missing_removes_documents_whose_files_are_gone() {
    let sandbox = filled();
    sandbox.run(&["remove", "--missing"]).expect(1);
    fs::remove_file(sandbox.path("folder/docs/tally.rs")).unwrap();
    fs::remove_file(sandbox.path("folder/mail/tiny-note.txt")).unwrap();
    fs::remove_file(sandbox.path("pages.jsonl")).unwrap();
    let ran = sandbox
        .run(&["remove", "--missing", "--prefix", "folder/docs/"])
        .expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
    let ran = sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
    // Records have no files of their own.
    assert_eq!(sandbox.keys().len(), 55);
}

#[test]
fn missing_refuses_to_remove_everything() {
    let sandbox = filled();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    let mut command = sandbox.command(&["remove", "--missing", "--store", "../.dedupdb"]);
    command.current_dir(sandbox.path("elsewhere"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(sandbox.keys().len(), 57);
}
