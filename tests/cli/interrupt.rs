//! Ctrl-C during `add`.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::sandbox::{Sandbox, text};

fn interrupt(child: &Child) {
    let pid = child.id().to_string();
    let status = Command::new("kill").args(["-INT", &pid]).status();
    assert!(status.unwrap().success());
}

/// The exit code, or none of a program that does not end and is killed.
fn code(child: &mut Child) -> Option<i32> {
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap().code()
}

#[test]
fn ctrl_c_keeps_what_was_added_and_the_same_command_goes_on() {
    let sandbox = Sandbox::new();
    // The text on standard input never ends, so the signal finds the program at work.
    for seed in 0..200 {
        sandbox.write(format!("in/{seed}.txt"), text(seed / 2, 40));
    }
    let mut child = sandbox
        .command(&["add", "--matches", "in", "-", "--key", "endless"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = child.stderr.take().unwrap();
    let mut made = String::new();
    let mut stderr = BufReader::new(stderr);
    stderr.read_line(&mut made).unwrap();
    assert!(made.contains("made a store"), "{made}");
    let stdin = child.stdin.take();
    interrupt(&child);
    let code = code(&mut child);
    drop(stdin);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(code, Some(130), "{rest}");
    assert!(rest.contains("the same command goes on"), "{rest}");
    sandbox.run(&["check"]).expect(0);
    let kept = sandbox.keys().len();
    assert!(kept <= 200);
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["unchanged"], kept);
    assert_eq!(sandbox.keys().len(), 200);
}

#[test]
fn ctrl_c_ends_a_wait_for_standard_input() {
    let sandbox = Sandbox::new();
    for name in 0..50 {
        sandbox.write(format!("in/{name}.txt"), text(1, 40));
    }
    let mut child = sandbox
        .command(&["--json", "add", "--matches", "in", "-", "--key", "endless"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // The folder's matches are there while the program waits for the endless text.
    let mut lines = String::new();
    stdout.read_line(&mut lines).unwrap();
    interrupt(&child);
    assert_eq!(code(&mut child), Some(130));
    stdout.read_to_string(&mut lines).unwrap();
    let summary = lines.lines().last().unwrap();
    assert!(summary.contains("\"added\":50"), "{summary}");
    assert_eq!(sandbox.keys().len(), 50);
}
