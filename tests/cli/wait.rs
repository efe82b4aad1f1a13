//! `--wait`: two processes and one store.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use crate::sandbox::{Ran, Sandbox, text};

/// A process that has the store open for writing until its standard input ends.
fn holder(sandbox: &Sandbox) -> Child {
    let mut child = sandbox
        .command(&["--store", "s", "add", "-", "--key", "endless"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut made = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut made).unwrap();
    assert!(made.contains("made a store"), "{made}");
    child.stderr = Some(stderr.into_inner());
    child
}

#[test]
fn who_does_not_wait_is_told_who_has_the_store() {
    let sandbox = Sandbox::new();
    let mut child = holder(&sandbox);
    let who = format!("process {} has had the store open since 2", child.id());
    for arguments in [
        &["--store", "s", "add", "-", "--key", "x"][..],
        &["--store", "s", "remove", "x", "--wait", "1"],
        &["--store", "s", "check"],
        &["--store", "s", "init"],
    ] {
        let ran = sandbox.run(arguments).expect(2);
        let is_init = arguments.contains(&"init");
        assert!(is_init || ran.stderr.contains(&who), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What the killed process left in the folder does no harm, and is gone after the next writer.
    assert!(sandbox.path("s/holder").exists());
    let keys = ["--store", "s", "remove", "x"];
    sandbox.run(&keys).expect(1);
    assert!(!sandbox.path("s/holder").exists());
}

#[test]
fn who_waits_gets_the_store() {
    let sandbox = Sandbox::new();
    let mut first = holder(&sandbox);
    sandbox.write("a.txt", text(1, 40));
    let wait = ["--store", "s", "--wait", "300"];
    let spawn = |arguments: &[&str]| {
        sandbox
            .command(&[&wait, arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let waiting = [spawn(&["add", "a.txt"]), spawn(&["add", "a.txt"])];
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(b"the first to come").unwrap();
    drop(stdin);
    Ran::of(first.wait_with_output().unwrap()).expect(0);
    for child in waiting {
        Ran::of(child.wait_with_output().unwrap()).expect(0);
    }
    let ran = sandbox.run(&["--store", "s", "list"]).expect(0);
    assert_eq!(ran.lines(), ["a.txt", "endless"]);
}

#[test]
fn readers_do_not_wait() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.write("b.txt", text(1, 40) + " more");
    sandbox.add(&["--store", "s", "a.txt", "b.txt"], 0);
    let mut child = sandbox
        .command(&["--store", "s", "add", "-", "--key", "endless"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !sandbox.path("s/holder").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::yield_now();
    }
    for arguments in [
        &["query", "a.txt"][..],
        &["list"],
        &["show", "a.txt"],
        &["stats"],
        &["pairs"],
        &["tune"],
        &["backup", "copy"],
    ] {
        sandbox
            .run(&[&["--store", "s"], arguments].concat())
            .expect(0);
    }
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().unwrap();
    child.wait().unwrap();
    for store in ["s", "copy"] {
        let ran = sandbox.run(&["--store", store, "list"]).expect(0);
        assert_eq!(ran.lines(), ["a.txt", "b.txt"]);
        sandbox.run(&["--store", store, "check"]).expect(0);
    }
}
