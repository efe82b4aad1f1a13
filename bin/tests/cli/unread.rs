//! A reader of standard output that goes away: the work is done, and no error is hidden.

use std::fs;
use std::io;

use crate::sandbox::Sandbox;

/// Runs the program with a standard output that nobody reads, and returns its exit code.
fn unread(sandbox: &Sandbox, arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let status = sandbox.command(arguments).stdout(writer).status();
    status.unwrap().code()
}

#[test]
fn the_exit_code_is_that_of_the_work() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox.write("bad.jsonl", "{\"id\": 1, \"body\": \"no text\"}\n");
    for (arguments, code) in [
        (&["add", "bad.jsonl"][..], 2),
        (&["--json", "add", "bad.jsonl"], 2),
        (&["add", "--strict", "bad.jsonl"], 2),
        (&["add", "--matches", "bad.jsonl", "query.txt"], 2),
        (&["query", "query.txt"], 0),
        (&["query", "bad.jsonl", "query.txt"], 2),
        (&["list"], 0),
        (&["pairs"], 0),
        (&["check"], 0),
        (&["explain", "page-01", "page-02"], 1),
        (&["remove", "no such key"], 1),
        (&["remove", "page-01"], 0),
    ] {
        assert_eq!(unread(&sandbox, arguments), Some(code), "{arguments:?}");
    }
    assert!(sandbox.keys().contains(&"query.txt".to_owned()));
    assert!(!sandbox.keys().contains(&"page-01".to_owned()));
    let file = sandbox.path(".dedupdb/shingles.1");
    let mut bytes = fs::read(&file).unwrap();
    bytes[5000] ^= 0x10;
    fs::write(&file, bytes).unwrap();
    for (arguments, code) in [(&["check"][..], 2), (&["salvage", ".dedupdb", "saved"], 1)] {
        assert_eq!(unread(&sandbox, arguments), Some(code), "{arguments:?}");
    }
}
