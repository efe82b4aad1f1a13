//! Symbolic links, hard links and pipes among the inputs: a file is one document, whatever its names.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::dedup::files;
use crate::sandbox::{Ran, Sandbox, text};

/// A folder with a text, and a link to it that comes first by name.
fn linked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in/note.txt", text(1, 40));
    symlink("note.txt", sandbox.path("in/a-link.txt")).unwrap();
    sandbox
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

#[test]
fn a_link_is_passed_over_and_counted() {
    let sandbox = linked();
    symlink("../in", sandbox.path("in/up")).unwrap();
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["skipped"], json!({ "symbolic link": 2 }));
    assert_eq!(sandbox.keys(), ["in/note.txt"]);
    let ran = sandbox.run(&["clusters", "--min-size", "1"]).expect(0);
    assert!(ran.stdout.contains("in/note.txt"), "{}", ran.stdout);
}

#[test]
fn a_link_that_took_the_place_of_a_stored_file_is_not_that_file() {
    let sandbox = linked();
    sandbox.write("in/z.txt", text(1, 40));
    let shell = |line: &str| assert!(sandbox.shell(line).status().unwrap().success());
    // The link leads to a file of the stored size and time.
    shell("touch -r in/note.txt in/z.txt && rm in/a-link.txt && ln -s note.txt in/a-link.txt");
    sandbox.add(&["in/z.txt", "in/a-link.txt"], 0);
    let list = ["list", "--json"];
    let states = |ran: &Ran| {
        let files = ran.objects().into_iter().map(|found| found["file"].clone());
        files.collect::<Vec<_>>()
    };
    assert_eq!(
        states(&sandbox.run(&list).expect(0)),
        [json!(null), json!(null)]
    );
    shell("ln -sf note.txt in/z.txt && touch -h -t 203001010000 in/z.txt");
    // The other one was a link when it was stored.
    assert_eq!(
        states(&sandbox.run(&list).expect(0)),
        [json!(null), json!("gone")]
    );
    let query = sandbox.run(&["query", "--json", "--key", "in/a-link.txt"]);
    assert_eq!(states(&query.expect(0)), [json!("gone")]);
    let ran = sandbox.run(&["pairs"]).expect(0);
    let said = "1 of these files no longer exists (first: in/z.txt)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(sandbox.keys(), ["in/a-link.txt"]);
    assert_eq!(read(&sandbox, "in/z.txt"), text(1, 40));
}

#[test]
fn a_file_is_never_removed_for_the_sake_of_a_link_to_it() {
    for options in [&[][..], &["--follow"]] {
        let sandbox = linked();
        let list = ["dedup", "in", "-o", "keep", "--list", "--removed", "rm"];
        sandbox.run(&[&list, options].concat()).expect(0);
        assert_eq!(read(&sandbox, "keep"), "in/note.txt\n");
        assert_eq!(read(&sandbox, "rm"), "");
        let copy = ["dedup", "in", "-o", "out"];
        sandbox.run(&[&copy, options].concat()).expect(0);
        assert_eq!(read(&sandbox, "out/note.txt"), text(1, 40));
        assert!(!sandbox.path("out/a-link.txt").exists());
    }
}

#[test]
fn hard_links_are_names_of_one_document() {
    let sandbox = Sandbox::new();
    sandbox.write("in/b.txt", text(1, 40));
    sandbox.write("in/copy.txt", text(1, 40));
    for name in ["in/a.txt", "in/z.txt"] {
        fs::hard_link(sandbox.path("in/b.txt"), sandbox.path(name)).unwrap();
    }
    let ran = sandbox
        .run(&[
            "--json",
            "dedup",
            "in",
            "-o",
            "keep",
            "--list",
            "--removed",
            "rm",
        ])
        .expect(0);
    assert_eq!(ran.objects()[0]["skipped"], json!({ "other name": 2 }));
    assert_eq!(read(&sandbox, "keep"), "in/a.txt\n");
    let removed: serde_json::Value = serde_json::from_str(&read(&sandbox, "rm")).unwrap();
    assert_eq!(
        (&removed["key"], &removed["earlier"]),
        (&json!("in/copy.txt"), &json!("in/a.txt"))
    );
    sandbox.run(&["dedup", "in", "-o", "out"]).expect(0);
    assert_eq!(files(&sandbox.path("out")), ["a.txt"]);
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(
        (&summary["added"], &summary["exact_copies"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(sandbox.keys(), ["in/a.txt", "in/copy.txt"]);
    let again = sandbox.add(&["in"], 0);
    assert_eq!(again["unchanged"], 2);
}

#[test]
fn a_link_that_is_named_is_followed() {
    let sandbox = linked();
    symlink("in", sandbox.path("current")).unwrap();
    sandbox.add(&["current"], 0);
    assert_eq!(sandbox.keys(), ["current/note.txt"]);
    let mut sandbox = linked();
    sandbox.add(&["in/a-link.txt"], 0);
    assert_eq!(sandbox.keys(), ["in/a-link.txt"]);
    // Its own name comes first wherever it stands among the arguments.
    for paths in [["in/a-link.txt", "in"], ["in", "in/a-link.txt"]] {
        sandbox.forget();
        let summary = sandbox.add(&paths, 0);
        assert_eq!(
            summary["skipped"],
            json!({ "symbolic link": 1, "other name": 1 })
        );
        assert_eq!(sandbox.keys(), ["in/note.txt"]);
    }
    symlink("in", sandbox.path("b-current")).unwrap();
    sandbox.forget();
    sandbox.add(&["b-current", "in"], 0);
    assert_eq!(sandbox.keys(), ["in/note.txt"]);
}

#[test]
fn links_are_followed_after_all_else_and_come_to_an_end() {
    let sandbox = linked();
    sandbox.write("in/z/deep.txt", text(2, 40));
    sandbox.write("out/far.txt", text(3, 40));
    sandbox.write("out/near.txt", text(3, 40));
    // To a folder inside, to one outside, from there back, and up.
    symlink("z", sandbox.path("in/0")).unwrap();
    symlink("../out", sandbox.path("in/1")).unwrap();
    symlink("../in", sandbox.path("out/back")).unwrap();
    symlink("..", sandbox.path("in/z/up")).unwrap();
    let summary = sandbox.add(&["in", "--follow"], 0);
    assert_eq!(
        sandbox.keys(),
        [
            "in/1/far.txt",
            "in/1/near.txt",
            "in/note.txt",
            "in/z/deep.txt"
        ]
    );
    // The link to the note, to `z`, back, and up.
    assert_eq!(summary["skipped"], json!({ "other name": 4 }));
    assert_eq!(summary["exact_copies"], 1);
    let again = sandbox.add(&["in", "--follow", "--threads", "1"], 0);
    assert_eq!(
        (&again["unchanged"], &again["skipped"]),
        (&json!(4), &summary["skipped"])
    );
}

#[test]
fn a_file_that_two_arguments_reach_is_one_document() {
    let sandbox = linked();
    let absolute = sandbox.path("in").canonicalize().unwrap();
    let summary = sandbox.add(&["in/note.txt", "in", &absolute.to_string_lossy()], 0);
    assert_eq!(
        summary["skipped"],
        json!({ "named twice": 1, "symbolic link": 2, "other name": 1 })
    );
    assert_eq!(sandbox.keys(), ["in/note.txt"]);
}

fn shell(sandbox: &Sandbox, shell: &str, arguments: &str, code: i32) -> Ran {
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let mut command = sandbox.command(&[]);
    let mut line = Command::new(shell);
    line.current_dir(command.get_current_dir().unwrap())
        .env_remove("DEDUPDB_STORE")
        .args(["-c", &arguments.replace("dedupdb", program)]);
    command = line;
    Ran::of(command.output().unwrap()).expect(code)
}

#[test]
fn a_pipe_that_is_named_is_read() {
    let sandbox = Sandbox::new();
    let pipe = sandbox.path("pipe.txt");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    sandbox.write("a.txt", text(1, 40));
    let line = "cat a.txt > pipe.txt & dedupdb --json add pipe.txt a.txt";
    let ran = shell(&sandbox, "sh", line, 0);
    assert_eq!(ran.objects()[0]["exact_copies"], 1, "{}", ran.stdout);
    assert_eq!(sandbox.keys(), ["a.txt", "pipe.txt"]);
    // A pipe in a folder would keep the program waiting without end.
    sandbox.write("in/b.txt", "b");
    fs::rename(&pipe, sandbox.path("in/pipe.txt")).unwrap();
    assert_eq!(sandbox.add(&["in"], 0)["skipped"], json!({ "pipe": 1 }));
}

#[test]
fn what_a_shell_gives_as_a_pipe_is_read() {
    if !Path::new("/bin/bash").exists() || !Path::new("/dev/fd").exists() {
        return;
    }
    let sandbox = Sandbox::with_testdata();
    let bash = |line: &str, code| shell(&sandbox, "/bin/bash", line, code);
    let ran = bash("dedupdb add <(cat query.txt)", 2);
    assert!(
        ran.stderr.contains("give it one with --key"),
        "{}",
        ran.stderr
    );
    bash("dedupdb add --key asked <(cat query.txt)", 0);
    assert_eq!(sandbox.keys(), ["asked"]);
    bash("dedupdb query <(cat query.txt)", 0);
    bash(
        "dedupdb --store st add --format jsonl <(gzip -c pages.jsonl)",
        0,
    );
    let ran = bash("dedupdb --store st stats --json", 0);
    assert_eq!(ran.objects()[0]["documents"], 13);
    bash(
        "dedupdb dedup --format jsonl <(cat pages.jsonl) -o out.jsonl",
        0,
    );
    assert_eq!(read(&sandbox, "out.jsonl").lines().count(), 11);
    let ran = bash("dedupdb dedup <(cat query.txt) -o out", 2);
    assert!(ran.stderr.contains("say with --format"), "{}", ran.stderr);
}
