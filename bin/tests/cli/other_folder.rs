//! The same relative path leads to other files from other folders.

use std::fs;

use crate::sandbox::{Sandbox, text};

#[test]
fn a_file_of_another_folder_is_not_replaced() {
    let sandbox = Sandbox::new();
    sandbox.write("one/notes/a.txt", text(1, 40));
    sandbox.write("one/notes/b.txt", text(2, 40));
    sandbox.run_in("one", &["add", "notes"]).expect(0);
    sandbox.write("two/notes/a.txt", text(3, 40));
    // A copy has no right to the name, either: nobody would look for the first one again.
    fs::copy(
        sandbox.path("one/notes/b.txt"),
        sandbox.path("two/notes/b.txt"),
    )
    .unwrap();
    let first = sandbox.run_in("one", &["list", "--long"]).expect(0).stdout;
    for command in [&["add", "notes"][..], &["add", "--checksum", "notes"]] {
        let ran = sandbox.run_in("two", command).expect(2);
        let other = sandbox.path("one/notes/a.txt");
        let said = format!(
            "notes/a.txt: the key \"notes/a.txt\" is that of {} in the store; add both by absolute paths",
            fs::canonicalize(&other).unwrap().display()
        );
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("notes/b.txt: the key"),
            "{}",
            ran.stderr
        );
        assert_eq!(
            sandbox.run_in("one", &["list", "--long"]).expect(0).stdout,
            first
        );
    }
    // It is no copy of itself, but of the other.
    let ran = sandbox.run_in("two", &["query", "notes/b.txt"]).expect(0);
    assert_eq!(ran.stdout, "notes/b.txt\tnotes/b.txt\t1.0000\texact copy\n");
    sandbox.run_in("one", &["query", "notes/b.txt"]).expect(1);
    // What the message says to do.
    let notes = sandbox.path("two/notes");
    sandbox
        .run_in("two", &["add", notes.to_str().unwrap()])
        .expect(0);
    let listed = sandbox.run_in("two", &["list"]).expect(0);
    assert_eq!(listed.lines().len(), 4, "{}", listed.stdout);
}

#[test]
fn a_folder_that_moved_is_the_same() {
    let sandbox = Sandbox::new();
    sandbox.write("one/a.txt", text(1, 40));
    sandbox.write("one/b.txt", text(2, 40));
    sandbox.run_in("one", &["add", "."]).expect(0);
    // Files that are there are known from everywhere.
    fs::create_dir(sandbox.path("two")).unwrap();
    let ran = sandbox
        .run_in("two", &["remove", "--missing", "--dry-run"])
        .expect(1);
    assert!(!ran.stdout.contains("a.txt"), "{}", ran.stdout);
    fs::remove_dir(sandbox.path("two")).unwrap();
    fs::rename(sandbox.path("one"), sandbox.path("two")).unwrap();
    sandbox.write("two/b.txt", text(3, 40));
    let ran = sandbox.run_in("two", &["add", "."]).expect(0);
    assert!(
        ran.stdout.contains("unchanged                  1"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("updated                    1"),
        "{}",
        ran.stdout
    );
    // The store knows where it is now: the old folder may come again.
    sandbox.write("one/a.txt", text(4, 40));
    let ran = sandbox.run_in("one", &["add", "."]).expect(2);
    assert!(
        ran.stderr.contains("two/a.txt in the store"),
        "{}",
        ran.stderr
    );
}

#[test]
fn records_of_a_file_in_another_folder_are_not_replaced() {
    let sandbox = Sandbox::new();
    let record = |seed| format!("{{\"id\": 1, \"text\": \"{}\"}}\n", text(seed, 40));
    sandbox.write("one/day.jsonl", record(1));
    sandbox.write("one/lines.jsonl", record(1).replace("id", "n"));
    sandbox.write("two/day.jsonl", record(2));
    sandbox.write("two/lines.jsonl", record(1).replace("id", "n"));
    let add = ["add", "--id-scope", "file", "day.jsonl", "lines.jsonl"];
    sandbox.run_in("one", &add).expect(0);
    let ran = sandbox.run_in("two", &add).expect(2);
    for name in ["day", "lines"] {
        let said = format!("one/{name}.jsonl in the store");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
    }
    fs::remove_dir_all(sandbox.path("one")).unwrap();
    sandbox.run_in("two", &add).expect(0);
    let listed = sandbox.run_in("two", &["list"]).expect(0);
    assert_eq!(listed.lines(), ["day.jsonl#1", "lines.jsonl#1"]);
}

#[test]
fn a_file_that_is_added_by_another_path_keeps_its_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("one/notes/a.txt", text(1, 40));
    sandbox.write("two/notes/a.txt", text(2, 40));
    sandbox.run_in("one", &["add", "notes"]).expect(0);
    sandbox.run(&["add", "one/notes"]).expect(0);
    sandbox.run_in("two", &["add", "../one/notes"]).expect(0);
    sandbox.run_in("two", &["add", "notes"]).expect(2);
    for folder in ["one", "two"] {
        sandbox.run_in(folder, &["remove", "--missing"]).expect(1);
    }
    let listed = sandbox.run_in("two", &["list"]).expect(0);
    assert_eq!(listed.lines(), ["notes/a.txt"]);
}

#[test]
fn a_copy_beside_the_store_is_not_taken_for_the_file_of_another_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("one/notes/a.txt", text(1, 40));
    sandbox.write("two/notes/a.txt", text(1, 40));
    let add = ["add", "notes", "--store", "../two/s"];
    let mut command = sandbox.command(&add);
    let added = command.current_dir(sandbox.path("one")).output().unwrap();
    assert!(added.status.success());
    let query = ["query", "two/notes/a.txt", "--store", "two/s"];
    let found = sandbox.run(&query).expect(0).stdout;
    assert_eq!(found, "two/notes/a.txt\tnotes/a.txt\t1.0000\texact copy\n");
}
