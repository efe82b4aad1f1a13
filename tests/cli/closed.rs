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
