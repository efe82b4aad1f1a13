//! Processes that are killed at any moment.
#![cfg(unix)]

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, patience, text};

/// The number of kills of each command.
const KILLS: u32 = 6;

/// A sandbox with a store of files, some of them near-copies, some removed again.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for number in 0..2000 {
        let end = if number % 5 == 0 { " at last" } else { "" };
        let words = text(number / 2, 60) + end;
        sandbox.write(format!("in/{number:04}.txt"), words);
    }
    sandbox.add(&["in"], 0);
    sandbox.run(&["remove", "--prefix", "in/1"]).expect(0);
    sandbox
}

/// The answers of the store, in an order that does not depend on its bands.
fn answers_of(sandbox: &Sandbox, store: &str) -> Vec<String> {
    let lines = |verb| {
        let ran = sandbox.run(&["--store", store, verb]).expect(0);
        let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    [lines("pairs"), lines("list")].concat()
}

fn answers(sandbox: &Sandbox) -> Vec<String> {
    answers_of(sandbox, ".dedupdb")
}

/// Runs a command and kills it after some time. Returns whether it had finished.
pub(crate) fn kill_after(sandbox: &Sandbox, arguments: &[&str], delay: Duration) -> bool {
    let mut child = sandbox
        .command(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap().success()
}

/// Kills `arguments` at moments that are spread over the time that they take. `restore` resets the store for the next
/// run.
fn kill_often(sandbox: &Sandbox, arguments: &[&str], restore: &dyn Fn()) {
    let expected = answers(sandbox);
    let start = Instant::now();
    sandbox.run(arguments).expect(0);
    let whole = start.elapsed();
    assert_eq!(answers(sandbox), expected);
    let rounds = KILLS * patience();
    let mut ended = 0;
    for round in 0..rounds {
        restore();
        let delay = whole * (2 * round + 1) / (2 * rounds);
        ended += u32::from(kill_after(sandbox, arguments, delay));
        sandbox.run(&["check"]).expect(0);
        assert_eq!(
            answers(sandbox),
            expected,
            "{arguments:?} killed after {delay:?}"
        );
        // The same command continues, or finds nothing more to do.
        let again = sandbox.run(arguments);
        assert!(matches!(again.code, Some(0 | 1)), "{}", again.stderr);
        sandbox.run(&["check"]).expect(0);
        assert_eq!(
            answers(sandbox),
            expected,
            "{arguments:?} after {delay:?}, again"
        );
    }
    // With this many moments, not all can be after the end.
    assert!(
        ended < rounds,
        "{arguments:?} was never killed before its end"
    );
}

#[test]
fn a_killed_reindex_leaves_the_store_whole() {
    let sandbox = sandbox();
    let arguments = ["reindex", "--permutations", "512", "--bands", "17x7"];
    kill_often(&sandbox, &arguments, &|| {
        let back = ["reindex", "--permutations", "128", "--bands", "17x7"];
        sandbox.run(&back);
    });
}

#[test]
fn a_killed_compact_leaves_the_store_whole() {
    let sandbox = sandbox();
    kill_often(&sandbox, &["compact"], &|| {
        // Without anything to free, it would be over at once.
        sandbox.add(&["in"], 0);
        sandbox.run(&["remove", "--prefix", "in/1"]).expect(0);
    });
}

#[test]
fn a_killed_merge_is_finished_by_the_next() {
    let sandbox = sandbox();
    let expected = answers(&sandbox);
    let merge = ["--store", "all", "merge", ".dedupdb"];
    let start = Instant::now();
    sandbox.run(&merge).expect(0);
    let whole = start.elapsed();
    let rounds = KILLS * patience();
    for round in 0..rounds {
        std::fs::remove_dir_all(sandbox.path("all")).unwrap();
        let delay = whole * (2 * round + 1) / (2 * rounds);
        kill_after(&sandbox, &merge, delay);
        sandbox.run(&merge).expect(0);
        sandbox.run(&["--store", "all", "check"]).expect(0);
        assert_eq!(answers_of(&sandbox, "all"), expected, "after {delay:?}");
    }
}

#[test]
fn a_killed_backup_leaves_no_copy_or_a_whole_one() {
    let sandbox = sandbox();
    let expected = answers(&sandbox);
    let backup = ["backup", "copy"];
    let start = Instant::now();
    sandbox.run(&backup).expect(0);
    let whole = start.elapsed();
    let rounds = KILLS * patience();
    for round in 0..rounds {
        std::fs::remove_dir_all(sandbox.path("copy")).unwrap();
        let delay = whole * (2 * round + 1) / (2 * rounds);
        kill_after(&sandbox, &backup, delay);
        if !sandbox.path("copy").exists() {
            sandbox.run(&backup).expect(0);
        }
        sandbox.run(&["--store", "copy", "check"]).expect(0);
        assert_eq!(answers_of(&sandbox, "copy"), expected);
    }
}
