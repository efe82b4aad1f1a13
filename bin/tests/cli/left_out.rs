//! What is left out is named: some on standard error, all with -v, and all in a file.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, text};

/// A folder with a text, two files that are not text, and broken records.
fn mixed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 40));
    sandbox.write("in/b.bin", b"some text\0");
    sandbox.write("in/c.pdf", "%PDF-1.4");
    sandbox.write("in/d.jsonl", "{\"id\": 1, \"body\": \"x\"}\n".repeat(1234));
    sandbox
}

/// What the list must contain, whichever command writes it.
const FIRST: &str = "in/b.bin\tbinary\tit has a NUL byte\n\
                     in/c.pdf\tbinary\tPDF document\n\
                     in/d.jsonl:1\tbad record\tno field \"text\"; it has \"id\", \"body\" (choose one \
                     with --text-field)\n";

#[test]
fn a_list_names_all_that_was_left_out() {
    let sandbox = mixed();
    sandbox.write("one.txt", text(2, 40));
    sandbox.add(&["one.txt"], 0);
    for command in [
        &["add", "in"][..],
        &["add", "--dry-run", "--checksum", "in"],
        &["query", "in"],
        &["map", "-q", "in"],
        &["dedup", "in", "-o", "out"],
        &["dedup", "in", "-o", "out2", "--keep", "longest"],
        &["matrix", "in", "one.txt", "-o", "m.csv"],
        &["eval", "accuracy", "in", "one.txt"],
    ] {
        let ran = sandbox.run(&[command, &["--skipped", "list.tsv"]].concat());
        assert_eq!(ran.code, Some(2), "{command:?}: {}", ran.stderr);
        let list = fs::read_to_string(sandbox.path("list.tsv")).unwrap();
        assert!(list.starts_with(FIRST), "{command:?}: {list}");
        assert_eq!(list.lines().count(), 1237, "{command:?}");
        // The first of the broken records, which are all alike, and how many more there are.
        assert_eq!(ran.stderr.matches(":1: no field").count(), 1, "{command:?}");
        let more = "dedupdb: and 1,233 more: bad record\n";
        assert!(ran.stderr.contains(more), "{command:?}: {}", ran.stderr);
        fs::remove_file(sandbox.path("list.tsv")).unwrap();
    }
    sandbox
        .run(&["add", "in", "--skipped", "list.jsonl"])
        .expect(2);
    let list = fs::read_to_string(sandbox.path("list.jsonl")).unwrap();
    let first: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let expected =
        json!({ "place": "in/b.bin", "reason": "binary", "detail": "it has a NUL byte" });
    assert_eq!(first, expected);
}

#[test]
fn verbose_names_all_and_the_default_the_first_failures() {
    let sandbox = mixed();
    sandbox.write("in/e.jsonl", "no object\n".repeat(20));
    let ran = sandbox.run(&["add", "in"]).expect(2);
    assert_eq!(ran.stderr.matches("in/d.jsonl:").count(), 2);
    assert_eq!(ran.stderr.matches("in/e.jsonl:").count(), 10);
    assert!(
        ran.stderr
            .contains("and 1,244 more: bad record; -v names all, --skipped FILE lists them"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("b.bin"), "{}", ran.stderr);
    let ran = sandbox.run(&["add", "-v", "in"]).expect(2);
    assert_eq!(ran.stderr.matches(": no field").count(), 1234);
    assert!(
        ran.stderr
            .contains("dedupdb: in/c.pdf: binary, PDF document; left out\n"),
        "{}",
        ran.stderr
    );
    // Without a summary, the first of each reason are named.
    let ran = sandbox.run(&["query", "in"]).expect(2);
    assert!(
        ran.stderr
            .contains("in/b.bin: binary, it has a NUL byte; left out")
    );
}

#[test]
fn a_list_takes_the_place_of_nothing_else() {
    let sandbox = mixed();
    for arguments in [
        &["add", "in", "--skipped", "in/list"][..],
        &["dedup", "in", "-o", "out", "--list", "--skipped", "out"],
        &[
            "dedup",
            "in",
            "-o",
            "out",
            "--removed",
            "rm",
            "--skipped",
            "rm",
        ],
        &["matrix", "in", "-o", "m.csv", "--skipped", "m.csv"],
    ] {
        sandbox.run(arguments).expect(2);
        assert_eq!(sandbox.names(), ["in"], "{arguments:?}");
    }
    let stream = ["dedup", "in", "-o", "out", "--skipped", "-"];
    let ran = sandbox.run(&stream).expect(2);
    assert!(ran.stderr.contains("--skipped needs the name of a file"));
    assert_eq!(sandbox.names(), ["in"]);
}

/// An output that cannot be written is reported under the name that the user gave.
#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_named_and_nothing_else() {
    let sandbox = mixed();
    sandbox.write("file", "of a user");
    let ran = sandbox.run(&["dedup", "in", "-o", "file/out"]).expect(2);
    let said = "dedupdb: file/out: its folder cannot be written to: ";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

#[test]
fn files_stored_under_other_names_are_told_and_are_no_copies() {
    let sandbox = Sandbox::new();
    for seed in 0..3 {
        sandbox.write(format!("in/{seed}.txt"), text(seed, 60));
    }
    sandbox.write("in/copy.txt", text(0, 60));
    sandbox.add(&["in"], 0);
    let folder = sandbox.path("in").canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    // One file has changed a little since.
    sandbox.write("in/2.txt", format!("{} more", text(2, 60)));
    let ran = sandbox
        .run(&["--json", "add", "--matches", folder])
        .expect(0);
    let objects = ran.objects();
    assert_eq!(objects.len(), 1, "{}", ran.stdout);
    let counts = ["added", "exact_copies", "near_duplicates", "other_names"];
    assert_eq!(
        counts.map(|name| objects[0][name].as_u64().unwrap()),
        [0, 0, 0, 4]
    );
    let note = format!(
        "dedupdb: 4 files are stored under other names already, and not a second time (first: {folder}/0.txt = in/0.txt)"
    );
    assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    // The same in the other direction.
    let again = sandbox.add(&["--checksum", "in"], 0);
    assert_eq!(
        (&again["unchanged"], &again["updated"]),
        (&json!(4), &json!(0))
    );
    assert_eq!(sandbox.keys().len(), 4);
    // It is said each time.
    let ran = sandbox
        .run(&["add", "--checksum", &format!("{folder}/0.txt")])
        .expect(0);
    let said =
        "dedupdb: 1 file is stored under other names already, and not a second time (first: ";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

#[test]
fn a_renamed_file_is_told_and_a_copy_is_not() {
    let sandbox = Sandbox::new();
    for seed in 0..3 {
        sandbox.write(format!("in/{seed}.txt"), text(seed, 60));
    }
    sandbox.add(&["in"], 0);
    for seed in 0..2 {
        let name = |end| sandbox.path(format!("in/{seed}{end}"));
        fs::rename(name(".txt"), name(" renamed.txt")).unwrap();
    }
    // The file with the text of this one still exists.
    sandbox.write("in/copy.txt", text(2, 60));
    let ran = sandbox.run(&["--json", "add", "in"]).expect(0);
    let summary = &ran.objects()[0];
    let counts = ["added", "exact_copies", "renamed"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [3, 3, 2]);
    assert_eq!(
        ran.stderr,
        "dedupdb: 2 exact copies seem to be stored files under new names (first: in/0 renamed.txt, \
         which was in/0.txt); to forget names that no longer exist, look at `dedupdb remove \
         --missing --dry-run` first\n"
    );
    let removed = sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(removed.stderr, "", "{}", removed.stdout);
    // A whole folder, too.
    fs::rename(sandbox.path("in"), sandbox.path("out")).unwrap();
    assert_eq!(sandbox.add(&["out"], 0)["renamed"], 4);
    // From elsewhere, no file of the store seems to exist. A copy has its own time, so there is no note.
    sandbox.write("elsewhere/copy.txt", text(2, 60));
    let mut command = sandbox.command(&["--json", "add", "copy.txt"]);
    let command = command.current_dir(sandbox.path("elsewhere"));
    let command = command.env("DEDUPDB_STORE", sandbox.path(".dedupdb"));
    let ran = Ran::of(command.output().unwrap()).expect(0);
    assert_eq!(ran.objects()[0]["renamed"], 0);
}

#[test]
fn a_file_that_moved_into_a_folder_is_told_as_a_renamed_one() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 60));
    sandbox.write("notes/b.txt", text(2, 60));
    sandbox.add(&["."], 0);
    fs::create_dir(sandbox.path("2025")).unwrap();
    for name in ["a.txt", "notes"] {
        fs::rename(sandbox.path(name), sandbox.path("2025").join(name)).unwrap();
    }
    let ran = sandbox.run(&["--json", "add", "."]).expect(0);
    let counts = ["added", "other_names", "renamed"].map(|name| ran.objects()[0][name].clone());
    assert_eq!(counts, [2, 0, 2], "{}", ran.stderr);
    let told = "2 exact copies seem to be stored files under new names (first: 2025/a.txt, which was a.txt); ";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(sandbox.keys(), ["2025/a.txt", "2025/notes/b.txt"]);
}

#[cfg(unix)]
#[test]
fn links_to_stored_files_are_no_copies_whatever_is_asked_for() {
    for matches in [&[][..], &["--matches"]] {
        let sandbox = Sandbox::new();
        sandbox.write("in/b.txt", text(0, 60));
        sandbox.write("in/copy.txt", text(0, 60));
        sandbox.add(&["in"], 0);
        fs::hard_link(sandbox.path("in/copy.txt"), sandbox.path("hard.txt")).unwrap();
        std::os::unix::fs::symlink("in/copy.txt", sandbox.path("soft.txt")).unwrap();
        for link in ["hard.txt", "soft.txt"] {
            let summary = sandbox.add(&[matches, &[link]].concat(), 0);
            assert_eq!(
                (&summary["exact_copies"], &summary["other_names"]),
                (&json!(0), &json!(1)),
                "{link}"
            );
        }
    }
}

#[test]
fn a_file_of_the_same_relative_path_elsewhere_is_another_one() {
    let sandbox = Sandbox::new();
    sandbox.write("y/a.txt", text(0, 60));
    sandbox.write("x/a.txt", text(1, 70));
    sandbox.write("x/first.txt", text(1, 70));
    let store = sandbox.path("s");
    let add = |folder: &str, path: &Path| {
        let arguments = ["--json", "--store", store.to_str().unwrap(), "add"];
        let mut command = sandbox.command(&arguments);
        let command = command.arg(path).current_dir(sandbox.path(folder));
        Ran::of(command.output().unwrap())
            .expect(0)
            .objects()
            .remove(0)
    };
    add("y", Path::new("a.txt"));
    add("x", &sandbox.path("x/first.txt"));
    let summary = add("x", &sandbox.path("x/a.txt"));
    assert_eq!(
        (&summary["exact_copies"], &summary["other_names"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn a_summary_says_what_its_counts_leave_out() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(0, 60));
    sandbox.write("in/b.txt", text(0, 60));
    sandbox.write("in/c.pdf", b"%PDF-1.7\0\0");
    let binary = "   1 binary; formats with text in them, such as PDF, are read with --pre\n";
    let unchanged =
        "   of earlier documents, among new and changed ones; `dedupdb pairs` lists all pairs\n";
    let first = sandbox.run(&["add", "in"]).expect(0).stdout;
    assert!(first.contains(binary), "{first}");
    assert!(!first.contains(unchanged), "{first}");
    let again = sandbox.run(&["add", "in"]).expect(0).stdout;
    assert!(again.contains(unchanged), "{again}");
    // What `--unique` keeps out is in no pair.
    sandbox.write("in/d.txt", text(0, 60) + " more");
    let run = |arguments: &[&str]| sandbox.run(arguments).expect(0);
    let unique = run(&["add", "--unique", "in"]).stdout;
    let kept_out = "   of kept documents, among new and changed ones; `dedupdb add --unique --matches` lists them\n";
    assert!(unique.contains(kept_out), "{unique}");
    let listed = run(&["add", "--unique", "--matches", "in"]);
    assert!(
        listed.stdout.starts_with("in/d.txt\tin/a.txt\t0.9"),
        "{}",
        listed.stdout
    );
    assert!(
        listed.stderr.contains("among new and changed ones\n"),
        "{}",
        listed.stderr
    );
    // Nothing of a dry run is in a pair either.
    let dry = run(&["add", "--dry-run", "in"]).stdout;
    let lists = "   of earlier documents, among new and changed ones; `dedupdb add --dry-run --matches` lists them\n";
    assert!(dry.contains(lists), "{dry}");
    let converted = sandbox.run(&["add", "--pre", "/bin/cat", "--pre-glob", "*.txt", "in"]);
    let converted = converted.expect(0).stdout;
    assert!(converted.contains("   1 binary\n"), "{converted}");
}

#[test]
fn files_that_are_stored_from_another_folder_are_no_copies() {
    let sandbox = Sandbox::new();
    for seed in 0..3 {
        sandbox.write(format!("top/in/{seed}.txt"), text(seed, 60));
    }
    let top = sandbox.path("top");
    let add = |folder: &str, path: &str| {
        let store = sandbox.path("s");
        let arguments = ["--json", "--store", store.to_str().unwrap(), "add", path];
        let mut command = sandbox.command(&arguments);
        Ran::of(command.current_dir(top.join(folder)).output().unwrap()).expect(0)
    };
    add(".", "in");
    let ran = add("in", ".");
    let note = "3 files are stored under other names already, and not a second time (first: 0.txt = in/0.txt)";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let counts = ["added", "exact_copies", "other_names"];
    assert_eq!(
        counts.map(|name| ran.objects()[0][name].as_u64().unwrap()),
        [0, 0, 3]
    );
    // A copy with its own time, and one whose path ends in another name, are copies.
    sandbox.write("top/2.txt", text(2, 60));
    sandbox.write("top/out/0.txt", text(0, 60));
    let ran = add(".", "out");
    assert_eq!(
        counts.map(|name| ran.objects()[0][name].as_u64().unwrap()),
        [1, 1, 0]
    );
    // A dedup drops them as duplicates of themselves, and reports that.
    let store = sandbox.path("s");
    let listed = [
        "--store",
        store.to_str().unwrap(),
        "dedup",
        "in",
        "-o",
        "../kept",
    ];
    let mut command = sandbox.command(&listed);
    std::fs::rename(top.join("in"), sandbox.path("in")).unwrap();
    std::fs::create_dir(sandbox.path("in/in")).unwrap();
    std::fs::rename(sandbox.path("in/1.txt"), sandbox.path("in/in/1.txt")).unwrap();
    let ran = Ran::of(command.current_dir(sandbox.path("in")).output().unwrap());
    assert!(
        ran.stderr.contains(
            "1 dropped document is stored already, by key or file: its file may be the only copy"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_list_replaces_only_such_a_list() {
    let sandbox = mixed();
    sandbox.write("notes.txt", "binary\tis\tmine\n");
    sandbox.write(
        "rows.jsonl",
        "{\"id\":1,\"reason\":\"binary\",\"text\":2,\"more\":3}\n",
    );
    sandbox.write("half.tsv", "in/b.bin\tbinary\tit has a NUL byte\nmine\n");
    sandbox.write("bytes", [0xff, 0, 0xfe]);
    for name in ["notes.txt", "rows.jsonl", "half.tsv", "bytes"] {
        let before = fs::read(sandbox.path(name)).unwrap();
        for command in [
            &["add", "in"][..],
            &["query", "in"],
            &["map", "-q", "in"],
            &["dedup", "in", "-o", "out"],
            &["move", "in", "aside"],
            &["matrix", "in", "-o", "m.csv"],
            &["report", "in", "-o", "page.html"],
            &["eval", "accuracy", "in"],
        ] {
            let ran = sandbox.run(&[command, &["--skipped", name]].concat());
            let ran = ran.expect(2);
            let told = format!("{name}: this file exists and is not a list of --skipped");
            assert!(ran.stderr.contains(&told), "{command:?}: {}", ran.stderr);
            assert_eq!(fs::read(sandbox.path(name)).unwrap(), before);
        }
    }
    for name in [".dedupdb", "out", "aside", "m.csv", "page.html"] {
        assert!(!sandbox.path(name).exists(), "{name}");
    }
    // A list with the same name, in either form, and an empty file.
    for name in ["list.tsv", "list.jsonl"] {
        sandbox.write(name, "");
        for _ in 0..2 {
            sandbox.run(&["add", "in", "--skipped", name]).expect(2);
            let list = fs::read_to_string(sandbox.path(name)).unwrap();
            assert_eq!(list.lines().count(), 1237);
        }
    }
}

#[test]
fn a_file_that_was_typed_is_named_where_one_of_a_folder_is_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/picture", "\u{0}\u{1}\u{0}");
    let ran = sandbox.run(&["add", "folder"]).expect(0);
    assert!(!ran.stderr.contains("picture"), "{}", ran.stderr);
    for typed in ["folder/picture", "./folder/picture"] {
        let ran = sandbox.run(&["add", typed]).expect(2);
        assert!(
            ran.stderr.contains("folder/picture: binary"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn an_empty_folder_gives_a_note() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    let ran = sandbox.run(&["add", "empty"]).expect(0);
    assert!(
        ran.stderr.contains("there was nothing to add"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.run(&["--quiet", "add", "empty"]).expect(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_folder_without_texts_gives_the_same_note_everywhere() {
    let sandbox = Sandbox::new();
    sandbox.write("bin/picture.png", [0, 1, 2, 3]);
    sandbox.run(&["init"]).expect(0);
    for (arguments, code) in [
        (&["add", "bin"][..], 0),
        (&["dedup", "bin", "-o", "out"], 0),
        (&["query", "bin"], 2),
    ] {
        let ran = sandbox.run(arguments).expect(code);
        let note = "dedupdb: no text was found: everything was skipped\n";
        assert!(ran.stderr.contains(note), "{}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_list_does_not_replace_what_somebody_made_meanwhile() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("in/a.hook", "text");
    sandbox.write("in/b.bin", b"\0");
    sandbox.write("h.sh", "#!/bin/sh\necho notes > sk.tsv\necho words\n");
    let script = sandbox.path("h.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let pre = [
        "--pre",
        "./h.sh",
        "--pre-glob",
        "*.hook",
        "--skipped",
        "sk.tsv",
    ];
    let ran = sandbox.run(&[&["add", "in"], &pre[..]].concat()).expect(2);
    assert!(
        ran.stderr.contains("is not a list of --skipped"),
        "{}",
        ran.stderr
    );
    let notes = std::fs::read_to_string(sandbox.path("sk.tsv")).unwrap();
    assert_eq!(notes, "notes\n");
}
