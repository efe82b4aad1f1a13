//! What `dedup --force` replaces, and what it leaves alone.

use std::fs;

use serde_json::json;

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
    let there = ["b.txt", "d.txt", "deep/c.txt"];
    assert_eq!(files(&sandbox.path("out")), there);
    assert_eq!(sandbox.names(), ["in", "out", "out.old"]);
}

#[test]
fn no_output_is_replaced_by_one_without_documents() {
    let sandbox = filled();
    let record = |id| format!("{}\n", json!({ "id": id, "text": text(id, 50) }));
    sandbox.write("day.jsonl", record(1) + &record(2));
    let run = |input: &str, output: &str| {
        let store = format!("--store=st-{output}");
        sandbox.run(&["dedup", input, "-o", output, "--force", "--quiet", &store])
    };
    for (input, output) in [("in", "folder"), ("day.jsonl", "records.jsonl")] {
        run(input, output).expect(0);
        let before = files(&sandbox.path(output));
        let ran = run(input, output).expect(2);
        let said = format!("dedupdb: {output}: no new document was kept");
        assert!(ran.stderr.starts_with(&said), "{}", ran.stderr);
        assert_eq!(files(&sandbox.path(output)), before);
        assert!(!sandbox.path(format!(".{output}.dedup")).exists());
    }
    assert_eq!(read(&sandbox, "records.jsonl").lines().count(), 2);
    // A new document is written. A file without content is replaced.
    sandbox.write("day.jsonl", record(1) + &record(3));
    run("day.jsonl", "records.jsonl").expect(0);
    assert_eq!(read(&sandbox, "records.jsonl"), record(3));
    sandbox.write("records.jsonl", "");
    run("day.jsonl", "records.jsonl").expect(0);
}

#[test]
fn a_folder_that_is_replaced_is_whole_under_another_name() {
    let sandbox = filled();
    sandbox.write("out/deep/mine.txt", "precious");
    sandbox.write("out/a.txt", "changed");
    let before = files(&sandbox.path("out"));
    for aside in ["out.old", "out.old2"] {
        let ran = sandbox.run(&["dedup", "in", "-o", "out", "--force"]);
        let ran = ran.expect(0);
        let said = format!("what was in the place of the output is {aside} now");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert_eq!(files(&sandbox.path("out")), ["a.txt", "deep/c.txt"]);
    }
    assert_eq!(files(&sandbox.path("out.old")), before);
    assert_eq!(read(&sandbox, "out.old/deep/mine.txt"), "precious");
    assert_eq!(files(&sandbox.path("out.old2")), ["a.txt", "deep/c.txt"]);
    // Without --force, only an empty folder is written to.
    let ran = sandbox.run(&["dedup", "in", "-o", "out", "--quiet"]);
    assert!(ran.expect(2).stderr.contains("--force"));
    fs::create_dir(sandbox.path("new")).unwrap();
    sandbox
        .run(&["dedup", "in", "-o", "new", "--quiet"])
        .expect(0);
    assert_eq!(files(&sandbox.path("new")), ["a.txt", "deep/c.txt"]);
    assert_eq!(sandbox.names(), ["in", "new", "out", "out.old", "out.old2"]);
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
    // A work folder that is somebody else's.
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

#[cfg(unix)]
#[test]
fn a_slash_behind_a_link_changes_nothing() {
    let sandbox = filled();
    std::os::unix::fs::symlink("out", sandbox.path("link")).unwrap();
    for place in ["link", "link/", "link/."] {
        let ran = sandbox.run(&["dedup", "in", "-o", place, "--force"]);
        let ran = ran.expect(2);
        assert!(
            ran.stderr.contains("this is a symbolic link"),
            "{place}: {}",
            ran.stderr
        );
    }
    for place in ["out", "out/", "out/."] {
        sandbox
            .run(&["dedup", "in", "-o", place, "--force", "--quiet"])
            .expect(0);
    }
}

#[test]
fn no_output_lies_in_another() {
    let sandbox = filled();
    let before = files(&sandbox.path(""));
    for (output, option, other) in [
        ("out", "--removed", "out/removed"),
        ("out", "--skipped", "out/deep/skipped"),
        ("out", "--skipped", "in/../out/a.txt"),
        ("out/new", "--removed", "out"),
    ] {
        let ran = sandbox.run(&["dedup", "in", "-o", output, option, other, "--force"]);
        let ran = ran.expect(2);
        let named = "which is another output; write to a place outside";
        assert!(ran.stderr.contains(named), "{other}: {}", ran.stderr);
        assert_eq!(files(&sandbox.path("")), before);
    }
}

/// The run is unfinished then, so it can be repeated.
#[cfg(target_os = "linux")]
#[test]
fn a_list_that_cannot_be_written_leaves_no_output() {
    let sandbox = filled();
    sandbox.write("in/broken.jsonl", "no JSON\n");
    let run = |output: &str, more: &[&str]| {
        let mut arguments = vec!["dedup", "in", "-o", output, "--store", "st", "--quiet"];
        arguments.extend(more);
        sandbox.run(&arguments).expect(2)
    };
    let ran = run("new", &["--skipped", "/dev/full"]);
    assert!(ran.stderr.contains("/dev/full"), "{}", ran.stderr);
    assert!(!sandbox.path("new").exists());
    run("new", &[]);
    assert_eq!(read(&sandbox, "new/a.txt"), read(&sandbox, "in/a.txt"));
}

#[test]
fn no_output_lies_over_in_or_around_a_store() {
    let sandbox = filled();
    for store in ["st", "deep/other"] {
        sandbox
            .run(&["add", "in", "--store", store, "--quiet"])
            .expect(0);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("st", sandbox.path("link")).unwrap();
    let figures = |command: &[&'static str], option: &'static str, name: &'static str| {
        [command, &[option, name]].concat()
    };
    let dedup = ["dedup", "in", "--force", "--store", "st"];
    let listed = ["dedup", "in", "-o", "new", "--force", "--store", "st"];
    let matrix = ["matrix", "in"];
    let mut refused = vec![
        figures(&dedup, "-o", "st"),
        figures(&dedup, "-o", "deep"),
        figures(&dedup, "-o", "st/contents.1"),
        figures(&dedup, "-o", "st/new"),
        figures(&dedup[..2], "-o", "deep/other/new"),
        figures(&listed, "--removed", "st/index.redb"),
        figures(&matrix, "-o", "st/new.csv"),
        [&matrix[..], &["-o", "new.csv", "--keys", "st/keys"]].concat(),
        figures(&["tune", "--store", "st"], "--plot", "st/new.svg"),
        figures(&["eval", "accuracy", "in"], "-o", "st/new.csv"),
        figures(&["eval", "accuracy", "in"], "--plot", "st/new.svg"),
        figures(&["man"], "--out", "st"),
        figures(&["man"], "--out", "st/man"),
        // A store that is about to be made.
        vec!["dedup", "in", "-o", "made", "--store", "made"],
        vec!["dedup", "in", "-o", "made", "--store", "made/store"],
    ];
    if cfg!(unix) {
        refused.push(figures(&dedup, "-o", "link"));
        refused.push(figures(&dedup, "-o", "link/new"));
    }
    let before = files(&sandbox.path(""));
    for arguments in refused {
        let ran = sandbox.run(&arguments).expect(2);
        assert!(
            ran.stderr.contains("store"),
            "{arguments:?}: {}",
            ran.stderr
        );
        assert_eq!(
            ran.stderr.lines().count(),
            1,
            "{arguments:?}: {}",
            ran.stderr
        );
        assert_eq!(files(&sandbox.path("")), before, "{arguments:?}");
    }
    for store in ["st", "deep/other"] {
        sandbox.run(&["check", "--store", store]).expect(0);
    }
}

#[test]
fn what_was_skipped_is_said_not_to_be_there() {
    let sandbox = filled();
    sandbox.write("in/binary", "\0");
    let ran = sandbox.run(&["dedup", "in", "-o", "next"]).expect(0);
    let said = "what was skipped (1) is not in the output";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = sandbox
        .run(&["dedup", "in", "-o", "list", "--list"])
        .expect(0);
    assert!(!ran.stderr.contains(said), "{}", ran.stderr);
    sandbox.write(
        "pages.jsonl",
        "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\"}\n",
    );
    let ran = sandbox
        .run(&["dedup", "pages.jsonl", "-o", "next.jsonl"])
        .expect(2);
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn temporary_files_have_a_bound() {
    let sandbox = filled();
    let longest = ["dedup", "in", "-o", "next", "--keep", "longest"];
    let ran = sandbox
        .run(&[&longest[..], &["--temp-limit", "1kB"]].concat())
        .expect(2);
    for named in [".next.dedup", "1.0 kB", "--temp-limit", "--keep first"] {
        assert!(ran.stderr.contains(named), "{named}: {}", ran.stderr);
    }
    assert_eq!(sandbox.names(), ["in", "out"]);
    sandbox
        .run(&[&longest[..], &["--temp-limit", "1MB"]].concat())
        .expect(0);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_named_with_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("in.txt", text(1, 700_000));
    // No file may grow beyond 4 MiB.
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let line =
        format!("trap '' XFSZ; ulimit -f 8192; exec {program} dedup in.txt -o out --keep longest");
    let ran = Ran::of(sandbox.shell(&line).output().unwrap()).expect(2);
    assert!(
        ran.stderr.contains(".out.dedup: the temporary texts"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("--keep first"), "{}", ran.stderr);
    assert_eq!(sandbox.names(), ["in.txt"]);
}

#[cfg(unix)]
#[test]
fn names_of_several_lines_go_into_a_list() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a\nb", text(1, 50));
    sandbox.write("in/a\\nb", text(2, 50));
    let list = ["dedup", "in", "-o", "-", "--list", "--quiet"];
    let ran = sandbox.run(&list).expect(0);
    assert_eq!(ran.stdout, "in/a\\nb\nin/a\\\\nb\n");
    let ran = sandbox.run(&[&list[..], &["-0"]].concat()).expect(0);
    assert_eq!(ran.stdout, "in/a\nb\0in/a\\nb\0");
    // The printed form of a key leads to the key.
    sandbox.add(&["in"], 0);
    let listed = sandbox.run(&["list"]).expect(0);
    assert_eq!(listed.lines(), ["in/a\\nb", "in/a\\\\nb"]);
    for printed in listed.lines() {
        sandbox.run(&["show", "--escaped", printed]).expect(0);
        sandbox
            .run(&["query", "--escaped", "--key", printed])
            .expect(1);
        sandbox
            .run(&["explain", "--escaped", printed, printed])
            .expect(0);
        sandbox
            .run(&["list", "--escaped", "--prefix", printed])
            .expect(0);
        sandbox.run(&["remove", "--escaped", printed]).expect(0);
    }
    let ran = sandbox.run(&["show", "--escaped", "a\\x"]).expect(2);
    assert!(ran.stderr.contains("backslash"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_access_rights() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", "{\"text\": \"one two three\"}\n");
    let run = [
        "dedup",
        "in.jsonl",
        "-o",
        "out.jsonl",
        "--removed",
        "gone.tsv",
    ];
    sandbox.run(&run).expect(0);
    for name in ["out.jsonl", "gone.tsv"] {
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(sandbox.path(name), mode).unwrap();
    }
    sandbox.write("in.jsonl", "{\"text\": \"four five six\"}\n");
    sandbox.run(&[&run[..], &["--force"]].concat()).expect(0);
    assert!(read(&sandbox, "out.jsonl").contains("four"));
    let mode = |name: &str| {
        let metadata = fs::metadata(sandbox.path(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!([mode("out.jsonl"), mode("gone.tsv")], [0o600; 2]);
    let folder = ["dedup", "in", "-o", "out"];
    sandbox.write("in/a.txt", text(1, 50));
    sandbox.run(&folder).expect(0);
    fs::set_permissions(sandbox.path("out"), fs::Permissions::from_mode(0o700)).unwrap();
    sandbox.run(&[&folder[..], &["--force"]].concat()).expect(0);
    assert_eq!(mode("out"), 0o700);
}

#[cfg(unix)]
#[test]
fn what_a_run_makes_is_not_read_by_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("all/in/a.txt", text(1, 40));
    sandbox.write("all/in/b.txt", text(1, 40));
    std::os::unix::fs::symlink("..", sandbox.path("all/in/up")).unwrap();
    let run = [
        "dedup",
        "all/in",
        "--follow",
        "-o",
        "all/out",
        "--removed",
        "all/gone.tsv",
    ];
    let ran = sandbox.run(&run).expect(0);
    assert!(ran.stderr.contains("job file"), "{}", ran.stderr);
    let places: Vec<String> = read(&sandbox, "all/gone.tsv")
        .lines()
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect();
    assert!(
        places.iter().all(|place| !place.contains(".dedup")),
        "{places:?}"
    );
}
