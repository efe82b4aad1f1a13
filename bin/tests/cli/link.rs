//! Copies that become names of one file.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use crate::sandbox::{Sandbox, text};

fn inode(sandbox: &Sandbox, name: &str) -> u64 {
    fs::symlink_metadata(sandbox.path(name)).unwrap().ino()
}

/// Three copies of one file, two of another one, and files that are not copies.
fn files(sandbox: &Sandbox) {
    for (seed, name) in [
        (1, "in/a.txt"),
        (1, "in/b.txt"),
        (1, "in/deep/c.txt"),
        (2, "in/d.txt"),
        (2, "in/e.txt"),
        (3, "in/f.txt"),
        (1, "in/.git/g"),
    ] {
        sandbox.write(name, text(seed, 20));
    }
    sandbox.write("in/empty", "");
    sandbox.write("in/empty too", "");
}

#[test]
fn copies_become_names_of_the_first() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let size = text(1, 20).len() as u64;
    let inodes = ["in/a.txt", "in/b.txt", "in/d.txt"].map(|name| inode(&sandbox, name));
    let ran = sandbox.run(&["link", "in", "--dry-run"]).expect(0);
    let lines = format!(
        "in/b.txt\tin/a.txt\t{size}\nin/deep/c.txt\tin/a.txt\t{size}\nin/e.txt\tin/d.txt\t{}\n",
        text(2, 20).len()
    );
    assert_eq!(ran.stdout, lines);
    assert_eq!(
        ["in/a.txt", "in/b.txt", "in/d.txt"].map(|name| inode(&sandbox, name)),
        inodes
    );
    let ran = sandbox.run(&["link", "in"]).expect(0);
    assert_eq!(ran.stdout, lines);
    assert!(
        ran.stderr.contains("8 files, 3 copies linked"),
        "{}",
        ran.stderr
    );
    for options in [&["--dry-run"][..], &[]] {
        let again = sandbox.run(&[&["link", "in"], options].concat()).expect(0);
        assert_eq!(again.stderr, "8 files, nothing to link\n");
    }
    for (copy, original) in [
        ("b.txt", "a.txt"),
        ("deep/c.txt", "a.txt"),
        ("e.txt", "d.txt"),
    ] {
        let both = [copy, original].map(|name| inode(&sandbox, &format!("in/{name}")));
        assert_eq!(both[0], both[1], "{copy}");
    }
    assert_eq!(inode(&sandbox, "in/a.txt"), inodes[0]);
    assert_eq!(
        fs::read_to_string(sandbox.path("in/b.txt")).unwrap(),
        text(1, 20)
    );
    assert_ne!(inode(&sandbox, "in/.git/g"), inodes[0]);
    assert_ne!(inode(&sandbox, "in/empty"), inode(&sandbox, "in/empty too"));
    let done = sandbox
        .run(&["--json", "link", "in"])
        .expect(0)
        .objects()
        .pop()
        .unwrap();
    assert_eq!(done["copies"], 0, "{done}");
}

#[test]
fn what_may_not_be_linked_is_told_and_left() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    fs::set_permissions(sandbox.path("in/b.txt"), Permissions::from_mode(0o600)).unwrap();
    sandbox.write("out/copy.txt", text(1, 20));
    symlink(sandbox.path("out"), sandbox.path("in/folder")).unwrap();
    symlink(sandbox.path("in/a.txt"), sandbox.path("in/link")).unwrap();
    // Two names of one file, one of them elsewhere: no bytes are freed.
    fs::hard_link(sandbox.path("in/e.txt"), sandbox.path("out/e.txt")).unwrap();
    let outside = inode(&sandbox, "out/copy.txt");
    let ran = sandbox.run(&["--json", "link", "in"]).expect(0);
    let done = ran.objects().pop().unwrap();
    let size = text(1, 20).len();
    let expected = json!({
        "files": 8, "copies": 2, "freed": size, "left": 1, "failed": 0, "dry_run": false,
    });
    assert_eq!(done, expected);
    assert!(
        ran.stderr
            .contains("in/b.txt (the same as in/a.txt): its mode is another one"),
        "{}",
        ran.stderr
    );
    assert_eq!(inode(&sandbox, "out/copy.txt"), outside);
    assert!(sandbox.path("in/link").is_symlink());
    // A link to a folder, a file and a store are refused.
    let ran = sandbox.run(&["link", "in/folder"]).expect(2);
    assert!(
        ran.stderr.contains("a folder is needed here"),
        "{}",
        ran.stderr
    );
    sandbox.run(&["link", "in/a.txt"]).expect(2);
    sandbox.add(&["in/f.txt"], 0);
    sandbox.run(&["link", ".dedupdb"]).expect(2);
}

#[test]
fn what_a_killed_run_left_goes() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let left = sandbox.path("in/deep/.dedupdb-link-7-0");
    fs::hard_link(sandbox.path("in/a.txt"), &left).unwrap();
    // A file with such a name that is not a copy of another file stays.
    sandbox.write("in/.dedupdb-link-mine", "mine");
    sandbox.run(&["link", "in", "--dry-run"]).expect(0);
    assert!(left.exists());
    sandbox.run(&["link", "in"]).expect(0);
    assert!(!left.exists());
    assert!(sandbox.path("in/.dedupdb-link-mine").exists());
    let names = fs::read_dir(sandbox.path("in/deep")).unwrap().count();
    assert_eq!(names, 1);
}

#[test]
fn a_folder_that_takes_no_names_keeps_its_copies() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    fs::set_permissions(sandbox.path("in/deep"), Permissions::from_mode(0o500)).unwrap();
    let ran = sandbox.run(&["--json", "link", "in"]);
    let done = ran.objects().pop().unwrap();
    fs::set_permissions(sandbox.path("in/deep"), Permissions::from_mode(0o700)).unwrap();
    // Root can write there nevertheless.
    let failed = done["failed"].as_u64().unwrap();
    assert_eq!(done["copies"], 3 - failed, "{done}");
    assert_eq!(
        failed > 0,
        inode(&sandbox, "in/deep/c.txt") != inode(&sandbox, "in/a.txt")
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("in/deep/c.txt")).unwrap(),
        text(1, 20)
    );
}

#[test]
fn only_what_a_killed_run_left_is_removed() {
    let sandbox = Sandbox::new();
    sandbox.write("in/keep", "mine");
    for name in [".dedupdb-link-mine", ".dedupdb-link-17-3"] {
        fs::hard_link(sandbox.path("in/keep"), sandbox.path(format!("in/{name}"))).unwrap();
    }
    sandbox.run(&["link", "in"]);
    assert!(sandbox.path("in/.dedupdb-link-mine").exists());
    assert!(!sandbox.path("in/.dedupdb-link-17-3").exists());
}

#[test]
fn one_run_at_a_time_links_the_files_of_a_folder() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let folder = fs::File::open(sandbox.path("in")).unwrap();
    folder.lock().unwrap();
    let ran = sandbox.run(&["link", "in"]).expect(75);
    let told = "another process is moving or linking files in it";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    sandbox.run(&["link", "in", "--dry-run"]).expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    sandbox.write("in/a", "the same");
    for byte in [b'\xfe', b'\xff'] {
        sandbox.write(Path::new("in").join(OsStr::from_bytes(&[byte])), "the same");
    }
    let ran = sandbox.run(&["link", "in", "--dry-run"]).expect(0);
    assert_eq!(ran.lines().len(), 2);
    assert!(ran.stdout.contains("FE\tin/a\t8") && ran.stdout.contains("FF\tin/a\t8"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_copy_with_attributes_of_its_own_stays() {
    use rustix::fs::{XattrFlags, setxattr};
    let sandbox = Sandbox::new();
    files(&sandbox);
    let copy = sandbox.path("in/b.txt");
    let set = setxattr(&copy, "user.t", b"mine", XattrFlags::empty());
    if set.is_err() {
        #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
        {
            eprintln!("skipped: the file system has no extended attributes");
        }
        return;
    }
    let ran = sandbox.run(&["link", "in"]).expect(0);
    let told = "in/b.txt (the same as in/a.txt): its extended attributes (such as an access list) would be lost";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_ne!(inode(&sandbox, "in/b.txt"), inode(&sandbox, "in/a.txt"));
    assert_eq!(
        inode(&sandbox, "in/deep/c.txt"),
        inode(&sandbox, "in/a.txt")
    );
}
