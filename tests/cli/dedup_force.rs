//! What `dedup --force` replaces, and what it leaves alone.

use std::fs;

use crate::dedup::{files, read};
use crate::sandbox::{Ran, Sandbox, text};

fn filled() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 50));
    sandbox.write("in/b.txt", text(1, 50));
    sandbox.write("in/deep/c.txt", text(2, 50));
    sandbox
        .run(&["dedup", "in", "-o", "out", "--quiet"])
        .expect(0);
    sandbox
}

fn again(sandbox: &Sandbox) -> Ran {
    sandbox.run(&["dedup", "in", "-o", "out", "--force", "--quiet"])
}

#[track_caller]
fn refused(sandbox: &Sandbox, named: &str) {
    let before = files(&sandbox.path(""));
    let ran = again(sandbox).expect(2);
    assert!(ran.stderr.contains(named), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(files(&sandbox.path("")), before);
}

#[test]
fn an_output_is_replaced() {
    let sandbox = filled();
    sandbox.write("in/d.txt", text(3, 50));
    fs::remove_file(sandbox.path("in/a.txt")).unwrap();
    again(&sandbox).expect(0);
    let there = [".dedupdb-output", "b.txt", "d.txt", "deep/c.txt"];
    assert_eq!(files(&sandbox.path("out")), there);
    assert_eq!(sandbox.names(), ["in", "out"]);
}

#[test]
fn what_its_user_put_there_or_changed_is_left_alone_and_named() {
    let sandbox = filled();
    sandbox.write("out/deep/mine.txt", "precious");
    refused(&sandbox, "out/deep/mine.txt: dedupdb did not write this");
    fs::remove_file(sandbox.path("out/deep/mine.txt")).unwrap();
    let was = read(&sandbox, "out/a.txt");
    sandbox.write("out/a.txt", was.replace('w', "v"));
    refused(&sandbox, "out/a.txt: this was changed");
    sandbox.write("out/a.txt", was);
    again(&sandbox).expect(0);
    fs::remove_file(sandbox.path("out/.dedupdb-output")).unwrap();
    refused(&sandbox, "out: dedupdb did not write this folder");
}

#[test]
fn the_list_of_an_output_is_no_document() {
    let sandbox = filled();
    let summary = sandbox.add(&["out"], 0);
    assert_eq!(summary["added"], 2);
    assert_eq!(summary["skipped"]["dedupdb manifest"], 1);
    // Neither is it copied; the next output has its own.
    sandbox
        .run(&["dedup", "out", "-o", "next", "--quiet"])
        .expect(0);
    sandbox
        .run(&["dedup", "in", "-o", "next", "--force", "--quiet"])
        .expect(0);
    // A file that is only called so is a document, which an output has no place for.
    sandbox.write("called/.dedupdb-output", text(4, 50));
    assert_eq!(sandbox.add(&["called"], 0)["added"], 1);
    let ran = sandbox.run(&["dedup", "called", "-o", "x"]).expect(2);
    assert!(ran.stderr.contains("rename it"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn links_are_not_replaced_and_not_followed() {
    use std::os::unix::fs::symlink;
    let sandbox = filled();
    fs::rename(sandbox.path("out"), sandbox.path("there")).unwrap();
    symlink("there", sandbox.path("out")).unwrap();
    refused(&sandbox, "out: this is a symbolic link");
    fs::remove_file(sandbox.path("out")).unwrap();
    // A work folder that somebody else laid out.
    for name in ["store", "output", "old", "texts", "records", "dedupdb-work"] {
        sandbox.write(format!("theirs/{name}"), "precious");
    }
    symlink("theirs", sandbox.path(".out.dedup")).unwrap();
    refused(
        &sandbox,
        ".out.dedup: dedupdb works in a folder of this name",
    );
    fs::remove_file(sandbox.path(".out.dedup")).unwrap();
    symlink("theirs", sandbox.path(".removed.dedup")).unwrap();
    let listed = ["dedup", "in", "-o", "out", "--removed", "removed"];
    let ran = sandbox.run(&listed).expect(2);
    assert!(ran.stderr.contains(".removed.dedup"), "{}", ran.stderr);
    assert_eq!(files(&sandbox.path("theirs")).len(), 6);
    assert_eq!(sandbox.names(), [".removed.dedup", "in", "theirs", "there"]);
}
