//! `--files-from`: a list of the files to read.

use std::fs;

use crate::sandbox::{Sandbox, text};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a b.txt", text(1, 30));
    sandbox.write("copy.txt", text(1, 30));
    sandbox.write("other.txt", text(2, 30));
    sandbox
}

#[test]
fn listed_files_are_read_behind_those_that_are_named() {
    let sandbox = sandbox();
    sandbox.write("lines", "a b.txt\r\n\ncopy.txt\n");
    sandbox.write("nul", "a b.txt\0copy.txt\0");
    for list in ["lines", "nul"] {
        let store = format!("store-{list}");
        let add = ["--store", &store, "add", "other.txt", "--files-from", list];
        sandbox.run(&add).expect(0);
        let listed = sandbox.run(&["--store", &store, "pairs"]).expect(0);
        assert_eq!(listed.stdout, "a b.txt\tcopy.txt\t1.0000\texact copy\n");
        let query = ["--store", &store, "query", "--files-from", list];
        assert_eq!(sandbox.run(&query).expect(0).lines().len(), 2);
    }
    let piped = ["dedup", "--files-from", "-", "-o", "out"];
    let ran = sandbox.run_with(&piped, b"a b.txt\ncopy.txt\nother.txt\n");
    ran.expect(0);
    assert_eq!(std::fs::read_dir(sandbox.path("out")).unwrap().count(), 2);
}

#[test]
fn a_list_without_files_is_an_error_and_so_is_a_file_that_is_missing() {
    let sandbox = sandbox();
    sandbox.write("empty", "\n\n");
    sandbox.write("gone", "a b.txt\nno such file\n");
    for (list, told) in [
        ("empty", "empty: it names no file"),
        ("nowhere", "nowhere: there is no such file"),
        ("gone", "no such file: there is no such file"),
    ] {
        let ran = sandbox
            .run(&["dedup", "--files-from", list, "-o", "out"])
            .expect(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert!(!sandbox.path("out").exists());
    }
    let ran = sandbox
        .run(&["add", "-", "--key", "x", "--files-from", "-"])
        .expect(2);
    assert!(
        ran.stderr.contains("cannot be an input and the list"),
        "{}",
        ran.stderr
    );
    let both = [
        "report",
        "--sources",
        "a other.txt",
        "--files-from",
        "gone",
        "-o",
        "r.html",
    ];
    sandbox.run(&both).expect(2);
}

#[test]
fn lists_and_templates_that_are_read_are_not_replaced() {
    let sandbox = sandbox();
    sandbox.write("list", "copy.txt\n");
    for line in [
        "dedup --files-from list -o list --force",
        "dedup --files-from list -o out --removed list --force",
        "dedup copy.txt --ignore list -o list --force",
        "decontaminate copy.txt --against other.txt --ignore list --hits list --force",
    ] {
        let ran = sandbox.run(&line.split(' ').collect::<Vec<_>>()).expect(2);
        assert!(ran.stderr.contains("this is an input"), "{}", ran.stderr);
        assert_eq!(
            fs::read_to_string(sandbox.path("list")).unwrap(),
            "copy.txt\n"
        );
    }
}
