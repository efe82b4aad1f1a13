//! Another store takes the place of one that a command works on.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::sandbox::{Sandbox, patience, text};

/// The number of moments at which each command is stopped.
const MOMENTS: u32 = 2;

fn records(documents: u64) -> String {
    let record = |id| json!({ "id": id, "text": text(id, 60) }).to_string() + "\n";
    (0..documents).map(record).collect()
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([name, &pid])
            .status()
            .unwrap()
            .success()
    );
}

/// A sandbox with a store `one` that takes a while to rebuild, and a small one, `two`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("many.jsonl", records(8000));
    sandbox.write("few.jsonl", records(10));
    sandbox.add(&["--store", "one", "many.jsonl"], 0);
    sandbox
        .run(&["--store", "one", "remove", "--prefix", "1"])
        .expect(0);
    sandbox.add(&["--store", "two", "few.jsonl"], 0);
    sandbox
}

fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let mut command = sandbox.command(&[&["--store", "one"], arguments].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for(what: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if what() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("it took too long");
}

/// Moves the store `one` to `aside`, and `two` to its place.
fn replace(sandbox: &Sandbox) {
    fs::rename(sandbox.path("one"), sandbox.path("aside")).unwrap();
    fs::rename(sandbox.path("two"), sandbox.path("one")).unwrap();
}

/// Waits for the command, which must say what happened, and looks at both stores.
fn look_at_both(sandbox: &Sandbox, mut child: Child) {
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2), "{stderr}");
    let told = "the store's folder was moved, replaced or deleted while the store was open";
    assert!(stderr.contains(told), "{stderr}");
    for (store, documents) in [("one", 10), ("aside", 6889)] {
        let run = |arguments: &[&str]| {
            let ran = sandbox.run(&[&["--store", store], arguments].concat());
            ran.expect(0)
        };
        run(&["check"]);
        assert_eq!(run(&["list"]).lines().len(), documents, "{store}");
        sandbox.write("new.txt", text(9999, 60));
        let added = run(&["add", "new.txt"]).stderr;
        assert!(store == "one" || added.is_empty(), "{added}");
        run(&["show", "new.txt"]);
        run(&["reindex", "--permutations", "256"]);
        run(&["remove", "new.txt"]);
        run(&["compact"]);
        run(&["check"]);
        assert_eq!(run(&["list"]).lines().len(), documents, "{store}");
    }
}

#[test]
fn a_rebuild_notices_that_its_store_is_another_one() {
    for command in [&["compact"][..], &["reindex", "--permutations", "1024"]] {
        for moment in 0..MOMENTS * patience() {
            let sandbox = sandbox();
            let mut child = start(&sandbox, command);
            wait_for(|| sandbox.path("one/index.redb.next").exists());
            thread::sleep(Duration::from_millis(10) * moment);
            signal(&child, "-STOP");
            if !sandbox.path("one/index.redb.next").exists() {
                // It is done.
                signal(&child, "-CONT");
                child.wait().unwrap();
                break;
            }
            replace(&sandbox);
            signal(&child, "-CONT");
            look_at_both(&sandbox, child);
        }
    }
}

#[test]
fn an_add_notices_that_its_store_is_another_one() {
    let sandbox = sandbox();
    let mut child = start(&sandbox, &["add", "--format", "jsonl", "-"]);
    let mut stdin = child.stdin.take().unwrap();
    // More than the pipe holds, so the program is at work once all of it is written.
    let half = records(2000).replace("\"id\":", "\"id\":9");
    stdin.write_all(half.as_bytes()).unwrap();
    replace(&sandbox);
    stdin
        .write_all(half.replace("\"id\":9", "\"id\":99").as_bytes())
        .unwrap();
    drop(stdin);
    look_at_both(&sandbox, child);
}
