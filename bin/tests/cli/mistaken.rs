//! Files, folders and stores that are named in the wrong place.

use std::fs;

use crate::sandbox::{Sandbox, text};

/// Checks that a run fails with one line that has `told`.
#[track_caller]
fn check(sandbox: &Sandbox, arguments: &[&str], told: &str) {
    let ran = sandbox.run(arguments).expect(2);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn jaccard_compares_files_only() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    let told = "near: there is no such file; for stored documents, use `dedupdb explain near r1`\n";
    check(&sandbox, &["jaccard", "near", "r1"], told);
    let told = "in: it is a folder; name a file\n";
    check(&sandbox, &["jaccard", "in", "in"], told);
}

#[test]
fn a_query_for_a_stored_key_is_answered_with_the_option() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "r.jsonl",
        "{\"id\": \"a b\", \"text\": \"the night tram\"}\n",
    );
    sandbox.add(&["r.jsonl"], 0);
    let ran = sandbox.run(&["query", "a b"]);
    let told = "dedupdb: a b is stored: `dedupdb query --key 'a b'`\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = sandbox.run(&["query", "other"]);
    assert!(!ran.stderr.contains("is stored"), "{}", ran.stderr);
}

#[test]
fn cells_with_other_separators_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("semi.csv", "id;text\n1;the night tram\n");
    let ran = sandbox.run(&["add", "semi.csv"]).expect(2);
    let told = "its first row is \"id;text\", separated by `;`, and only commas and tabs are read; convert it to \
                commas or tabs\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_backup_is_not_called_a_store() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    sandbox.add(&["in"], 0);
    let told = "in: this folder holds \"a.txt\", and a backup goes into a new folder; name one, such as in/backup\n";
    check(&sandbox, &["backup", "in"], told);
    let told = "in/a.txt: this is a file, and a backup goes into a new folder; name another one\n";
    check(&sandbox, &["backup", "in/a.txt"], told);
}

#[test]
fn an_output_needs_a_name() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    let told = ".: this is not a name for a file or folder; name a new one\n";
    check(&sandbox, &["dedup", "in", "-o", "."], told);
}

#[test]
fn a_file_is_not_a_store() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "a file");
    let told = "file: this is a file, and a store is a folder; name one with --store\n";
    for arguments in [
        &["init"][..],
        &["add", "file"],
        &["add", "--dry-run", "file"],
        &["query", "file"],
        &["check"],
        &["compact"],
    ] {
        check(&sandbox, &[&["--store", "file"], arguments].concat(), told);
    }
    assert_eq!(fs::read_to_string(sandbox.path("file")).unwrap(), "a file");
}

#[test]
fn values_out_of_range_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("m.txt", text(1, 40));
    for (arguments, told) in [
        (
            &["query", "m.txt", "--limit", "0"][..],
            "give a whole number from 1 on",
        ),
        (&["init", "--recall", "101%"], "above 0 and below 1"),
    ] {
        let ran = sandbox.run(arguments).expect(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn what_is_wrong_with_the_arguments_fits_one_line() {
    let sandbox = Sandbox::new();
    for (arguments, told) in [
        (
            &["quary", "x"][..],
            "error: unrecognized subcommand 'quary'; a similar subcommand exists: 'query'",
        ),
        (
            &["add"],
            "error: the following required arguments were not provided: <PATH>...; see --help\n",
        ),
        (
            &["list", "--lnog"],
            "error: unexpected argument '--lnog' found; a similar argument exists: '--long'; see --help\n",
        ),
        (&["clusters", "--linkage", "odd"], "[possible values: "),
        (
            &["query", "x", "--limit", "0"],
            "give a whole number from 1 on; see --help\n",
        ),
        (
            &["move", "--undo", "aside", "--format", "html"],
            "'--undo <ASIDE>' cannot be used with '--format <FORMAT>'; see --help\n",
        ),
        (&["move", "--undo", "aside", "in"], "cannot be used with"),
    ] {
        check(&sandbox, arguments, told);
    }
}

#[test]
fn tips_have_to_do_with_what_was_typed() {
    let sandbox = Sandbox::new();
    let told = |arguments: &[&str]| sandbox.run(arguments).expect(2).stderr;
    assert!(told(&["add", "--excludes", "x"]).contains("--exclude"));
    assert!(told(&["add", "--stirct", "x"]).contains("--strict"));
    for arguments in [
        &["report", "--open"][..],
        &["explain", "--threshold", "0.9"],
    ] {
        let told = told(arguments);
        assert!(!told.contains("tip:"), "{told}");
    }
    sandbox.write("--zz", "the night tram");
    assert!(told(&["add", "--zz"]).contains("-- --zz"));
}

#[test]
fn a_pattern_that_excludes_nothing_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("in/news/a.txt", text(1, 40));
    sandbox.write("in/b.txt", text(1, 40));
    let told =
        "--exclude nwes/ matches nothing in the folders that were read, so nothing was excluded";
    let moving = ["move", "in", "aside", "--dry-run", "--exclude"];
    for arguments in [&["add", "in", "--exclude"][..], &moving] {
        let run = |glob| sandbox.run(&[arguments, &[glob]].concat()).expect(0).stderr;
        assert!(run("nwes/").contains(told));
        assert!(!run("news/").contains("nothing was excluded"));
    }
    sandbox.write("old/papers/c.txt", text(2, 40));
    sandbox.write("old/d.txt", text(3, 40));
    let compared = [&moving[..], &["papers/", "--against", "old"]].concat();
    let ran = sandbox.run(&compared).expect(0);
    assert!(!ran.stderr.contains("nothing was excluded"));
}

#[test]
fn integers_are_no_texts() {
    let sandbox = Sandbox::new();
    sandbox.write("s.txt", "a 1 2 3\n");
    sandbox.run(&["--store", "words", "init"]).expect(0);
    for arguments in [
        &["add"][..],
        &["dedup", "-o", "o"],
        &["--store", "words", "add"],
        &["--store", "words", "dedup", "-o", "o"],
        &["--store", "new", "dedup", "-o", "o"],
    ] {
        let arguments = [arguments, &["s.txt", "--format", "shingles"]].concat();
        let ran = sandbox.run(&arguments).expect(2);
        assert!(
            ran.stderr.contains("they need --shingling ids"),
            "{}",
            ran.stderr
        );
    }
    assert!(!sandbox.path(".dedupdb").exists() && !sandbox.path("new").exists());
}

#[test]
fn a_command_for_integers_needs_a_store_or_an_option_for_them() {
    let sandbox = Sandbox::new();
    sandbox.write("s.txt", "a 1 2 3\n");
    sandbox.run(&["init", "--shingling", "ids"]).expect(0);
    sandbox.add(&["s.txt", "--format", "shingles"], 0);
    let ids = ["s.txt", "--format", "shingles", "-o", "o.txt"];
    let against = ["dedup", "--against", ".dedupdb"];
    sandbox.run(&[&against[..], &ids].concat()).expect(0);
    let matrix = ["matrix", "s.txt", "--format", "shingles", "-o", "m.csv"];
    let told = sandbox.run(&matrix).expect(2).stderr;
    assert!(told.contains("they need --shingling ids"), "{told}");
}
