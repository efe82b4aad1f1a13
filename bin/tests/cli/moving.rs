//! Files that are moved aside, and back.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dedupdb::Progress;
use dedupdb_corpus::dedup::{Dedup, MoveEvent, Undo};

use crate::kill::kill_after;
use crate::sandbox::{Ran, Sandbox, patience, text};

/// All files and links below a folder, with their contents.
pub(crate) fn tree(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, String> {
    let root = sandbox.path(folder);
    let entries = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| !entry.file_type().is_dir());
    let files = files.map(|entry| {
        let name = entry
            .path()
            .strip_prefix(&root)
            .unwrap()
            .display()
            .to_string();
        let within = fs::read_link(entry.path()).map(|to| format!("-> {}", to.display()));
        (
            name,
            within.unwrap_or_else(|_| {
                String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned()
            }),
        )
    });
    files.collect()
}

/// The given number of pairs of similar files, in folders. The first of each is the longer one.
pub(crate) fn pairs(sandbox: &Sandbox, pairs: u64) {
    for pair in 0..pairs {
        let words = text(pair, 40);
        sandbox.write(
            format!("in/{}/b{pair:03}.txt", pair % 3),
            format!("{words}\nend"),
        );
        sandbox.write(format!("in/{}/old/b{pair:03}.txt", pair % 3), &words);
    }
}

pub(crate) const MOVE: [&str; 3] = ["move", "in", "aside"];
pub(crate) const UNDO: [&str; 3] = ["move", "--undo", "aside/.dedupdb-moved"];

#[test]
fn records_that_cannot_be_read_are_counted_since_they_stay_anyway() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    sandbox.write("in/bad.jsonl", "{\"id\": 1, \"body\": \"x\"}\n{\"id\": 2\n");
    sandbox.write("in/other.csv", "a,b\n1,2\n");
    let ran = sandbox.run(&MOVE).expect(0);
    let lines = ran.stderr.lines();
    let about: Vec<&str> = lines
        .filter(|line| line.contains("bad") || line.contains("other.csv"))
        .collect();
    let told =
        "dedupdb: 4 files and records were skipped: 1 unreadable, 2 bad records, 1 all records bad";
    assert_eq!(about, [told], "{}", ran.stderr);
    sandbox.run(&UNDO).expect(0);
    let list = ["--skipped", "list.tsv"];
    sandbox.run(&[&MOVE[..], &list].concat()).expect(0);
    let list = std::fs::read_to_string(sandbox.path("list.tsv")).unwrap();
    assert_eq!(list.lines().count(), 4, "{list}");
}

#[test]
fn what_would_be_dropped_is_moved_and_comes_back() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 3);
    sandbox.write("in/0/other.txt", text(99, 40));
    sandbox.write(
        "in/records.jsonl",
        format!("{{\"id\":\"r\",\"text\":\"{}\"}}\n", text(0, 40)),
    );
    let before = tree(&sandbox, "in");
    let ran = sandbox.run(&[&MOVE[..], &["--dry-run"]].concat()).expect(0);
    assert_eq!(ran.lines().len(), 3, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("3 files would be moved"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (tree(&sandbox, "in"), sandbox.names()),
        (before.clone(), vec!["in".to_owned()])
    );
    let ran = sandbox.run(&MOVE).expect(0);
    assert_eq!(
        ran.lines()[0].split('\t').take(3).collect::<Vec<_>>(),
        ["in/0/old/b000.txt", "aside/0/old/b000.txt", "in/0/b000.txt"]
    );
    assert!(
        ran.stderr.contains("1 record would be dropped but stay"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .ends_with("undo it with: dedupdb move --undo aside\n")
    );
    let (kept, moved) = (tree(&sandbox, "in"), tree(&sandbox, "aside"));
    assert_eq!((kept.len(), moved.len()), (before.len() - 3, 4));
    for (name, within) in &before {
        let there = kept.get(name).or(moved.get(name));
        assert_eq!(there, Some(within), "{name}");
    }
    // A second run would mix two moves.
    let again = sandbox.run(&MOVE).expect(2);
    assert!(
        again.stderr.contains(
            "dedupdb: aside is not empty. Choose another folder, or undo the earlier move: dedupdb move --undo aside"
        ),
        "{}",
        again.stderr
    );
    let ran = sandbox.run(&[&UNDO[..], &["--dry-run"]].concat()).expect(0);
    assert!(
        ran.stderr.contains("3 files would be moved back"),
        "{}",
        ran.stderr
    );
    let mut lines = ran.stdout.lines();
    let is_short = |line: &str| line.starts_with("aside/") && line.contains("\tin/");
    assert!(lines.all(is_short), "{}", ran.stdout);
    sandbox.run(&UNDO).expect(0);
    assert_eq!(
        (tree(&sandbox, "in"), sandbox.names()),
        (before, vec!["in".to_owned()])
    );
    let ran = sandbox.run(&UNDO).expect(2);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn the_list_says_which_are_exact_copies_there_and_back() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    sandbox.write("in/0/the copy.txt", text(0, 40) + "\nend");
    for arguments in [&MOVE[..], &UNDO] {
        let ran = sandbox.run(arguments).expect(0);
        let likeness = |line: &&str| line.splitn(4, '\t').last().map(str::to_owned);
        let likeness: Vec<_> = ran.lines().iter().filter_map(likeness).collect();
        assert_eq!(likeness, ["0.9730\tother words", "1.0000\texact copy"]);
    }
}

#[test]
fn a_move_that_stops_anywhere_can_be_undone() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 5);
    let before = tree(&sandbox, "in");
    let (folder, aside) = (sandbox.path("in"), sandbox.path("aside"));
    for stop in 1..=5 {
        for undo_stop in 1..=stop {
            let mut count = 0;
            let progress = Progress::new();
            let dedup = Dedup::new([&folder]).progress(&progress);
            let moved = dedup.move_to(&aside).run(|event| {
                count += u32::from(matches!(event, MoveEvent::Moved { .. }));
                if count >= stop {
                    progress.stop();
                }
            });
            assert!(moved.is_err(), "stopped");
            assert_eq!(tree(&sandbox, "in").len(), before.len() - stop as usize);
            let manifest = aside.join(".dedupdb-moved");
            let mut count = 0;
            let progress = Progress::new();
            let undone = Undo::new(&manifest).progress(&progress).run(|_| {
                count += 1;
                if count >= undo_stop {
                    progress.stop();
                }
            });
            assert!(undone.is_err(), "stopped");
            let left = tree(&sandbox, "aside").len() - 1;
            assert_eq!(left, (stop - undo_stop) as usize);
            Undo::new(&manifest).run(|_| {}).unwrap();
            assert_eq!(tree(&sandbox, "in"), before);
            assert_eq!(sandbox.names(), ["in"]);
        }
    }
    // A stop before the first file leaves nothing behind.
    for stop in [0, 1, 2] {
        let mut steps = 0;
        let progress = Progress::observed(move |progress| {
            steps += 1;
            if steps > stop {
                progress.stop();
            }
        });
        let dedup = Dedup::new([&folder]).progress(&progress);
        let moved = dedup.move_to(&aside).run(|_| {});
        assert!(moved.is_err());
        assert_eq!(
            (tree(&sandbox, "in"), sandbox.names()),
            (before.clone(), vec!["in".to_owned()])
        );
    }
}

#[test]
fn a_killed_move_leaves_each_file_in_one_place() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 400);
    let before = tree(&sandbox, "in");
    let start = Instant::now();
    sandbox.run(&MOVE).expect(0);
    let whole = start.elapsed();
    let start = Instant::now();
    sandbox.run(&UNDO).expect(0);
    let undoing = start.elapsed();
    let rounds = 8 * patience();
    for round in 0..rounds {
        // Most of the time is spent reading; files are moved at the end.
        kill_after(&sandbox, &MOVE, whole * (rounds + round) / (2 * rounds));
        let mut all = tree(&sandbox, "in");
        if sandbox.path("aside").exists() {
            for (name, within) in tree(&sandbox, "aside") {
                if name != ".dedupdb-moved" && !name.starts_with(".dedupdb-") {
                    assert_eq!(
                        all.insert(name.clone(), within),
                        None,
                        "{name} is there twice"
                    );
                }
            }
        }
        assert_eq!(all, before);
        if sandbox.path("aside/.dedupdb-moved").exists() {
            kill_after(&sandbox, &UNDO, undoing * round / rounds);
        }
        if sandbox.path("aside/.dedupdb-moved").exists() {
            sandbox.run(&UNDO).expect(0);
        }
        assert_eq!(tree(&sandbox, "in"), before);
        // A run that is killed before its list exists leaves at most a folder, which the next run takes.
        if round % 2 == 0 {
            sandbox.run(&MOVE).expect(0);
            sandbox.run(&UNDO).expect(0);
            assert!(!sandbox.path("aside").exists());
        }
        fs::remove_dir_all(sandbox.path("aside")).unwrap_or_default();
    }
}

#[test]
fn what_changed_meanwhile_stays() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 4);
    let path = |name: &str| sandbox.path(Path::new("in").join(name));
    let mut told = Vec::new();
    let mut is_first = true;
    // Clocks of file systems tick slowly.
    thread::sleep(Duration::from_millis(30));
    let moved = Dedup::new([sandbox.path("in")])
        .move_to(sandbox.path("aside"))
        .run(|event| {
            match event {
                MoveEvent::Judging(dedupdb_corpus::dedup::DedupEvent::Publishing) => {
                    thread::sleep(Duration::from_millis(30));
                    fs::write(path("0/old/b000.txt"), "words of somebody").unwrap();
                    fs::remove_file(path("1/old/b001.txt")).unwrap();
                    // The file that the third one resembles.
                    fs::write(path("2/b002.txt"), "words of somebody").unwrap();
                }
                MoveEvent::Moved { .. } => assert!(std::mem::take(&mut is_first)),
                MoveEvent::Left { file, why, .. } => {
                    told.push(format!("{}: {why}", file.display()));
                }
                _ => {}
            }
        });
    let moved = moved.unwrap();
    assert_eq!(
        (moved.files, moved.left, moved.failed),
        (1, 2, 1),
        "{told:?}"
    );
    assert!(
        told[0].ends_with("it changed since the run began; it stays there"),
        "{told:?}"
    );
    assert!(told[1].ends_with("it is gone"), "{told:?}");
    assert!(
        told[2].contains("b002.txt changed since the run began"),
        "{told:?}"
    );
    assert_eq!(
        fs::read_to_string(path("0/old/b000.txt")).unwrap(),
        "words of somebody"
    );
}

#[test]
fn places_that_cannot_be_used_are_refused() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    sandbox.write("full/a.txt", "mine");
    sandbox.run(&["add", "-q", "in"]).expect(0);
    let before = tree(&sandbox, "in");
    symlink("in", sandbox.path("link")).unwrap();
    let refused = |arguments: &[&str], told: &str| {
        let ran = sandbox.run(arguments).expect(2);
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
        assert_eq!(tree(&sandbox, "in"), before);
    };
    refused(
        &["move", "in", "full", "aside"],
        "unexpected argument 'aside'",
    );
    refused(&["move", "in", "full"], "full: something is there already");
    refused(&["move", "in", "in/aside"], "inside the input");
    refused(&["move", "in/0", "in"], "is inside; write to another place");
    refused(&["move", "in", ".dedupdb/aside"], "inside the store");
    refused(&["move", "in", "no/aside"], "no/aside");
    refused(&["move", "link", "aside"], "link: a folder is needed here");
    refused(
        &["move", "full/a.txt", "aside"],
        "full/a.txt: a folder is needed here",
    );
    refused(&["move", "none", "aside"], "none: there is no such");
    refused(&["--store", "s", "move", "in", "aside"], "leave --store");
    refused(
        &["move", "in", "aside", "-o", "x"],
        "unexpected argument '-o'",
    );
    refused(
        &["move", "--undo", "full/a.txt"],
        "a.txt: this is no list of moved files",
    );
    if Path::new("/dev/shm").is_dir() {
        let target = format!("/dev/shm/dedupdb-{}", std::process::id());
        let device = |path: &Path| fs::metadata(path).unwrap().dev();
        if device(Path::new("/dev/shm")) != device(&sandbox.path("in")) {
            refused(&["move", "in", &target], "another file system");
            assert!(!Path::new(&target).exists());
        }
    }
    assert!(!sandbox.path("aside").exists());
}

#[test]
fn what_is_set_aside_is_not_compared_with_next_time() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    sandbox.write("old/a.txt", text(0, 40));
    let moving = ["move", "in", "old/aside", "--against", "old"];
    let ran = sandbox.run(&moving).expect(2);
    let said = "old/aside: this is inside the input old; write to a place outside";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!sandbox.path("old/aside").exists());
}

#[test]
fn a_store_in_the_folder_is_none_of_its_files() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    sandbox
        .run(&["--store", "in/store", "add", "-q", "in"])
        .expect(0);
    sandbox.run(&MOVE).expect(0);
    assert!(sandbox.path("in/store/index.redb").exists());
    sandbox.run(&UNDO).expect(0);
}

#[test]
fn folders_stay_private_there_and_back() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 3);
    let mode = |path: &str| fs::metadata(sandbox.path(path)).unwrap().mode() & 0o7777;
    let modes = [
        ("in/0", 0o700),
        ("in/0/old", 0o2750),
        ("in/1/old", 0o711),
        ("in/2", 0o555),
        ("in", 0o750),
    ];
    for (folder, mode) in modes {
        fs::set_permissions(sandbox.path(folder), Permissions::from_mode(mode)).unwrap();
    }
    sandbox.run(&MOVE).expect(0);
    let there = ["aside/0", "aside/0/old", "aside/1/old"].map(mode);
    assert_eq!(there, [0o700, 0o2750, 0o711]);
    assert_eq!(mode("aside/2"), 0o755, "its owner may write");
    assert_eq!(
        [mode("aside"), mode("aside/.dedupdb-moved")],
        [0o750, 0o600]
    );
    fs::set_permissions(sandbox.path("in/2"), Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir(sandbox.path("in/0/old")).unwrap();
    sandbox.run(&UNDO).expect(0);
    assert_eq!(mode("in/0/old"), 0o2750);
}

#[test]
fn nobody_needs_to_read_the_list_to_its_end() {
    let sandbox = Sandbox::new();
    // More lines than fit into a pipe and a buffer.
    let name = "n".repeat(200);
    sandbox.write("in/a.txt", text(1, 40));
    for copy in 0..400 {
        let to = sandbox.path(format!("in/{copy}-{name}.txt"));
        fs::copy(sandbox.path("in/a.txt"), to).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_dedupdb");
    for (verb, said, left) in [
        (MOVE.join(" "), "400 files moved, ", 1),
        (UNDO.join(" "), "400 files moved back, ", 401),
    ] {
        let line = format!("{program} {verb} | head -n 1");
        let ran = Ran::of(sandbox.shell(&line).output().unwrap()).expect(0);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(tree(&sandbox, "in").len(), left);
    }
    if Path::new("/dev/full").exists() {
        let line = format!("{program} {} > /dev/full", MOVE.join(" "));
        let ran = Ran::of(sandbox.shell(&line).output().unwrap()).expect(2);
        for said in ["400 files moved, ", "undo it with: ", "standard output: "] {
            assert!(ran.stderr.contains(said), "{}", ran.stderr);
        }
        assert_eq!(tree(&sandbox, "in").len(), 1);
    }
}

#[test]
fn empty_files_stay_and_what_was_not_read_is_counted() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    for name in ["in/a/__init__.py", "in/b/__init__.py"] {
        sandbox.write(name, "");
    }
    sandbox.write("in/scan.pdf", b"%PDF-1.7\n\x00\x01\x02");
    let ran = sandbox.run(&MOVE).expect(0);
    assert_eq!(ran.lines().len(), 1, "{}", ran.stdout);
    let told = "1 file or record was skipped: 1 binary; formats with text in them, such as PDF, are read with --pre";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(sandbox.path("in/b/__init__.py").exists());
}

#[test]
fn a_folder_that_is_read_only_is_told() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let deep = sandbox.path("in/0/old");
    fs::set_permissions(&deep, Permissions::from_mode(0o555)).unwrap();
    let is_refused = fs::write(deep.join("probe"), "").is_err();
    if is_refused {
        let ran = sandbox.run(&MOVE).expect(2);
        assert!(
            ran.stderr.contains("in/0/old/b000.txt: it cannot be moved"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("1 file moved"), "{}", ran.stderr);
    }
    fs::set_permissions(&deep, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_is_no_other_copy_of_itself() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    sandbox.write("in/1/other.txt", text(99, 40));
    sandbox.write("known.txt", text(0, 40));
    sandbox.run(&["add", "-q", "in/1"]).expect(0);
    symlink("in", sandbox.path("link")).unwrap();
    let before = tree(&sandbox, "in");
    for (input, against, told) in [
        ("in", "in", "in: this would be compared with itself"),
        ("in", "link", "in: this would be compared with itself"),
        ("in/0", "in", "in/0: this is inside in,"),
        ("in/0", "link", "in/0: this is inside link,"),
        ("in", "in/0", "in: in/0 is inside, so"),
        ("in", ".", "in: this is inside .,"),
    ] {
        for asked in [
            &["move", input, "aside"][..],
            &["dedup", input, "-o", "out", "--removed", "gone.tsv"],
        ] {
            let ran = sandbox.run(&[asked, &["--against", against]].concat());
            let ran = ran.expect(2);
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
        assert_eq!(tree(&sandbox, "in"), before);
    }
    for name in ["aside", "out", "gone.tsv"] {
        assert!(!sandbox.path(name).exists(), "{name}");
    }
    // The store has these very files.
    let ran = sandbox.run(&[&MOVE[..], &["--against", ".dedupdb"]].concat());
    let ran = ran.expect(0);
    for told in [
        "other.txt is this file itself, and no other copy",
        "in/1/b001.txt: in/1/old/b001.txt is the lesser copy; it stays there",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert_eq!(ran.lines().len(), 1, "{}", ran.stdout);
    sandbox.run(&UNDO).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
    // Another copy is a duplicate.
    let known = ["--against", "known.txt", "--threshold", "0.8"];
    let ran = sandbox.run(&[&MOVE[..], &known].concat());
    assert_eq!(ran.expect(0).lines().len(), 2);
    sandbox.run(&UNDO).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
}

#[test]
fn none_of_those_that_are_alike_stays() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 3);
    sandbox.write("in/other.txt", text(99, 40));
    let before = tree(&sandbox, "in");
    let ran = sandbox.run(&[&MOVE[..], &["--keep", "none"]].concat());
    let ran = ran.expect(0);
    assert_eq!(ran.lines().len(), 6, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(tree(&sandbox, "in").len(), 1);
    sandbox.run(&UNDO).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
}

#[test]
fn pages_of_which_only_the_text_is_the_same_are_told() {
    let sandbox = Sandbox::new();
    let words = crate::sandbox::text(1, 60);
    sandbox.write("in/a.html", format!("<p>{words}</p>"));
    sandbox.write("in/copy/a.html", format!("<p>{words}</p>"));
    let ran = sandbox.run(&["move", "in", "aside", "--dry-run"]).expect(0);
    assert!(!ran.stderr.contains("other bytes"), "{}", ran.stderr);
    sandbox.write("in/form/a.html", format!("<input value='7'><p>{words}</p>"));
    let moving = ["move", "in", "aside", "--threshold", "0.8"];
    let ran = sandbox.run(&moving).expect(0);
    assert!(
        ran.stderr
            .contains("1 file has the text of another one, but other bytes"),
        "{}",
        ran.stderr
    );
}
