//! What the system allows a process: the size of its files, and how many are open.
#![cfg(unix)]

use crate::sandbox::{Ran, Sandbox, text};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for index in 0..3 {
        sandbox.write(format!("few/{index}.txt"), text(index, 40));
    }
    let line = |index| format!("{{\"id\":\"{index}\",\"text\":\"{}\"}}\n", text(index, 200));
    sandbox.write("many.jsonl", (10..500).map(line).collect::<String>());
    sandbox.run(&["add", "few"]).expect(0);
    sandbox
}

/// Runs the program under a limit, in the form that the shell takes.
fn run(sandbox: &Sandbox, limit: &str, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_dedupdb");
    // A process that another test starts at the same time may leak a descriptor into this one.
    let closing = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
    let line = format!("{closing}; ulimit {limit}; exec {program} {arguments}");
    Ran::of(sandbox.shell(&line).output().unwrap())
}

#[test]
fn a_file_that_may_not_grow_is_named_and_the_last_commit_stays() {
    let sandbox = sandbox();
    for (arguments, file) in [
        ("add -q many.jsonl", ".dedupdb/"),
        ("dedup -q many.jsonl -o out.jsonl", "out.jsonl"),
        (
            "dedup -q many.jsonl -o out.jsonl --keep longest",
            "out.jsonl",
        ),
        ("matrix -q many.jsonl -o out.npy", "out.npy"),
        ("backup copy", "copy"),
        ("salvage .dedupdb copy", "copy"),
    ] {
        let ran = run(&sandbox, "-f 60", arguments).expect(2);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{arguments}: {}", ran.stderr);
        assert!(
            lines[0].contains("File too large"),
            "{arguments}: {lines:?}"
        );
        assert!(lines[0].contains(file), "{arguments}: {lines:?}");
    }
    assert_eq!(sandbox.keys().len(), 3);
    sandbox.run(&["check"]).expect(0);
    for name in ["out.jsonl", "out.npy", "copy"] {
        assert!(!sandbox.path(name).exists(), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_be_opened_is_named() {
    let sandbox = sandbox();
    for arguments in ["list", "compact", "backup copy", "add -q few"] {
        let ran = run(&sandbox, "-n 4", arguments).expect(2);
        assert_eq!(ran.stderr.lines().count(), 1, "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains("Too many open files"), "{}", ran.stderr);
    }
    sandbox.run(&["check"]).expect(0);
    assert_eq!(sandbox.keys().len(), 3);
}
