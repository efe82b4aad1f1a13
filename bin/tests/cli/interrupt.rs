//! Ctrl-C while something is read or written.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use dedupdb::{Schema, Store};

use crate::sandbox::{Sandbox, text};

fn interrupt(child: &Child) {
    signal(child, "-INT");
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    until_caught(&pid);
    let status = Command::new("kill").args([name, &pid]).status();
    assert!(status.unwrap().success());
}

/// Waits until a process catches signals, if the system reports that. Before that, signals end the process.
fn until_caught(pid: &str) {
    let caught = |status: &str| {
        let masks = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(masks.unwrap_or("").trim(), 16);
        mask.is_ok_and(|mask| mask >> 1 & 1 == 1)
    };
    for _ in 0..600 {
        match fs::read_to_string(format!("/proc/{pid}/status")) {
            Ok(status) if !caught(&status) => thread::sleep(Duration::from_millis(50)),
            _ => return,
        }
    }
}

/// The exit code. A program that does not end is killed and has none.
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
    assert!(rest.contains("the same command continues"), "{rest}");
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
    // The folder's matches appear while the program waits for the endless text.
    let mut lines = String::new();
    stdout.read_line(&mut lines).unwrap();
    interrupt(&child);
    assert_eq!(code(&mut child), Some(130));
    stdout.read_to_string(&mut lines).unwrap();
    let summary = lines.lines().last().unwrap();
    assert!(summary.contains("\"added\":50"), "{summary}");
    assert_eq!(sandbox.keys().len(), 50);
}

#[test]
fn ctrl_c_after_everything_is_stored_is_no_success() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    sandbox.add(&["in"], 0);
    fs::create_dir(sandbox.path("empty")).unwrap();
    // Nobody reads the pipe and it is full, so the program waits to write its summary.
    let (mut reader, writer) = io::pipe().unwrap();
    let mut filler = writer.try_clone().unwrap();
    let filling = thread::spawn(move || filler.write_all("\n".repeat(1 << 20).as_bytes()));
    thread::sleep(Duration::from_millis(200));
    let mut child = sandbox
        .command(&["add", "empty"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    stderr.read_line(&mut told).unwrap();
    assert!(told.contains("there was nothing to add"), "{told}");
    interrupt(&child);
    thread::sleep(Duration::from_millis(200));
    reader.read_to_end(&mut Vec::new()).unwrap();
    filling.join().unwrap().unwrap();
    assert_eq!(code(&mut child), Some(130));
    stderr.read_to_string(&mut told).unwrap();
    assert!(told.contains("stopped; everything is stored"), "{told}");
}

/// Runs a command whose input never ends, interrupts it after these bytes, and returns what it wrote
/// to standard output and standard error.
fn interrupted(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> (String, String) {
    let stdout = File::create(sandbox.path("stdout")).unwrap();
    let mut child = sandbox
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than the pipe holds, so the program is at work once all of it is written.
    assert!(input.len() > 1 << 20, "{}", input.len());
    stdin.write_all(input).unwrap();
    interrupt(&child);
    let code = code(&mut child);
    drop(stdin);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(code, Some(130), "{arguments:?}: {stderr}");
    (fs::read_to_string(sandbox.path("stdout")).unwrap(), stderr)
}

/// Records of some text, more than a pipe holds.
fn records() -> Vec<u8> {
    let record = |number| {
        format!(
            "{{\"id\": \"{number}\", \"text\": \"{}\"}}\n",
            text(number, 100)
        )
    };
    (0..2500).map(record).collect::<String>().into_bytes()
}

#[test]
fn ctrl_c_leaves_no_half_of_a_matrix_or_of_figures() {
    let sandbox = Sandbox::new();
    sandbox.write("old.csv", "old");
    let of_records = ["--format", "jsonl", "-", "-o", "old.csv"];
    for asked in [
        &["matrix", "--keys", "keys"][..],
        &["eval", "bands", "--plot", "picture.svg"],
        &["eval", "accuracy"],
    ] {
        let (stdout, stderr) = interrupted(&sandbox, &[asked, &of_records].concat(), &records());
        assert_eq!(stdout, "");
        assert_eq!(stderr, "dedupdb: stopped; nothing is written\n");
        assert_eq!(fs::read_to_string(sandbox.path("old.csv")).unwrap(), "old");
        assert_eq!(sandbox.names(), ["old.csv", "stdout"]);
    }
}

#[test]
fn ctrl_c_ends_a_dry_run() {
    let sandbox = Sandbox::new();
    let dry = ["add", "--dry-run", "--format", "jsonl", "-"];
    let (_, stderr) = interrupted(&sandbox, &dry, &records());
    let told = "dedupdb: this was a dry run: nothing was stored\n\
                dedupdb: stopped; the rest was not looked at\n";
    assert_eq!(stderr, told);
    assert_eq!(sandbox.names(), ["stdout"]);
}

#[test]
fn ctrl_c_cuts_no_line_of_map_and_reduce() {
    let sandbox = Sandbox::new();
    let (lines, stderr) = interrupted(&sandbox, &["map"], &records());
    assert!(lines.is_empty() || lines.ends_with('\n'));
    assert_eq!(stderr, "dedupdb: stopped; these are not all lines\n");
    let mut sorted: Vec<u8> = sandbox
        .run_with(&["map"], &records())
        .expect(0)
        .stdout
        .into_bytes();
    let mut lines: Vec<&[u8]> = sorted.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    sorted = lines.concat();
    let (pairs, stderr) = interrupted(&sandbox, &["reduce"], &sorted);
    assert!(pairs.is_empty() || pairs.ends_with('\n'));
    assert_eq!(stderr, "dedupdb: stopped; these are not all pairs\n");
}

#[test]
fn the_exit_code_tells_the_signal() {
    for (name, expected) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let sandbox = Sandbox::new();
        let mut child = sandbox
            .command(&["add", "-", "--key", "endless"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut made = String::new();
        stderr.read_line(&mut made).unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // More than the pipe holds, so the program is at work once all of it is written.
        stdin.write_all(&vec![b'a'; 1 << 20]).unwrap();
        signal(&child, name);
        assert_eq!(code(&mut child), Some(expected), "{name}");
        drop(stdin);
    }
}

/// Whether a process catches the signal of Ctrl-C, if the system reports that.
fn catches_interrupt(pid: u32) -> Option<bool> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    Some(mask >> 1 & 1 == 1)
}

#[test]
fn ctrl_c_is_caught_before_anything_is_made() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    for (arguments, made) in [
        (&["add", "-", "--key", "endless"][..], ".dedupdb"),
        (
            &["dedup", "-", "--format", "jsonl", "-o", "out.jsonl"],
            ".out.jsonl.dedup",
        ),
        (
            &["dedup", "-", "--format", "jsonl", "-o", "-", "--store", "s"],
            "s",
        ),
    ] {
        let mut child = sandbox.piped(arguments);
        let stdin = child.stdin.take();
        while !sandbox.path(made).exists() {
            assert!(child.try_wait().unwrap().is_none(), "{arguments:?}");
            thread::yield_now();
        }
        let catches = catches_interrupt(child.id());
        interrupt(&child);
        assert_eq!(code(&mut child), Some(130), "{arguments:?}");
        assert_ne!(catches, Some(false), "{arguments:?}");
        drop(stdin);
    }
}

#[test]
fn ctrl_c_ends_a_wait_for_the_store() {
    let sandbox = Sandbox::new();
    let spawn = |arguments: &[&str]| {
        sandbox
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let store = Store::create(sandbox.path(".dedupdb"), &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    writer.add("held", "a text").unwrap();
    sandbox.write("in.jsonl", "{\"id\": 1, \"text\": \"a b c d e f\"}\n");
    for (arguments, word) in [
        (
            &["add", "in.jsonl", "--wait", "1h"][..],
            "nothing was stored",
        ),
        (
            &[
                "dedup", "in.jsonl", "-o", "out", "--store", ".dedupdb", "--wait", "1h",
            ],
            "out is not written",
        ),
    ] {
        let mut child = spawn(arguments);
        let mut stderr = child.stderr.take().unwrap();
        interrupt(&child);
        assert_eq!(code(&mut child), Some(130), "{arguments:?}");
        let mut told = String::new();
        stderr.read_to_string(&mut told).unwrap();
        assert!(told.contains(word), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    assert_eq!(sandbox.names(), [".dedupdb", "in.jsonl"]);
}
