//! A file moves only if one that stays has all that it says.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::moving::{MOVE, UNDO};
use crate::sandbox::{Ran, Sandbox, text};

/// The files of `in` that would move.
fn moved(sandbox: &Sandbox, more: &[&str]) -> (Vec<String>, Ran) {
    let ran = sandbox.run(&[&MOVE[..], &["--dry-run"], more].concat());
    let ran = ran.expect(0);
    let lines = ran.lines().into_iter();
    let files = lines.map(|line| line.split('\t').next().unwrap().to_owned());
    let files: Vec<String> = files.collect();
    (files, ran)
}

/// Two texts that resemble each other.
fn written(one: &str, other: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let (start, end) = (text(1, 60), text(2, 60));
    sandbox.write("in/one.txt", format!("{start} {one} {end}\n"));
    sandbox.write("in/two.txt", format!("{start} {other} {end}\n"));
    sandbox
}

#[test]
fn what_has_something_of_its_own_stays() {
    for (one, other) in [
        ("für", "fÃ¼r"),
        ("home – it rained", "home \\u2013 it rained"),
        ("Zoë’s café", "Zo=EB=92s caf=E9"),
        ("Grüße", "Gruesse"),
        ("well \u{1f600} then", "well ???? then"),
        ("don't", "don?t"),
        ("☑ milk", "☐ milk"),
        ("-500 EUR", "500 EUR"),
        ("1,000 EUR", "1,000,000 EUR"),
        ("Anna Moore", "[name removed for privacy]"),
        ("DSHELL=/bin/zsh", "#DSHELL=/bin/bash"),
        ("yes", "<<<<<<< HEAD no ======= yes, maybe >>>>>>> other"),
        ("password: hunter2!", "password: hunter2?"),
    ] {
        let sandbox = written(one, other);
        let (files, ran) = moved(&sandbox, &[]);
        assert!(files.is_empty(), "{one}: {}", ran.stdout);
        let told = "1 file resembles one that lacks some of";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        let json = sandbox.run(&[&["--json"], &MOVE[..], &["--dry-run"]].concat());
        let json: Value = serde_json::from_str(&json.expect(0).stdout).unwrap();
        assert_eq!(json["differing"], 1, "{one}");
        for chosen in [&["--threshold", "0.8"][..], &["--keep", "first"]] {
            assert_eq!(moved(&sandbox, chosen).0.len(), 1, "{one} {chosen:?}");
        }
    }
}

#[test]
fn what_another_one_has_as_well_moves() {
    for (whole, part) in [
        ("a b", "a b"),
        ("a b", "a\r\n\t b"),
        ("the night tram runs again", "the night tram runs"),
        ("café", "cafe\u{301}"),
        ("soft hyphens", "so\u{ad}ft hy\u{2060}phens"),
    ] {
        let sandbox = written(whole, part);
        assert_eq!(moved(&sandbox, &[]).0.len(), 1, "{part:?}");
    }
    // A text may be cut off within a word.
    let sandbox = Sandbox::new();
    let whole = format!("{} unfinished end", text(1, 90));
    sandbox.write("in/z.txt", &whole);
    sandbox.write("in/a.txt", whole.strip_suffix("ished end").unwrap());
    assert_eq!(moved(&sandbox, &[]).0, ["in/a.txt"]);
}

#[test]
fn a_copy_of_a_version_that_stays_moves_because_of_that() {
    let sandbox = written("signed by Anna on Monday", "signed by Otto");
    let copy = fs::read_to_string(sandbox.path("in/two.txt")).unwrap();
    sandbox.write("in/two (1).txt", &copy);
    sandbox.write("in/two (2).txt", copy.replacen(' ', "\n", 9));
    let (mut files, ran) = moved(&sandbox, &[]);
    files.sort();
    assert_eq!(files, ["in/two (1).txt", "in/two (2).txt"]);
    for line in ran.lines() {
        let like: Vec<&str> = line.split('\t').skip(2).collect();
        assert_eq!(like[..2], ["in/two.txt", "1.0000"], "{line}");
    }
    // Two commands at once cannot take both: the one that stays is looked at again.
    sandbox.run(&MOVE).expect(0);
    assert!(sandbox.path("in/two.txt").exists());
    sandbox.run(&UNDO).expect(0);
    // With a folder to compare with, only the files there count.
    sandbox.write(
        "archive/one.txt",
        fs::read(sandbox.path("in/one.txt")).unwrap(),
    );
    let (files, _) = moved(&sandbox, &["--against", "archive"]);
    assert_eq!(files, ["in/one.txt"]);
    let (files, _) = moved(&sandbox, &["--against", "archive", "--threshold", "0.8"]);
    assert_eq!(files.len(), 4);
}

#[test]
fn a_link_to_a_folder_keeps_its_files() {
    let sandbox = Sandbox::new();
    for name in ["in/2024/plan.txt", "in/plan.txt"] {
        sandbox.write(name, text(1, 60));
    }
    symlink("2024", sandbox.path("in/current")).unwrap();
    let (files, ran) = moved(&sandbox, &[]);
    assert!(files.is_empty(), "{}", ran.stdout);
    let told = "in/2024/plan.txt: a symbolic link leads to its folder; it stays there";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}
