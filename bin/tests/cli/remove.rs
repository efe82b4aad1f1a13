//! `remove`: by key, by prefix, by age, and documents whose files are missing.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::sandbox::{Sandbox, date_ago, text};

fn filled() -> Sandbox {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox
}

#[test]
fn removed_documents_are_not_found_any_more() {
    let sandbox = filled();
    let key = "folder/news/library-night.txt";
    let ran = sandbox.run(&["remove", key, "page-02"]).expect(0);
    assert_eq!(ran.stdout, "removed 2 documents\n");
    sandbox.run(&["query", "query.txt"]).expect(1);
    sandbox.run(&["show", key]).expect(2);
    let ran = sandbox.run(&["remove", key]).expect(1);
    assert_eq!(ran.stdout, "removed 0 documents\n");
    assert!(
        ran.stderr
            .contains(&format!("{key}: no document has this key\n"))
    );
    for folder in ["folder/news", "folder/news/"] {
        let ran = sandbox.run(&["remove", folder]).expect(1);
        let told = "keys begin with it; remove them with --prefix folder/news/\n";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn a_prefix_removes_all_below_it() {
    let sandbox = filled();
    let ran = sandbox
        .run(&["--json", "remove", "--prefix", "page-"])
        .expect(0);
    assert_eq!(ran.objects()[0]["removed"], 13);
    assert_eq!(sandbox.keys().len(), 44);
    sandbox.run(&["remove", "--prefix", "page-"]).expect(1);
    sandbox.run(&["remove"]).expect(2);
    sandbox.run(&["remove", "--prefix", "a", "b"]).expect(2);
}

#[test]
fn missing_removes_documents_whose_files_are_gone() {
    let sandbox = filled();
    sandbox.run(&["remove", "--missing"]).expect(1);
    fs::remove_file(sandbox.path("folder/docs/tally.rs")).unwrap();
    fs::remove_file(sandbox.path("folder/mail/tiny-note.txt")).unwrap();
    fs::remove_file(sandbox.path("pages.jsonl")).unwrap();
    let ran = sandbox
        .run(&["remove", "--missing", "--prefix", "folder/docs/"])
        .expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
    let ran = sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
    // Records have no files of their own.
    assert_eq!(sandbox.keys().len(), 55);
}

#[test]
#[cfg(unix)]
fn a_file_that_is_there_is_not_missing_however_it_is_reached() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    for name in ["in/a.txt", "in/b.txt", "locked/c.txt", "dir/d.txt"] {
        sandbox.write(name, name);
    }
    symlink("a.txt", sandbox.path("in/link.txt")).unwrap();
    symlink("dir", sandbox.path("dirlink")).unwrap();
    sandbox.add(&["in/link.txt", "in/b.txt", "locked", "dirlink"], 0);
    let keys = ["dirlink/d.txt", "in/b.txt", "in/link.txt", "locked/c.txt"];
    assert_eq!(sandbox.keys(), keys);
    sandbox.run(&["remove", "--missing"]).expect(1);
    // A file that may not be looked at may exist.
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(sandbox.path("locked"), closed).unwrap();
    sandbox.run(&["remove", "--missing"]).expect(1);
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(sandbox.path("locked"), open).unwrap();
    // A document is missing if its key leads to no file, as with a link to nothing.
    fs::remove_file(sandbox.path("in/a.txt")).unwrap();
    let ran = sandbox.run(&["remove", "--missing", "--dry-run"]).expect(0);
    assert_eq!(ran.lines(), ["in/link.txt"]);
}

#[test]
fn missing_refuses_to_remove_everything() {
    let sandbox = Sandbox::new();
    for name in ["one/a.txt", "one/b.txt", "elsewhere/z.txt"] {
        sandbox.write(name, name);
    }
    sandbox.run_in("one", &["add", "."]).expect(0);
    // Files are found from everywhere, as long as their folder is where it was.
    sandbox
        .run_in("elsewhere", &["remove", "--missing"])
        .expect(1);
    fs::rename(sandbox.path("one"), sandbox.path("two")).unwrap();
    let ran = sandbox
        .run_in("elsewhere", &["remove", "--missing"])
        .expect(2);
    let told = "dedupdb: none of 2 files is found from this folder; run this where they were added from, or with \
                --force if they are gone\n";
    assert_eq!(ran.stderr, told);
    assert_eq!(sandbox.keys().len(), 2);
}

#[test]
fn add_says_which_stored_files_are_gone() {
    let sandbox = Sandbox::new();
    for name in ["in/a.txt", "in/deep/b.txt", "in/c.txt", "other/d.txt"] {
        sandbox.write(name, format!("the text of {name}"));
    }
    let told = |arguments: &[&str]| {
        let ran = sandbox
            .run(&[&["add", "--json"], arguments].concat())
            .expect(0);
        (ran.objects().pop().unwrap()["gone"].as_u64(), ran.stderr)
    };
    assert_eq!(told(&["in", "other"]).0, Some(0));
    assert_eq!(told(&["in", "in/deep", "other"]).0, Some(0));
    fs::remove_file(sandbox.path("in/deep/b.txt")).unwrap();
    fs::remove_file(sandbox.path("other/d.txt")).unwrap();
    sandbox.write("in/new.txt", "a new text");
    let (gone, note) = told(&["in", "in/a.txt"]);
    assert_eq!(gone, Some(1));
    let expected = "dedupdb: 1 stored file no longer exists (first: in/deep/b.txt); look at `dedupdb remove --missing \
                    --dry-run`\n";
    assert!(note.ends_with(expected), "{note}");
    // As many files came as went.
    sandbox.write("in/newer.txt", "a newer text");
    sandbox.write("in/newest.txt", "the newest text");
    assert_eq!(told(&["./in/", "other"]).0, Some(2));
    // Those that were left out are still there.
    assert_eq!(told(&["in", "--exclude", "c.txt"]).0, Some(1));
    assert_eq!(
        told(&["in", "--dry-run"]),
        (
            Some(0),
            "dedupdb: this was a dry run: nothing was stored\n".to_owned()
        )
    );
    sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(told(&["in", "other"]), (Some(0), String::new()));
}

#[test]
fn add_of_the_current_folder_says_it_too_unless_it_seems_to_be_another_one() {
    let sandbox = Sandbox::new();
    for name in ["in/a.txt", "in/deep/b.txt", "in/c.txt", "x.txt"] {
        sandbox.write(name, format!("the text of {name}"));
    }
    let gone = |folder: &str, paths: &[&str]| {
        let arguments = [&["add", "--json"], paths].concat();
        let ran = sandbox.run_in(folder, &arguments).expect(0);
        ran.objects().pop().unwrap()["gone"].as_u64()
    };
    assert_eq!(gone("in", &[".", "../x.txt"]), Some(0));
    fs::remove_file(sandbox.path("in/deep/b.txt")).unwrap();
    assert_eq!(gone("in", &["."]), Some(1));
    assert_eq!(gone("in", &["./.", "deep", "./deep"]), Some(1));
    // A folder that is gone is named like any other.
    fs::create_dir(sandbox.path("in/sub")).unwrap();
    sandbox.write("in/sub/e.txt", "the text of e");
    assert_eq!(gone("in", &["sub"]), Some(0));
    fs::remove_dir_all(sandbox.path("in/sub")).unwrap();
    let arguments = ["add", "--json", "sub", "a.txt"];
    let ran = sandbox.run_in("in", &arguments).expect(2);
    assert_eq!(ran.objects().pop().unwrap()["gone"], 1);
    // The keys of another folder look like those of this one.
    sandbox.write("other/z.txt", "the text of z");
    assert_eq!(gone("other", &["."]), Some(0));
}

#[test]
fn missing_refuses_to_remove_most_unless_forced() {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        sandbox.write(format!("one/{name}.txt"), name);
    }
    sandbox.run_in("one", &["add", "."]).expect(0);
    fs::rename(sandbox.path("one"), sandbox.path("two")).unwrap();
    // One name is also a name elsewhere.
    sandbox.write("elsewhere/a.txt", "another");
    let ran = sandbox
        .run_in("elsewhere", &["remove", "--missing"])
        .expect(2);
    let told = "dedupdb: 2 of 3 files are not found from this folder; run this where they were added from, or \
                with --force if they are gone\n";
    assert_eq!((&*ran.stdout, &*ran.stderr), ("", told));
    let shown = ["remove", "--missing", "--dry-run"];
    let ran = sandbox.run_in("elsewhere", &shown).expect(0);
    let told = "dedupdb: 2 of 3 files are not found from this folder, so `remove` wants --force\n\
                would remove 2 documents\n";
    assert_eq!((&*ran.stdout, &*ran.stderr), ("b.txt\nc.txt\n", told));
    fs::remove_file(sandbox.path("two/b.txt")).unwrap();
    let ran = sandbox.run_in("two", &["remove", "--missing"]).expect(0);
    assert_eq!(ran.stdout, "removed 1 document\n");
    for name in ["a.txt", "c.txt"] {
        fs::remove_file(sandbox.path("two").join(name)).unwrap();
    }
    sandbox.run_in("two", &["remove", "--missing"]).expect(2);
    let ran = sandbox
        .run_in("two", &["remove", "--missing", "--force"])
        .expect(0);
    assert_eq!(ran.stdout, "removed 2 documents\n");
    sandbox.run(&["remove", "--force", "a.txt"]).expect(2);
    let ran = sandbox
        .run(&["remove", "--force", "--prefix", "a"])
        .expect(2);
    assert!(
        ran.stderr.contains("--force goes with --missing"),
        "{}",
        ran.stderr
    );
}

#[test]
fn one_missing_file_is_not_none_of_one() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "a");
    sandbox.add(&["a.txt"], 0);
    fs::remove_file(sandbox.path("a.txt")).unwrap();
    let ran = sandbox.run(&["remove", "--missing"]).expect(2);
    let told = "dedupdb: the file is not found from this folder";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
}

#[test]
fn older_than_goes_by_the_time_of_adding() {
    let sandbox = filled();
    // Nothing here is a day old yet, and after two seconds everything is older than one.
    sandbox.run(&["remove", "--older-than", "1d"]).expect(1);
    thread::sleep(Duration::from_millis(2100));
    sandbox.add(&["query.txt"], 0);
    let old = ["remove", "--older-than", "1s", "--prefix", "page-"];
    let ran = sandbox.run(&old).expect(0);
    assert_eq!(ran.stdout, "removed 13 documents\n");
    // However long all this takes, what is left is not an hour old.
    sandbox.run(&["remove", "--older-than", "1h"]).expect(1);
    let old = ["remove", "--older-than", "1s", "--prefix", "folder/"];
    let ran = sandbox.run(&old).expect(0);
    assert_eq!(ran.stdout, "removed 44 documents\n");
    assert_eq!(sandbox.keys(), ["query.txt"]);
}

#[test]
fn unseen_for_goes_by_the_day_of_the_last_offer() {
    let sandbox = filled();
    let seen = sandbox.run(&["--json", "list"]).expect(0);
    let (today, yesterday) = (date_ago(0), date_ago(1));
    for document in seen.objects() {
        let day = document["last_seen"].as_str().unwrap();
        assert!(day == today || day == yesterday, "{day}");
        let shown = sandbox.run(&["show", document["key"].as_str().unwrap()]);
        assert!(shown.stdout.contains(&format!("\nlast seen     {day}\n")));
    }
    sandbox.run(&["remove", "--unseen-for", "2d"]).expect(1);
    let both = ["remove", "--unseen-for", "2d", "page-01"];
    sandbox.run(&both).expect(2);
}

#[test]
fn conditions_must_all_be_met() {
    let sandbox = filled();
    fs::remove_file(sandbox.path("folder/docs/tally.rs")).unwrap();
    let both = ["remove", "--missing", "--older-than", "1d"];
    sandbox.run(&both).expect(1);
    let keys = sandbox.keys();
    assert_eq!(keys.len(), 57);
}

#[test]
fn a_dry_run_lists_and_changes_nothing() {
    let sandbox = filled();
    let dry = ["remove", "--dry-run", "--prefix", "page-1"];
    let ran = sandbox.run(&dry).expect(0);
    assert_eq!(ran.lines(), ["page-10", "page-11", "page-12", "page-13"]);
    assert_eq!(ran.stderr, "would remove 4 documents\n");
    let ran = sandbox
        .run(&["--json", "remove", "--dry-run", "page-01", "page-01"])
        .expect(0);
    let objects = ran.objects();
    assert_eq!(objects[0]["key"], "page-01");
    assert_eq!(objects[1]["would_remove"], 1);
    assert_eq!(objects.len(), 2);
    sandbox.run(&["remove", "--dry-run", "nobody"]).expect(1);
    assert_eq!(sandbox.keys().len(), 57);
}

#[test]
fn an_empty_pattern_removes_nothing() {
    let sandbox = filled();
    for nothing in [
        ["--prefix", ""],
        ["--prefix=", "--missing"],
        ["--older-than", ""],
        ["--older-than", "0d"],
        ["--older-than", "30m"],
        ["--older-than", "90"],
        ["--dry-run", ""],
        ["--dry-run", "--dry-run"],
        ["--quiet", "--json"],
    ] {
        let mut arguments = vec!["remove"];
        arguments.extend(nothing);
        let ran = sandbox.run(&arguments).expect(2);
        assert!(ran.stdout.is_empty(), "{nothing:?}");
    }
    assert_eq!(sandbox.keys().len(), 57);
}

#[test]
fn a_list_of_keys_is_removed() {
    let sandbox = Sandbox::new();
    let keys = ["a\nb", "c", " d", "e\\n", "f"];
    let lines = keys.map(|key| format!("{}\n", serde_json::json!({ "id": key, "text": key })));
    sandbox.write("in.jsonl", lines.concat());
    sandbox.add(&["in.jsonl"], 0);
    sandbox.write("drop.keys", "a\nb\0none\0c\0c\0");
    let ran = sandbox.run(&["remove", "--keys-from", "drop.keys", "--dry-run", "-0"]);
    assert_eq!(ran.expect(0).stdout, "a\nb\0c\0");
    let ran = sandbox
        .run(&["remove", "--keys-from", "drop.keys"])
        .expect(0);
    assert_eq!(ran.stdout, "removed 2 documents\n");
    assert!(ran.stderr.contains("none: no document has this key"));
    assert_eq!(sandbox.keys(), [" d", "e\\n", "f"]);
    let ran = sandbox.run_with(
        &["remove", "--keys-from", "-", "--escaped"],
        b"e\\\\n\n d\n",
    );
    assert_eq!(ran.expect(0).stdout, "removed 2 documents\n");
    let many: Vec<String> = (0..30).map(|key| key.to_string()).collect();
    let many = many.join("\n");
    let ran = sandbox
        .run_with(&["remove", "--keys-from", "-"], many.as_bytes())
        .expect(1);
    assert!(
        ran.stderr
            .ends_with("dedupdb: and 20 more keys that no document has\n"),
        "{}",
        ran.stderr
    );
    for arguments in [
        &["--keys-from", "none"][..],
        &["--keys-from", "-", "--prefix", "a"],
    ] {
        sandbox.run(&[&["remove"], arguments].concat()).expect(2);
    }
    assert_eq!(sandbox.keys(), ["f"]);
}

#[test]
fn a_file_whose_folder_became_a_file_is_missing() {
    let sandbox = Sandbox::new();
    for name in ["d/1.txt", "e/1.txt", "e/2.txt", "e/3.txt"] {
        sandbox.write(name, text(1, 40));
    }
    sandbox.add(&["d", "e"], 0);
    fs::remove_dir_all(sandbox.path("d")).unwrap();
    fs::write(sandbox.path("d"), "a file").unwrap();
    fs::remove_file(sandbox.path("e/1.txt")).unwrap();
    fs::create_dir(sandbox.path("e/1.txt")).unwrap();
    sandbox.run(&["remove", "--missing"]).expect(0);
    assert_eq!(sandbox.keys(), ["e/2.txt", "e/3.txt"]);
}

#[test]
fn records_are_not_missing_and_a_note_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("r.jsonl", "{\"id\": \"a\", \"text\": \"the night tram\"}\n");
    sandbox.write("s.jsonl", "{\"id\": \"b\", \"text\": \"until four\"}\n");
    sandbox.add(&["r.jsonl", "s.jsonl"], 0);
    fs::remove_file(sandbox.path("r.jsonl")).unwrap();
    let told = "no file of its own, such as a record, and --missing does not look for it";
    let ran = sandbox.run(&["remove", "--missing", "--prefix", "a"]);
    let told = format!("1 document has {told}");
    assert!(ran.expect(1).stderr.contains(&told));
    let told = "2 documents have no file of their own, such as records, and --missing does not";
    let ran = sandbox.run(&["remove", "--missing"]);
    assert!(ran.expect(1).stderr.contains(told));
}
