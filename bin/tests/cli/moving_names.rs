//! Moving files aside that have links to them and other names.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use crate::moving::{MOVE, UNDO, pairs, tree};
use crate::sandbox::{Ran, Sandbox, text};

#[test]
fn links_and_other_names_lose_nothing() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 4);
    let path = |name: &str| sandbox.path(Path::new("in").join(name));
    symlink("old/b000.txt", path("0/to-b000.txt")).unwrap();
    fs::hard_link(path("1/old/b001.txt"), path("1/z001.txt")).unwrap();
    fs::create_dir(sandbox.path("beside")).unwrap();
    sandbox.write("beside/c.txt", text(0, 40));
    symlink("../beside", path("beside")).unwrap();
    let before = tree(&sandbox, "in");
    let ran = sandbox.run(&[&MOVE[..], &["--follow"]].concat()).expect(0);
    assert!(
        ran.stderr
            .contains("in/0/old/b000.txt: a symbolic link leads to it; it stays there"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.lines().len(), 4, "{}", ran.stdout);
    assert!(sandbox.path("beside/c.txt").exists());
    assert!(path("0/to-b000.txt").exists(), "it is no broken link");
    let inode = |name: &str| fs::metadata(sandbox.path(name)).unwrap().ino();
    assert_eq!(inode("aside/1/old/b001.txt"), inode("aside/1/z001.txt"));
    sandbox.run(&UNDO).expect(0);
    assert_eq!(tree(&sandbox, "in"), before);
}

#[test]
fn all_names_of_a_file_are_moved() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 2);
    fs::create_dir(sandbox.path("in/z")).unwrap();
    for (file, name) in [
        ("in/0/old/b000.txt", "in/z/b.txt"),
        ("in/1/b001.txt", "in/z/a.txt"),
    ] {
        fs::hard_link(sandbox.path(file), sandbox.path(name)).unwrap();
    }
    let before = tree(&sandbox, "in");
    let ran = sandbox.run(&MOVE).expect(0);
    assert_eq!(ran.lines().len(), 3, "{}", ran.stdout);
    assert!(sandbox.path("aside/z/b.txt").exists() && sandbox.path("in/z/a.txt").exists());
    let size = |file: &str| fs::metadata(sandbox.path(file)).unwrap().len();
    let size = size("aside/z/b.txt") + size("aside/1/old/b001.txt");
    assert!(
        ran.stderr.contains(&format!("3 files moved, {size} B")),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&UNDO).expect(0);
    let told = format!("3 files moved back, {size} B");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    assert_eq!(tree(&sandbox, "in"), before);
    let names = ["in/0/old/b000.txt", "in/z/b.txt"];
    let [one, other] = names.map(|name| fs::metadata(sandbox.path(name)).unwrap().ino());
    assert_eq!(one, other);
}

#[test]
fn names_of_one_file_stay_together() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    let [first, other] = ["in/0/old/b000.txt", "in/z.txt"].map(|name| sandbox.path(name));
    fs::hard_link(&first, &other).unwrap();
    symlink("b000.txt", sandbox.path("in/0/old/link")).unwrap();
    let ran = sandbox.run(&MOVE).expect(0);
    for said in [
        "in/0/old/b000.txt: a symbolic link leads to it; it stays there",
        "in/z.txt: it is another name of in/0/old/b000.txt, which stays; it stays there",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(first.exists() && other.exists() && !sandbox.path("aside").exists());
}

#[test]
fn files_of_the_current_folder_are_listed_as_their_keys_are() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", format!("{}\nend", text(1, 40)));
    sandbox.write("in/a copy.txt", text(1, 40));
    let mut command = sandbox.command(&["move", ".", "../aside", "--dry-run"]);
    command.current_dir(sandbox.path("in"));
    let ran = Ran::of(command.output().unwrap()).expect(0);
    let row: Vec<&str> = ran.stdout.split('\t').take(3).collect();
    assert_eq!(row, ["a copy.txt", "../aside/a copy.txt", "a.txt"]);
}
