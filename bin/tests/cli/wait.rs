//! `--wait`: two processes and one store.

use std::io::Write;
use std::process::{self, Stdio};

use dedupdb::{Store, Writer};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, text};

/// A store, and a writer of this process that has the right to write to it.
fn held(sandbox: &Sandbox) -> Writer {
    sandbox.run(&["--store", "s", "init"]).expect(0);
    let mut writer = Store::open(sandbox.path("s")).unwrap().writer().unwrap();
    writer.add("held", text(9, 40)).unwrap();
    writer
}

#[test]
fn who_does_not_wait_is_told_who_writes() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    let mut writer = held(&sandbox);
    let who = format!(
        "process {} has been writing to the store since 2",
        process::id()
    );
    for arguments in [
        &["add", "a.txt"][..],
        &["remove", "x"],
        &["compact"],
        &["check"],
    ] {
        let wait = ["--store", "s", "--wait", "10ms"];
        let ran = sandbox.run(&[&wait, arguments].concat()).expect(75);
        assert!(ran.stderr.contains(&who), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let ran = sandbox.run(&[&wait[..], &["--json"], arguments].concat());
        let told: Value = serde_json::from_str(&ran.expect(75).stderr).unwrap();
        let error = &told["error"];
        assert_eq!(
            (&error["kind"], &error["path"]),
            (&json!("busy"), &json!("s"))
        );
        assert!(error["message"].as_str().unwrap().contains(&who), "{error}");
    }
    let stats = sandbox.run(&["--store", "s", "--json", "stats"]).expect(0);
    let holder = &stats.objects()[0]["holder"];
    assert_eq!(holder["process"], process::id());
    assert!(holder["since"].as_str().unwrap().starts_with("20"));
    writer.commit().unwrap();
    assert!(!sandbox.path("s/holder").exists());
    // The writer exists, and writes nothing.
    sandbox.run(&["--store", "s", "add", "a.txt"]).expect(0);
    sandbox.run(&["--store", "s", "check"]).expect(0);
    writer.add("again", text(8, 40)).unwrap();
    writer.commit().unwrap();
    let ran = sandbox.run(&["--store", "s", "list"]).expect(0);
    assert_eq!(ran.lines(), ["a.txt", "again", "held"]);
}

#[test]
fn who_waits_gets_the_store() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    let mut writer = held(&sandbox);
    let wait = ["--store", "s", "--wait", "300"];
    let spawn = |arguments: &[&str]| {
        sandbox
            .command(&[&wait, arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let waiting = [
        spawn(&["add", "a.txt"]),
        spawn(&["add", "a.txt"]),
        spawn(&["check"]),
    ];
    writer.commit().unwrap();
    for child in waiting {
        Ran::of(child.wait_with_output().unwrap()).expect(0);
    }
    let ran = sandbox.run(&["--store", "s", "list"]).expect(0);
    assert_eq!(ran.lines(), ["a.txt", "held"]);
}

#[test]
fn who_waits_for_input_keeps_nobody_from_writing() {
    let sandbox = Sandbox::new();
    sandbox.run(&["--store", "s", "init"]).expect(0);
    sandbox.write("a.txt", text(1, 40));
    let mut endless = sandbox
        .command(&["--store", "s", "add", "-", "--key", "endless"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for arguments in [
        &["add", "a.txt"][..],
        &["reindex", "--permutations", "64"],
        &["check"],
    ] {
        let ran = sandbox.run(&[&["--store", "s"], arguments].concat());
        ran.expect(0);
    }
    let mut stdin = endless.stdin.take().unwrap();
    stdin.write_all(text(2, 40).as_bytes()).unwrap();
    drop(stdin);
    Ran::of(endless.wait_with_output().unwrap()).expect(0);
    let ran = sandbox.run(&["--store", "s", "list"]).expect(0);
    assert_eq!(ran.lines(), ["a.txt", "endless"]);
    sandbox.run(&["--store", "s", "check"]).expect(0);
}

#[test]
fn readers_do_not_wait() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.write("b.txt", text(1, 40) + " more");
    sandbox.add(&["--store", "s", "a.txt", "b.txt"], 0);
    let mut writer = Store::open(sandbox.path("s")).unwrap().writer().unwrap();
    writer.add("held", text(9, 40)).unwrap();
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
    drop(writer);
    for store in ["s", "copy"] {
        let ran = sandbox.run(&["--store", store, "list"]).expect(0);
        assert_eq!(ran.lines(), ["a.txt", "b.txt"]);
        sandbox.run(&["--store", store, "check"]).expect(0);
    }
}
