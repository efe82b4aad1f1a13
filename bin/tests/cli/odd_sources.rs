//! Sources and stores that are neither file nor folder: devices, sockets, and what cannot be read.
#![cfg(target_os = "linux")]

use std::os::unix::net::UnixListener;

use crate::sandbox::{Ran, Sandbox};

/// A sandbox with a store, and a socket.
fn sandbox() -> (Sandbox, UnixListener) {
    let sandbox = Sandbox::with_testdata();
    sandbox.run(&["add", "folder"]).expect(0);
    let socket = UnixListener::bind(sandbox.path("socket")).unwrap();
    (sandbox, socket)
}

/// The only line on standard error.
fn line(ran: Ran, code: i32) -> String {
    let ran = ran.expect(code);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    ran.stderr
}

#[test]
fn a_device_and_a_socket_are_left_out_with_a_word() {
    let (sandbox, _socket) = sandbox();
    let before = sandbox.contents();
    for (source, reason) in [
        ("/dev/zero", "device"),
        ("/dev/full", "device"),
        ("socket", "socket"),
    ] {
        let summary = sandbox.add(&[source], 2);
        assert_eq!(summary["skipped"][reason], 1, "{summary}");
        let ran = sandbox.run(&["query", source]).expect(2);
        let told = format!("dedupdb: {source}: {reason}\n");
        assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
        let told = line(sandbox.run(&["jaccard", "query.txt", source]), 2);
        assert_eq!(told, format!("dedupdb: {source}: {reason}\n"));
        let ran = sandbox.run(&["map", source]).expect(2);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        for verb in [
            &["merge", source][..],
            &["salvage", source, "saved"],
            &["backup", source],
            &["salvage", ".dedupdb", source],
            &["stats", "--store", source],
            &["add", "folder", "--store", source],
        ] {
            let told = line(sandbox.run(verb), 2);
            assert!(told.starts_with(&format!("dedupdb: {source}: ")), "{told}");
        }
    }
    assert_eq!(sandbox.contents(), before);
    sandbox.run(&["check"]).expect(0);
    assert!(!sandbox.path("saved").exists());
}

#[test]
fn a_source_that_the_system_cannot_read_is_named() {
    let (sandbox, _socket) = sandbox();
    let before = sandbox.contents();
    // Its first page is not mapped.
    let source = "/proc/self/mem";
    let reason = "/proc/self/mem: Input/output error";
    for verb in [
        &["add", "--quiet", source][..],
        &["query", source],
        &["jaccard", "query.txt", source],
        &["dedup", "--quiet", source, "-o", "out"],
        &["map", "--quiet", source],
    ] {
        let told = sandbox.run(verb).expect(2).stderr;
        let mut lines = told.lines();
        assert!(lines.next().unwrap().contains(reason), "{told}");
        // A dedup says what happens to its output.
        let output = "dedupdb: /proc/self/mem could not be read, so nothing is written (leave it out, or give \
                      --skip-unreadable)";
        assert!(lines.all(|line| line == output), "{told}");
    }
    assert_eq!(sandbox.contents(), before);
}

#[test]
fn a_full_device_as_standard_output_is_named_with_what_to_do() {
    use std::fs::File;
    use std::process::Command;
    let (sandbox, _socket) = sandbox();
    let full = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dedupdb"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        command.current_dir(sandbox.path("")).args(arguments);
        line(Ran::of(command.stdout(full).output().unwrap()), 2)
    };
    let reason =
        "No space left on device (os error 28); make room there, or write to another place\n";
    let list = full(&["list"]);
    assert_eq!(list, format!("dedupdb: standard output: {reason}"));
    let dedup = full(&["dedup", "-q", "pages.jsonl", "-o", "-"]);
    assert_eq!(
        dedup,
        format!("dedupdb: the stream of the output: {reason}")
    );
}
