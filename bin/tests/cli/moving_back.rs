//! Moved files on their way back.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::moving::{MOVE, UNDO, pairs, tree};
use crate::sandbox::Sandbox;

#[test]
fn nothing_is_replaced_when_files_come_back() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 4);
    let before = tree(&sandbox, "in");
    sandbox.run(&MOVE).expect(0);
    sandbox.write("in/0/old/b000.txt", "mine");
    fs::remove_file(sandbox.path("aside/1/old/b001.txt")).unwrap();
    fs::remove_dir(sandbox.path("in/2/old")).unwrap();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    symlink("../../elsewhere", sandbox.path("in/2/old")).unwrap();
    let ran = sandbox.run(&UNDO).expect(2);
    for told in [
        "in/0/old/b000.txt exists already; it stays there",
        "aside/1/old/b001.txt: it is not here any more, nor is it at",
        "a symbolic link is on the way to",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(
        fs::read_to_string(sandbox.path("in/0/old/b000.txt")).unwrap(),
        "mine"
    );
    assert!(
        fs::read_dir(sandbox.path("elsewhere"))
            .unwrap()
            .next()
            .is_none()
    );
    // Once the obstacles are gone, the same command continues.
    fs::remove_file(sandbox.path("in/0/old/b000.txt")).unwrap();
    fs::remove_file(sandbox.path("in/2/old")).unwrap();
    sandbox.run(&UNDO).expect(2);
    let mut after = tree(&sandbox, "in");
    after.insert(
        "1/old/b001.txt".to_owned(),
        before["1/old/b001.txt"].clone(),
    );
    assert_eq!(after, before);
}

#[cfg(target_os = "linux")]
#[expect(clippy::print_stdout, reason = "a test that cannot be made says so")]
#[test]
fn files_come_back_on_a_full_disk() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("disk")).unwrap();
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let line = format!(
        "mount -t tmpfs -o size=64k tmpfs disk || exit 99
        cd disk && mkdir in && echo a text of six short words > in/a.txt && cp in/a.txt 'in/a copy.txt'
        {program} move in aside || exit 3
        cat /dev/zero > fill
        {program} move --undo aside && test -f 'in/a copy.txt' && test ! -e aside"
    );
    let mut disk = Command::new("unshare");
    disk.current_dir(sandbox.path(""));
    let ran = disk.args(["-rm", "sh", "-c", &line]).output();
    let Some(ran) = ran.ok().filter(|ran| ran.status.code() != Some(99)) else {
        return println!("skipped: this user may not mount a disk");
    };
    let ran = crate::sandbox::Ran::of(ran).expect(0);
    assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
}

#[test]
fn the_list_stays_while_a_file_cannot_be_looked_at() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let before = tree(&sandbox, "in");
    sandbox.run(&MOVE).expect(0);
    let [folder, hidden] = ["aside/1", "aside/hidden"].map(|name| sandbox.path(name));
    fs::rename(&folder, &hidden).unwrap();
    symlink("1", &folder).unwrap();
    let ran = sandbox.run(&UNDO).expect(2);
    assert!(
        ran.stderr
            .contains("aside/1/old/b001.txt cannot be looked at"),
        "{}",
        ran.stderr
    );
    fs::remove_file(&folder).unwrap();
    fs::rename(&hidden, &folder).unwrap();
    sandbox.run(&UNDO).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
}

#[test]
fn an_empty_folder_stays_also_if_an_undo_was_killed_at_its_end() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("aside")).unwrap();
    sandbox.run(&UNDO).expect(2);
    assert_eq!(sandbox.names(), ["aside"]);
}

#[test]
fn a_file_that_is_gone_is_told_once() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let before = tree(&sandbox, "in");
    let name = "in/1/old/b001.txt";
    // A folder or another file with its name is not the file.
    for other in [None, Some(None), Some(Some("another file"))] {
        sandbox.run(&MOVE).expect(0);
        fs::remove_file(sandbox.path("aside/1/old/b001.txt")).unwrap();
        match other {
            None => {}
            Some(None) => fs::create_dir(sandbox.path(name)).unwrap(),
            Some(Some(text)) => sandbox.write(name, text),
        }
        let (told, code) = match other {
            Some(Some(_)) => (
                "b001.txt already, which was edited since the move or is another one",
                0,
            ),
            _ => (
                "aside/1/old/b001.txt: it is not here any more, nor is it at ",
                2,
            ),
        };
        let ran = sandbox.run(&UNDO).expect(code);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(sandbox.names(), ["in"]);
        match other {
            None => {}
            Some(None) => fs::remove_dir(sandbox.path(name)).unwrap(),
            Some(Some(text)) => {
                assert_eq!(fs::read_to_string(sandbox.path(name)).unwrap(), text);
            }
        }
        sandbox.write(name, &before["1/old/b001.txt"]);
        assert_eq!(tree(&sandbox, "in"), before);
    }
}

#[test]
fn a_list_that_was_edited_moves_nothing() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    sandbox.run(&MOVE).expect(0);
    let manifest = sandbox.path("aside/.dedupdb-moved");
    let list = fs::read_to_string(&manifest).unwrap();
    let after = tree(&sandbox, "in");
    for (edited, reason) in [
        (
            list.replace("0/old/b000.txt", "../b000.txt"),
            "line 2 names no file below the folder",
        ),
        (
            list.replace("0/old/b000.txt", "/etc/b000.txt"),
            "line 2 names no file below the folder",
        ),
        (
            list.replace("b000", "b001"),
            "it was changed since it was written",
        ),
        (
            list.lines().take(2).collect::<Vec<_>>().join("\n"),
            "its end is missing",
        ),
        (String::new(), "this is no list of moved files"),
    ] {
        fs::write(&manifest, edited).unwrap();
        let ran = sandbox.run(&UNDO).expect(2);
        let told = format!("dedupdb: aside/.dedupdb-moved: {reason}");
        assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
        assert_eq!(tree(&sandbox, "in"), after);
    }
    fs::write(&manifest, list).unwrap();
    sandbox.run(&UNDO).expect(0);
}

#[test]
fn only_lists_are_undone() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let before = tree(&sandbox, "in");
    let mut fifo = Command::new("mkfifo");
    assert!(fifo.arg(sandbox.path("fifo")).status().unwrap().success());
    for none in ["fifo", "/dev/zero", "in/0/b000.txt"] {
        let ran = sandbox.run(&["move", "--undo", none]).expect(2);
        let told = format!("{none}: this is no list of moved files");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
    fs::create_dir(sandbox.path("photos")).unwrap();
    for folder in ["in", "gone", "photos"] {
        let ran = sandbox.run(&["move", "--undo", folder]).expect(2);
        assert!(
            ran.stderr.contains(
                ": no list of moved files here. Was it undone already, or is it in another folder?\n"
            ),
            "{}",
            ran.stderr
        );
    }
    assert!(sandbox.path("photos").is_dir());
    let target = "it's aside";
    let ran = sandbox.run(&["move", "in", target]).expect(0);
    let undo = "dedupdb move --undo 'it'\\''s aside'\n";
    assert!(ran.stderr.ends_with(undo), "{}", ran.stderr);
    let ran = sandbox.run(&["move", "in", target]).expect(2);
    assert!(ran.stderr.ends_with(undo), "{}", ran.stderr);
    // Killed between the new name and the removal of the old one, if that is how a file is moved.
    let [from, to] = ["it's aside/0/old/b000.txt", "in/0/old/b000.txt"];
    fs::hard_link(sandbox.path(from), sandbox.path(to)).unwrap();
    let ran = sandbox.run(&["move", "--undo", target]).expect(0);
    assert!(ran.stderr.contains("2 files moved back"), "{}", ran.stderr);
    assert_eq!(tree(&sandbox, "in"), before);
    assert!(!sandbox.path(target).exists());
    let ran = sandbox
        .run(&["move", "--undo", "it's aside/.dedupdb-moved"])
        .expect(2);
    assert!(
        ran.stderr.contains("Was it undone already, or"),
        "{}",
        ran.stderr
    );
}

/// Copies a folder with all that is in it.
fn copied(sandbox: &Sandbox, from: &str, to: &str) {
    let paths = [from, to].map(|path| sandbox.path(path));
    let done = Command::new("cp").arg("-a").args(paths).status();
    assert!(done.unwrap().success());
}

#[test]
fn in_a_copied_folder_files_come_back_to_the_copy() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    fs::create_dir(sandbox.path("home")).unwrap();
    fs::rename(sandbox.path("in"), sandbox.path("home/in")).unwrap();
    let before = tree(&sandbox, "home");
    sandbox.run(&["move", "home/in", "home/aside"]).expect(0);
    let moved = tree(&sandbox, "home");
    assert_ne!(moved, before);
    copied(&sandbox, "home", "copy");
    copied(&sandbox, "home/aside", "alone");
    sandbox.run(&["move", "--undo", "copy/aside"]).expect(0);
    assert_eq!(tree(&sandbox, "copy"), before);
    assert_eq!(tree(&sandbox, "home"), moved);
    // The folder beside which a copy would lie is that of the original.
    let ran = sandbox.run(&["move", "--undo", "alone"]).expect(2);
    assert!(
        ran.stderr.contains("this is a copy of the list in"),
        "{}",
        ran.stderr
    );
    // Both folders under another name, and then only one of them.
    fs::rename(sandbox.path("home"), sandbox.path("moved")).unwrap();
    fs::rename(sandbox.path("moved/aside"), sandbox.path("moved/away")).unwrap();
    sandbox.run(&["move", "--undo", "moved/away"]).expect(0);
    assert_eq!(tree(&sandbox, "moved"), before);
}

#[test]
fn files_come_back_to_their_folder_and_not_to_one_of_its_name_elsewhere() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    let before = tree(&sandbox, "in");
    sandbox.run(&MOVE).expect(0);
    sandbox.write("cloud/in/note.txt", "somebody else's");
    fs::rename(sandbox.path("aside"), sandbox.path("cloud/aside")).unwrap();
    sandbox.run(&["move", "--undo", "cloud/aside"]).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
    assert_eq!(tree(&sandbox, "cloud").len(), 1);
    // Both are put away together, and a new folder is begun.
    sandbox.run(&MOVE).expect(0);
    fs::create_dir(sandbox.path("2025")).unwrap();
    for name in ["in", "aside"] {
        fs::rename(sandbox.path(name), sandbox.path(format!("2025/{name}"))).unwrap();
    }
    sandbox.write("in/new.txt", "a new year");
    sandbox.run(&["move", "--undo", "2025/aside"]).expect(0);
    assert_eq!(tree(&sandbox, "2025/in"), before);
    assert_eq!(tree(&sandbox, "in").len(), 1);
}

#[test]
fn files_that_were_put_aside_are_no_originals() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    sandbox.run(&MOVE).expect(0);
    copied(&sandbox, "in", "more");
    for asked in [
        &["move", "more", "elsewhere", "--against", "aside"][..],
        &["move", "more", "elsewhere", "--against", "aside/0"],
        &["move", "aside", "elsewhere"],
    ] {
        let ran = sandbox.run(asked).expect(2);
        assert!(ran.stderr.contains("were moved aside"), "{}", ran.stderr);
        assert!(!sandbox.path("elsewhere").exists());
    }
    sandbox.run(&UNDO).expect(0);
}
