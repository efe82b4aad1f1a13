//! Moves while others run, and after others were killed.
#![cfg(unix)]

use dedupdb::dedup::{Dedup, MoveEvent, Undo};

use crate::moving::{MOVE, UNDO, pairs, tree};
use crate::sandbox::{Sandbox, text};

#[test]
fn one_run_at_a_time_moves_to_a_folder_or_back() {
    use std::ops::ControlFlow::Continue;
    let sandbox = Sandbox::new();
    pairs(&sandbox, 6);
    let before = tree(&sandbox, "in");
    let others = || {
        for arguments in [&MOVE[..], &UNDO, &["dedup", "--undo", "aside"]] {
            let ran = sandbox.run(arguments).expect(2);
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
            Continue(())
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
        Continue(())
    });
    assert_eq!(undone.unwrap().files, 6);
    assert_eq!(
        (tree(&sandbox, "in"), sandbox.names()),
        (before, vec!["in".to_owned()])
    );
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
            let mut command = sandbox.command(&["dedup", "-q", from, "--move-to", "aside"]);
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
        [".dedupdb-moved", "0/deep/b000.txt", "1/deep/b001.txt"]
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
fn two_moves_at_a_time_keep_one_of_those_that_are_alike() {
    let sandbox = Sandbox::new();
    for group in 0..150 {
        let words = text(group, 40);
        for copy in 0..3 {
            let longer = "end ".repeat(copy);
            sandbox.write(
                format!("in/g{group:03}-{copy}.txt"),
                format!("{words} {longer}"),
            );
        }
    }
    let before = tree(&sandbox, "in");
    for _ in 0..4 {
        let mut children = [("one", "first"), ("two", "longest")].map(|(to, keep)| {
            let arguments = ["dedup", "-q", "in", "--move-to", to, "--keep", keep];
            let mut command = sandbox.command(&arguments);
            let command = command.stdout(std::process::Stdio::null());
            command.stderr(std::process::Stdio::null()).spawn().unwrap()
        });
        for child in &mut children {
            child.wait().unwrap();
        }
        let left = tree(&sandbox, "in");
        for group in 0..150 {
            let start = format!("g{group:03}-");
            assert!(
                left.keys().any(|name| name.starts_with(&start)),
                "all of {start} left the folder"
            );
        }
        // Both may have listed a file that one of them moved.
        for to in ["one", "two", "one"] {
            sandbox.run(&["dedup", "-q", "--undo", to]);
        }
        assert_eq!(sandbox.names(), ["in"]);
        assert_eq!(tree(&sandbox, "in"), before);
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
            let ran = sandbox.run(&["dedup", "--undo", named]).expect(0);
            let told = "there is nothing to move back: each file is where it was";
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
            assert!(sandbox.names().is_empty(), "{:?}", sandbox.names());
        }
    }
    // What else is there may have been moved.
    sandbox.write("aside/.dedupdb-moving", marks[0].1);
    sandbox.write("aside/b.txt", "mine");
    let ran = sandbox.run(&["dedup", "--undo", "aside"]).expect(2);
    assert!(
        ran.stderr.contains("no list of moved files"),
        "{}",
        ran.stderr
    );
    assert_eq!(tree(&sandbox, "aside")["b.txt"], "mine");
    // Another name is not that of a list.
    sandbox.write("other/.dedupdb-moving", marks[0].1);
    sandbox.run(&["dedup", "--undo", "other/list"]).expect(2);
    assert!(sandbox.path("other").exists());
}
