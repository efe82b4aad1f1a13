//! Moves while others run, and after others were killed.
#![cfg(unix)]

use dedupdb_corpus::dedup::{Dedup, MoveEvent, Undo};

use crate::moving::{MOVE, UNDO, pairs, tree};
use crate::sandbox::{Sandbox, text};

#[test]
fn one_run_at_a_time_moves_to_a_folder_or_back() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 6);
    let before = tree(&sandbox, "in");
    let others = || {
        for arguments in [&MOVE[..], &UNDO, &["move", "--undo", "aside"]] {
            let ran = sandbox
                .run(&[arguments, &["--wait", "0"]].concat())
                .expect(75);
            let told = format!("aside: process {} is moving files", std::process::id());
            assert!(ran.stderr.contains(&told), "{arguments:?}: {}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    };
    let aside = sandbox.path("aside");
    let mut moving = 0;
    let moved = Dedup::new([sandbox.path("in")])
        .move_to(&aside)
        .run(|event| {
            if moving % 4 == 0 {
                others();
            }
            moving += u32::from(matches!(event, MoveEvent::Moved { .. }));
        });
    let list = moved.unwrap().manifest.unwrap();
    assert_eq!(tree(&sandbox, "in").len(), 6);
    assert_eq!(tree(&sandbox, "aside").len(), 7, "files and a list");
    let mut undoing = 0;
    let undone = Undo::new(list).run(|_| {
        undoing += 1;
        if undoing == 3 {
            others();
        }
    });
    assert_eq!(undone.unwrap().files, 6);
    assert_eq!(
        (tree(&sandbox, "in"), sandbox.names()),
        (before, vec!["in".to_owned()])
    );
}

#[test]
fn who_waits_moves_files_when_another_run_ends() {
    use std::process::Stdio;
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    for name in ["a.txt", "b.txt"] {
        sandbox.write(format!("in/later/{name}"), text(99, 40));
    }
    let before = tree(&sandbox, "in");
    let spawn = |arguments: &[&str]| {
        let mut command = sandbox.command(&[arguments, &["--wait", "10min"]].concat());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut waiting = None;
    let moved = Dedup::new([sandbox.path("in/later")])
        .move_to(sandbox.path("first"))
        .run(|_| {
            waiting.get_or_insert_with(|| {
                // It meets the folder in use before anything is moved.
                let child = spawn(&["move", "in", "second"]);
                std::thread::sleep(std::time::Duration::from_millis(500));
                child
            });
        });
    assert_eq!(moved.unwrap().files, 1);
    let waited = waiting.unwrap().wait_with_output().unwrap();
    assert_eq!(crate::sandbox::Ran::of(waited).expect(0).lines().len(), 2);
    for aside in ["second", "first"] {
        sandbox.run(&["move", "--undo", aside]).expect(0);
    }
    assert_eq!(tree(&sandbox, "in"), before);
}

#[test]
fn two_moves_to_one_folder_leave_one_list_of_all_that_is_there() {
    for _ in 0..3 {
        let sandbox = Sandbox::new();
        pairs(&sandbox, 100);
        for (name, within) in tree(&sandbox, "in") {
            sandbox.write(format!("other/{name}.txt"), within);
        }
        let before = [tree(&sandbox, "in"), tree(&sandbox, "other")];
        let mut children = ["in", "other", "in"].map(|from| {
            let mut command = sandbox.command(&["move", "-q", from, "aside"]);
            let command = command.stdout(std::process::Stdio::null());
            command.stderr(std::process::Stdio::null()).spawn().unwrap()
        });
        let codes = children
            .each_mut()
            .map(|child| child.wait().unwrap().code());
        let moved = codes.iter().filter(|code| **code == Some(0)).count();
        assert_eq!(moved, 1, "{codes:?}");
        assert_eq!(tree(&sandbox, "aside").len(), 101);
        sandbox.run(&UNDO).expect(0);
        assert_eq!([tree(&sandbox, "in"), tree(&sandbox, "other")], before);
        assert!(!sandbox.path("aside").exists());
    }
}

#[test]
fn what_a_killed_move_left_is_in_nobodys_way() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let before = tree(&sandbox, "in");
    // Killed while it read, and while it wrote its list.
    sandbox.write("aside/.dedupdb-moving", "process 1 is moving files to it\n");
    sandbox.write("aside/.dedupdb-moved.part", "{\"dedupdb_moved\":1,");
    sandbox.run(&MOVE).expect(0);
    let names: Vec<String> = tree(&sandbox, "aside").into_keys().collect();
    assert_eq!(
        names,
        [".dedupdb-moved", "0/old/b000.txt", "1/old/b001.txt"]
    );
    // Killed while it moved, and while that was undone.
    sandbox.write("aside/.dedupdb-moving", "process 1 is moving files to it\n");
    sandbox.run(&UNDO).expect(0);
    assert_eq!(
        (tree(&sandbox, "in"), sandbox.names()),
        (before, vec!["in".to_owned()])
    );
}

#[test]
fn one_run_at_a_time_moves_from_a_folder() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 6);
    sandbox.write("beside/a.txt", text(99, 40));
    sandbox.write("beside/b.txt", text(99, 40));
    let before = tree(&sandbox, "in");
    let outside = tempfile::tempdir_in(sandbox.path("..")).unwrap();
    let outside = outside.path().join("other");
    let (aside, other) = (sandbox.path("aside"), outside.to_str().unwrap());
    let others = || {
        for from in ["in", "in/0", ".", "aside"] {
            let ran = sandbox
                .run(&["move", from, other, "--wait", "0"])
                .expect(75);
            let told = "another process is moving files in it";
            assert!(ran.stderr.contains(told), "{from}: {}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            assert!(!outside.exists());
        }
        let ran = sandbox.run(&["move", "beside", other]);
        assert_eq!(ran.expect(0).lines().len(), 1);
        sandbox.run(&["move", "--undo", other]).expect(0);
    };
    let mut moving = 0;
    let moved = Dedup::new([sandbox.path("in")])
        .move_to(&aside)
        .run(|event| {
            if moving % 4 == 0 {
                others();
            }
            moving += u32::from(matches!(event, MoveEvent::Moved { .. }));
        });
    let list = moved.unwrap().manifest.unwrap();
    let mut undoing = 0;
    let undone = Undo::new(list).run(|_| {
        undoing += 1;
        if undoing == 3 {
            others();
        }
    });
    assert_eq!(undone.unwrap().files, 6);
    assert_eq!(tree(&sandbox, "in"), before);
    assert_eq!(sandbox.names(), ["beside", "in"]);
}

#[test]
fn two_folders_that_are_compared_with_each_other_keep_one_of_those_that_are_alike() {
    let sandbox = Sandbox::new();
    for number in 0..150 {
        for folder in ["one", "two"] {
            sandbox.write(format!("{folder}/{number:03}.txt"), text(number, 40));
        }
    }
    let before = ["one", "two"].map(|folder| tree(&sandbox, folder));
    for _ in 0..4 {
        let mut children = [("one", "two"), ("two", "one")].map(|(from, against)| {
            let to = format!("{from}-aside");
            let arguments = ["move", "-q", from, &to, "--against", against];
            let mut command = sandbox.command(&arguments);
            let command = command.stdout(std::process::Stdio::null());
            command.stderr(std::process::Stdio::null()).spawn().unwrap()
        });
        for child in &mut children {
            child.wait().unwrap();
        }
        let left = ["one", "two"].map(|folder| tree(&sandbox, folder));
        for name in before[0].keys() {
            let is_there = left.iter().any(|files| files.contains_key(name));
            assert!(is_there, "both copies of {name} were moved");
        }
        for to in ["one-aside", "two-aside"] {
            if sandbox.path(to).exists() {
                sandbox.run(&["move", "-q", "--undo", to]).expect(0);
            }
        }
        assert_eq!(sandbox.names(), ["one", "two"]);
        assert_eq!(["one", "two"].map(|folder| tree(&sandbox, folder)), before);
    }
}

#[test]
fn a_killed_run_without_a_list_has_nothing_to_move_back() {
    let sandbox = Sandbox::new();
    let marks = [
        (
            ".dedupdb-moving",
            "process 1 is moving files back from it\n",
        ),
        (".dedupdb-moving", "process 1 is moving files to it\n"),
        (".dedupdb-moved.part", "{\"dedupdb_moved\":1,"),
    ];
    // Killed after it removed its list, or before it wrote one.
    for marks in [&marks[..1], &marks[1..]] {
        for named in ["aside", "aside/.dedupdb-moved"] {
            for (name, within) in marks {
                sandbox.write(format!("aside/{name}"), within);
            }
            let ran = sandbox.run(&["move", "--undo", named]).expect(0);
            let told = "there is nothing to move back: each file is where it was";
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
            assert!(sandbox.names().is_empty(), "{:?}", sandbox.names());
        }
    }
    // What else is there may have been moved.
    sandbox.write("aside/.dedupdb-moving", marks[0].1);
    sandbox.write("aside/b.txt", "mine");
    let ran = sandbox.run(&["move", "--undo", "aside"]).expect(2);
    assert!(
        ran.stderr.contains("no list of moved files"),
        "{}",
        ran.stderr
    );
    assert_eq!(tree(&sandbox, "aside")["b.txt"], "mine");
    // Another name is not that of a list.
    sandbox.write("other/.dedupdb-moving", marks[0].1);
    sandbox.run(&["move", "--undo", "other/list"]).expect(2);
    assert!(sandbox.path("other").exists());
}
