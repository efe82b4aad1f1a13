//! Killing and interrupting the program at any moment of a `dedup`.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use dedupdb::{Input, Store};

use crate::dedup::{check, files, lines, read, record};
use crate::sandbox::{Sandbox, text};

const ROUNDS: u64 = 6;

/// A store with some documents, and an input that resembles them in part.
fn filled() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let mut all = lines(400);
    all.extend((0..2500).map(|seed| {
        let text = text(seed - u64::from(seed % 3 == 1) + 1000, 70);
        format!("{{\"id\": \"new-{seed}\", \"text\": \"{text}\"}}")
    }));
    sandbox.write("old.jsonl", all[..40].join("\n"));
    let input = all[20..].join("\n");
    sandbox.write("in.jsonl", &input);
    for store in ["whole", "killed"] {
        sandbox
            .run(&["add", "old.jsonl", "--store", store])
            .expect(0);
    }
    (sandbox, input)
}

fn arguments<'a>(store: &'a str, output: &'a str, removed: &'a str, keep: &'a str) -> Vec<&'a str> {
    vec![
        "dedup",
        "in.jsonl",
        "-o",
        output,
        "--removed",
        removed,
        "--keep",
        keep,
        "--store",
        store,
        "--quiet",
    ]
}

#[test]
fn a_killed_run_leaves_no_output_and_the_next_gives_the_same() {
    for keep in ["first", "longest", "newest"] {
        let (sandbox, input) = filled();
        sandbox
            .run(&arguments("whole", "whole.jsonl", "whole.tsv", keep))
            .expect(0);
        let (output, removed) = (read(&sandbox, "whole.jsonl"), read(&sandbox, "whole.tsv"));
        let old = read(&sandbox, "old.jsonl");
        let stored: Vec<(String, String)> = old.lines().map(record).collect();
        check(&input, &output, &removed, &stored);

        let killed = arguments("killed", "out.jsonl", "out.tsv", keep);
        let mut delay = 0x2545_f491_4f6c_dd1d_u64;
        for round in 0..ROUNDS {
            let mut child = sandbox.command(&killed).spawn().unwrap();
            delay ^= delay << 13;
            delay ^= delay >> 7;
            delay ^= delay << 17;
            thread::sleep(Duration::from_millis(delay % (60 + 120 * round)));
            child.kill().unwrap();
            child.wait().unwrap();
            sandbox.run(&["check", "--store", "killed"]).expect(0);
            // The output is complete if it exists.
            if sandbox.path("out.jsonl").exists() {
                assert!(read(&sandbox, "out.jsonl") == output);
                assert!(read(&sandbox, "out.tsv") == removed);
                if !has_open_run(&sandbox, "killed") {
                    break;
                }
                fs::remove_file(sandbox.path("out.jsonl")).unwrap();
                fs::remove_file(sandbox.path("out.tsv")).unwrap();
            }
        }
        if !sandbox.path("out.jsonl").exists() {
            sandbox.run(&killed).expect(0);
        }
        assert!(read(&sandbox, "out.jsonl") == output, "{keep}");
        assert!(read(&sandbox, "out.tsv") == removed, "{keep}");
        // A kill between the end of a run and the removal of its work folders leaves them to the next run there.
        if !hidden(&sandbox).is_empty() {
            let mut next = arguments("next", "out.jsonl", "out.tsv", keep);
            next.push("--force");
            sandbox.run(&next).expect(0);
        }
        assert_eq!(hidden(&sandbox), Vec::<String>::new());
    }
}

/// Files whose names, or whose folders' names, begin with a dot.
fn hidden(sandbox: &Sandbox) -> Vec<String> {
    let mut files = files(&sandbox.path(""));
    files.retain(|name| name.starts_with('.'));
    files
}

fn has_open_run(sandbox: &Sandbox, store: &str) -> bool {
    let ran = sandbox
        .run(&["--json", "stats", "--store", store])
        .expect(0);
    ran.objects()[0]["open_run"].as_bool().unwrap()
}

/// Leaves an unfinished run on these lines in a store, as a crash after all its commits would.
fn interrupt(sandbox: &Sandbox, store: &str, lines: &[&str]) {
    let store = Store::open(sandbox.path(store)).unwrap();
    let mut writer = store.writer().unwrap();
    writer.begin_run().unwrap();
    let inputs = lines.iter().map(|line| record(line));
    let inputs = inputs.map(|(key, text)| Input::new(key, text));
    let admissions = writer.admit_batch(store.sketch_all(inputs.collect()));
    assert!(admissions.unwrap().iter().all(Result::is_ok));
    writer.commit().unwrap();
}

#[test]
fn whatever_follows_on_a_crash_is_judged_against_what_was_published() {
    for keep in ["first", "longest"] {
        let (sandbox, input) = filled();
        let mut lines: Vec<&str> = input.lines().collect();
        if keep == "longest" {
            let length = |line: &&str| record(line).1.len();
            lines.sort_by_key(|line| std::cmp::Reverse(length(line)));
        }
        sandbox.write("other.jsonl", lines[700..].join("\n"));
        for input in ["in.jsonl", "other.jsonl"] {
            // Nothing, a part, or everything was judged.
            for part in [0, 1000, lines.len()] {
                let mut outputs = Vec::new();
                for end in ["whole", "killed"] {
                    let store = format!("{end}-{input}-{part}");
                    sandbox
                        .run(&["add", "old.jsonl", "--store", &store])
                        .expect(0);
                    if end == "killed" {
                        interrupt(&sandbox, &store, &lines[..part]);
                        assert!(has_open_run(&sandbox, &store));
                    }
                    let run = [
                        "dedup",
                        input,
                        "-o",
                        "out.jsonl",
                        "--removed",
                        "out.tsv",
                        "--keep",
                        keep,
                        "--store",
                        &store,
                        "--force",
                    ];
                    let ran = sandbox.run(&run).expect(0);
                    let is_told = ran.stderr.contains("an interrupted dedup had stored");
                    assert_eq!(is_told, end == "killed" && part > 0, "{}", ran.stderr);
                    assert!(!has_open_run(&sandbox, &store));
                    let listed = sandbox.run(&["list", "--store", &store]).expect(0);
                    let (output, removed) =
                        (read(&sandbox, "out.jsonl"), read(&sandbox, "out.tsv"));
                    outputs.push((output, removed, listed.stdout));
                }
                assert!(outputs[0] == outputs[1], "{keep} {input} {part}");
            }
        }
    }
}

#[test]
fn files_that_an_interrupted_run_stored_are_kept_by_an_add() {
    let sandbox = Sandbox::new();
    let words = text(1, 50);
    sandbox.write("in/a.txt", &words);
    sandbox
        .run(&["dedup", "in", "-o", "out", "--store", "st"])
        .expect(0);
    let store = Store::open(sandbox.path("st")).unwrap();
    let stored = store.get("in/a.txt").unwrap().unwrap();
    let mut writer = store.writer().unwrap();
    writer.remove("in/a.txt").unwrap();
    writer.begin_run().unwrap();
    let input = Input::new("in/a.txt", &*words).size(stored.size);
    let input = input.modified(stored.modified.unwrap());
    writer.admit_batch(store.sketch_all(vec![input])).unwrap();
    writer.commit().unwrap();
    drop(writer);
    drop(store);
    assert_eq!(sandbox.add(&["in", "--store", "st"], 0)["unchanged"], 1);
    let again = ["dedup", "in", "-o", "again", "--store", "st"];
    let ran = sandbox.run(&again).expect(0);
    assert!(!ran.stderr.contains("interrupted dedup"), "{}", ran.stderr);
    assert!(files(&sandbox.path("again")).is_empty());
}

#[test]
fn an_unpublished_document_keeps_nothing_out() {
    let sandbox = Sandbox::new();
    let line = |id: &str, text: &str| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}");
    let words = text(1, 50);
    sandbox.write("first.jsonl", line("a", &words));
    sandbox
        .run(&["add", "first.jsonl", "--store", "st"])
        .expect(0);
    let other = line("b", &text(2, 50));
    interrupt(&sandbox, "st", &[&other]);
    sandbox.write("new.jsonl", line("c", &text(2, 50)));
    let dry = sandbox.add(&["new.jsonl", "--unique", "--dry-run", "--store", "st"], 0);
    assert_eq!(dry["added"], 1);
    assert!(has_open_run(&sandbox, "st"));
    let added = sandbox.add(&["new.jsonl", "--unique", "--store", "st"], 0);
    assert_eq!(added["added"], 1);
    let listed = sandbox.run(&["list", "--store", "st"]).expect(0);
    assert_eq!(listed.stdout, "a\nc\n");
}

#[test]
fn a_store_with_unpublished_documents_is_nothing_to_compare_with() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--store", "st"]).expect(0);
    interrupt(&sandbox, "st", &[&lines(1)[0]]);
    sandbox.write("new.jsonl", lines(2).join("\n"));
    let against = ["dedup", "new.jsonl", "--against", "st", "-o", "out.jsonl"];
    let ran = sandbox.run(&against).expect(2);
    let told = "st: a dedup into this store was interrupted or goes on";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(sandbox.names(), ["new.jsonl", "st"]);
    sandbox.write("in.jsonl", &lines(1)[0]);
    let published = ["dedup", "in.jsonl", "--store", "st", "-o", "in-out.jsonl"];
    sandbox.run(&published).expect(0);
    sandbox.run(&against).expect(0);
    let output = fs::read_to_string(sandbox.path("out.jsonl")).unwrap();
    assert_eq!(output, lines(2)[1]);
}

#[test]
fn a_crash_between_the_two_files_is_no_obstacle() {
    let (sandbox, input) = filled();
    let run = arguments("whole", "out.jsonl", "out.tsv", "first");
    sandbox.run(&run).expect(0);
    let (output, removed) = (read(&sandbox, "out.jsonl"), read(&sandbox, "out.tsv"));
    fs::remove_file(sandbox.path("out.jsonl")).unwrap();
    interrupt(&sandbox, "killed", &input.lines().collect::<Vec<_>>());
    let run = arguments("killed", "out.jsonl", "out.tsv", "first");
    sandbox.run(&run).expect(2);
    // What a killed run leaves: the list is in its place, and a note identifies it.
    let leave = |note: &str| {
        fs::DirBuilder::new()
            .mode(0o700)
            .create(sandbox.path(".out.jsonl.dedup"))
            .unwrap();
        sandbox.write(".out.jsonl.dedup/dedupdb-work", "");
        sandbox.write(".out.jsonl.dedup/publishing", note);
    };
    leave("another list");
    let ran = sandbox.run(&run).expect(2);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(read(&sandbox, "out.tsv"), removed);
    fs::remove_dir_all(sandbox.path(".out.jsonl.dedup")).unwrap();
    leave(blake3::hash(removed.as_bytes()).to_hex().as_str());
    sandbox.run(&run).expect(0);
    assert!(read(&sandbox, "out.jsonl") == output);
    assert!(!sandbox.path(".out.jsonl.dedup").exists());
}

#[test]
fn the_output_of_a_run_that_was_killed_after_its_last_step_is_complete() {
    let sandbox = Sandbox::new();
    let mut all = lines(40);
    // A text without words is kept again, and is not new.
    all.push(r#"{"id": "dash", "text": "-----"}"#.to_owned());
    sandbox.write("in.jsonl", all.join("\n"));
    let mut run = arguments("st", "out.jsonl", "out.tsv", "first");
    sandbox.run(&run).expect(0);
    let there = || (read(&sandbox, "out.jsonl"), read(&sandbox, "out.tsv"));
    let (output, removed) = there();
    let mut make = fs::DirBuilder::new();
    for folder in [".out.jsonl.dedup", ".out.tsv.dedup"] {
        make.mode(0o700).create(sandbox.path(folder)).unwrap();
        sandbox.write(format!("{folder}/dedupdb-work"), "");
    }
    let note = blake3::hash(removed.as_bytes()).to_hex();
    sandbox.write(".out.jsonl.dedup/publishing", note.as_str());
    run.push("--force");
    let ran = sandbox.run(&run).expect(2);
    let said = "it is complete if a run that was killed wrote it";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(there() == (output, removed));
    assert_eq!(hidden(&sandbox), Vec::<String>::new());
}

#[test]
fn an_output_is_written_by_one_process_at_a_time() {
    let (sandbox, _) = filled();
    let mut first = sandbox
        .command(&["dedup", "-", "-o", "out.jsonl", "--format", "jsonl"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !sandbox.path(".out.jsonl.dedup/store").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let run = ["dedup", "in.jsonl", "-o", "out.jsonl"];
    let ran = sandbox.run(&run).expect(2);
    assert!(ran.stderr.contains("another process"), "{}", ran.stderr);
    first.kill().unwrap();
    first.wait().unwrap();
    sandbox.run(&run).expect(0);
    assert!(!sandbox.path(".out.jsonl.dedup").exists());
}

#[test]
fn ctrl_c_leaves_no_output() {
    for keep in ["first", "longest"] {
        let (sandbox, input) = filled();
        let endless = [
            "dedup",
            "-",
            "-o",
            "out.jsonl",
            "--format",
            "jsonl",
            "--removed",
            "out.tsv",
            "--keep",
            keep,
            "--store",
            "killed",
        ];
        let mut child = sandbox
            .command(&endless)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        while !sandbox.path(".out.tsv.dedup").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        let status = Command::new("kill").args(["-INT", &pid]).status();
        assert!(status.unwrap().success());
        let ended = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(ended.status.code(), Some(130));
        let message = String::from_utf8(ended.stderr).unwrap();
        assert!(message.contains("out.jsonl is not written"), "{message}");
        let hidden = files(&sandbox.path(""));
        let is_left = |name: &String| name.starts_with('.') || name.starts_with("out.");
        assert!(!hidden.iter().any(is_left), "{hidden:?}");
        sandbox.run(&["check", "--store", "killed"]).expect(0);
    }
}

#[test]
fn a_run_that_is_killed_replaces_all_or_nothing() {
    let sandbox = Sandbox::new();
    for (folder, seed) in [("monday", 0), ("tuesday", 1000)] {
        for file in 0..40 {
            sandbox.write(format!("{folder}/{file}.txt"), text(seed + file, 60));
        }
    }
    let run = |day: &'static str| ["dedup", day, "-o", "out", "--force", "--quiet"];
    let found = || {
        let out = sandbox.path("out");
        let texts = files(&out).into_iter();
        let texts: Vec<String> = texts
            .map(|name| read(&sandbox, &format!("out/{name}")))
            .collect();
        assert_eq!(texts.len(), 40);
        texts
    };
    let [monday, tuesday] = ["monday", "tuesday"].map(|day| {
        sandbox.run(&run(day)).expect(0);
        found()
    });
    let mut delay = 0x2545_f491_4f6c_dd1d_u64;
    for day in ["monday", "tuesday"].into_iter().cycle().take(12) {
        let mut child = sandbox.command(&run(day)).spawn().unwrap();
        delay ^= delay << 13;
        delay ^= delay >> 7;
        delay ^= delay << 17;
        thread::sleep(Duration::from_millis(20 + delay % 80));
        child.kill().unwrap();
        child.wait().unwrap();
        // Between two names, there is nothing in the place. What was there has the new name.
        if sandbox.path("out").exists() {
            let found = found();
            assert!(found == monday || found == tuesday);
        }
        let old = |name: &String| name.starts_with("out.old");
        for old in sandbox.names().iter().filter(|name| old(name)) {
            assert_eq!(files(&sandbox.path(old)).len(), 40);
        }
    }
    sandbox.run(&run("monday")).expect(0);
    assert!(found() == monday);
    let mut names = sandbox.names();
    names.retain(|name| !name.starts_with("out.old"));
    assert_eq!(names, ["monday", "out", "tuesday"]);
}
