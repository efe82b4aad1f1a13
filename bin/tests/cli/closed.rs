//! Output that goes nowhere is an error, and long keys do not fill the terminal.

use crate::sandbox::{Ran, Sandbox, text};

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_is_closed_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.jsonl",
        format!("{{\"id\": \"a\", \"text\": \"{}\"}}\n", text(1, 20)),
    );
    sandbox.add(&["a.jsonl"], 0);
    let program = env!("CARGO_BIN_EXE_dedupdb");
    for (arguments, code) in [
        ("list >&-", 2),
        ("--json list >&-", 2),
        ("dedup a.jsonl -o - >&-", 2),
        ("add a.jsonl >&-", 2),
        ("add -q a.jsonl >&-", 0),
        ("list >/dev/null", 0),
    ] {
        let mut shell = sandbox.shell(&format!("{program} {arguments}"));
        let ran = Ran::of(shell.output().unwrap()).expect(code);
        let told = "standard output: it is closed";
        assert_eq!(
            ran.stderr.contains(told),
            code == 2,
            "{arguments}: {}",
            ran.stderr
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn standard_input_that_is_closed_is_no_empty_text() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox
        .run_with(&["add", "-", "--key", "k"], text(1, 40).as_bytes())
        .expect(0);
    let program = env!("CARGO_BIN_EXE_dedupdb");
    for (arguments, code) in [
        ("add - --key k", 2),
        ("query -", 2),
        ("explain k -", 2),
        ("jaccard a.txt -", 2),
        ("dedup - --format jsonl -o out.jsonl", 2),
        ("map", 2),
        ("reduce", 2),
        ("remove --keys-from -", 2),
        ("list", 0),
    ] {
        let mut shell = sandbox.shell(&format!("{program} {arguments} <&-"));
        let ran = Ran::of(shell.output().unwrap()).expect(code);
        let told = ran.stderr.contains("it is closed") && ran.stderr.contains("standard input");
        assert_eq!(told, code == 2, "{arguments}: {}", ran.stderr);
    }
    assert!(!sandbox.path("out.jsonl").exists());
    let found = sandbox.run(&["query", "a.txt"]).expect(0);
    assert_eq!(found.lines(), ["a.txt\tk\t1.0000\texact copy"]);
}

#[test]
fn keys_that_are_too_long_are_cut_in_messages() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 20));
    sandbox.add(&["a.txt"], 0);
    let key = "x".repeat(70_000);
    for arguments in [
        &["query", "--key", &key][..],
        &["remove", &key],
        &["explain", &key, &key],
        &["show", &key],
        &["add", &key],
    ] {
        let ran = sandbox.run(arguments);
        assert!([Some(1), Some(2)].contains(&ran.code), "{}", ran.stderr);
        assert!(
            ran.stderr.len() < 2000,
            "{}: {}",
            arguments[0],
            ran.stderr.len()
        );
    }
}
