//! `add`: files, their outcomes, and what is listed.

use serde_json::json;

use crate::compressed::zst;
use crate::sandbox::{Sandbox, fields, text};

#[test]
fn timings_are_shown_beside_the_summary() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one text that is shingled and signed");
    let ran = sandbox
        .run(&["--json", "add", "--timings", "a.txt"])
        .expect(0);
    assert_eq!(ran.objects().len(), 1);
    for step in ["shingling", "signing", "comparing", "committing"] {
        assert!(ran.stderr.contains(step), "{}", ran.stderr);
    }
    if cfg!(target_os = "linux") {
        assert!(ran.stderr.contains("thread main"), "{}", ran.stderr);
        assert!(ran.stderr.contains("one thread"), "{}", ran.stderr);
    }
}

#[test]
fn adding_twice_reads_nothing_the_second_time() {
    let sandbox = Sandbox::with_testdata();
    let first = sandbox.add(&["folder"], 0);
    assert_eq!(
        (&first["documents"], &first["added"]),
        (&json!(44), &json!(44))
    );
    assert_eq!(first["exact_copies"], 2);
    let second = sandbox.add(&["folder"], 0);
    assert_eq!(second["unchanged"], 44);
    assert_eq!(second["bytes"], 0);
    let checked = sandbox.add(&["--checksum", "folder"], 0);
    assert_eq!(checked["unchanged"], 44);
    assert_eq!(checked["bytes"], first["bytes"]);
}

#[test]
fn a_change_that_keeps_size_and_time_is_found_by_checksum_only() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 50));
    let modified = sandbox
        .path("a.txt")
        .metadata()
        .unwrap()
        .modified()
        .unwrap();
    sandbox.add(&["a.txt"], 0);
    sandbox.write("a.txt", text(1, 50).to_uppercase().replace('W', "v"));
    let file = std::fs::File::options()
        .write(true)
        .open(sandbox.path("a.txt"))
        .unwrap();
    file.set_modified(modified).unwrap();
    assert_eq!(sandbox.add(&["a.txt"], 0)["unchanged"], 1);
    assert_eq!(sandbox.add(&["a.txt", "--checksum"], 0)["updated"], 1);
}

#[test]
fn a_changed_file_is_updated() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 50));
    sandbox.add(&["a.txt"], 0);
    sandbox.write("a.txt", text(2, 51));
    assert_eq!(sandbox.add(&["a.txt"], 0)["updated"], 1);
    let shown = sandbox.run(&["--json", "show", "a.txt"]).expect(0);
    assert_eq!(shown.objects()[0]["shingles"], 47);
}

#[test]
fn many_short_texts_are_noted() {
    let sandbox = Sandbox::new();
    let records = |count: u64, words| {
        let record = |number| json!({"id": number, "text": text(number, words)}).to_string();
        (0..count).map(record).collect::<Vec<_>>().join("\n")
    };
    let note = "120 of 120 texts are short (below 300 bytes): one changed word can bring their similarity below 0.8; \
                `dedupdb init --help` has an example for short texts";
    sandbox.write("short.jsonl", records(120, 9));
    let added = sandbox.run(&["add", "short.jsonl"]).expect(0);
    assert!(added.stderr.contains(note), "{}", added.stderr);
    let ran = sandbox
        .run(&["dedup", "short.jsonl", "-o", "x.jsonl"])
        .expect(0);
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let fit = [
        "dedup",
        "short.jsonl",
        "-o",
        "y.jsonl",
        "--shingling",
        "char:4",
    ];
    let ran = sandbox.run(&fit).expect(0);
    assert!(!ran.stderr.contains("short ("), "{}", ran.stderr);
    sandbox.write("long.jsonl", records(120, 90));
    let ran = sandbox
        .run(&["dedup", "long.jsonl", "-o", "z.jsonl"])
        .expect(0);
    assert!(!ran.stderr.contains("short ("), "{}", ran.stderr);
}

#[test]
fn the_summary_has_these_fields() {
    let sandbox = Sandbox::with_testdata();
    let summary = sandbox.add(&["folder"], 0);
    let expected = [
        "added",
        "bytes",
        "contained",
        "documents",
        "encodings",
        "exact_copies",
        "gone",
        "grown",
        "kept_out",
        "near_duplicates",
        "other_names",
        "renamed",
        "repeated",
        "replaced",
        "seconds",
        "skipped",
        "stale",
        "unchanged",
        "updated",
    ];
    assert_eq!(fields(&summary), expected);
}

#[test]
fn matches_are_listed_with_the_earlier_document() {
    let sandbox = Sandbox::with_testdata();
    let ran = sandbox
        .run(&["add", "--matches", "folder/docs", "folder/old"])
        .expect(0);
    let lines = ran.lines();
    assert!(lines.contains(
        &"folder/docs/meeting-notes-january.md\tfolder/docs/meeting-notes-february.md\t0.9502"
    ));
    let copy = "folder/old/2019/tally-backup.rs.txt\tfolder/docs/tally.rs\t1.0000\texact copy";
    assert!(lines.contains(&copy));
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(ran.stderr.contains("near-duplicates"), "{}", ran.stderr);
}

#[test]
fn matches_as_json_have_these_fields() {
    let sandbox = Sandbox::with_testdata();
    let ran = sandbox
        .run(&["--json", "add", "--matches", "folder/docs"])
        .expect(0);
    let objects = ran.objects();
    let expected = [
        "bands",
        "containment",
        "containment_of_match",
        "earlier",
        "error",
        "estimate",
        "exact_copy",
        "jaccard",
        "kept_out",
        "key",
    ];
    assert_eq!(objects.len(), 4, "three matches and a summary");
    assert_eq!(fields(&objects[0]), expected);
    assert_eq!(objects[0]["earlier"], "folder/docs/changelog-1.4.3.md");
    assert_eq!(objects[3]["near_duplicates"], 3);
}

#[test]
fn unique_keeps_out_what_is_like_an_earlier_document() {
    let sandbox = Sandbox::with_testdata();
    let all = sandbox.add(&["--unique", "folder"], 0);
    let kept_out = all["kept_out"].as_u64().unwrap();
    let like = all["near_duplicates"].as_u64().unwrap() + all["exact_copies"].as_u64().unwrap();
    assert_eq!(kept_out, like);
    assert_eq!(sandbox.keys().len() as u64, 44 - kept_out);
    let mut question = vec!["query"];
    let keys = sandbox.keys();
    for key in &keys {
        question.extend(["--key", key]);
    }
    sandbox.run(&question).expect(1);
}

/// The bytes of a store's columns, by name, and what the index holds about each document. The bytes of the index are
/// left out, because opening it for writing changes them.
fn stored(sandbox: &Sandbox) -> (Vec<(String, Vec<u8>)>, String) {
    let entries = std::fs::read_dir(sandbox.path(".dedupdb")).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let bytes = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), bytes)
        })
        .collect();
    files.retain(|(name, _)| name != "index.redb");
    files.sort();
    (files, sandbox.run(&["--json", "list"]).expect(0).stdout)
}

#[test]
fn a_dry_run_says_what_an_add_would_and_stores_nothing() {
    let sandbox = Sandbox::with_testdata();
    let summary = |arguments: &[&str]| {
        let mut summary = sandbox.add(arguments, 0);
        summary.as_object_mut().unwrap().remove("seconds");
        summary
    };
    let pretended = |arguments: &[&str]| {
        let mut summary = summary(&[&["--dry-run"], arguments].concat());
        let dry_run = summary.as_object_mut().unwrap().remove("dry_run");
        assert_eq!(dry_run, Some(json!(true)));
        summary
    };
    // Without a store none is made.
    let before = pretended(&["folder/docs"]);
    assert!(!sandbox.path(".dedupdb").exists());
    assert_eq!(before, summary(&["folder/docs"]));
    // With a store, nothing is changed.
    sandbox.write("folder/docs/changelog.md", text(9, 60));
    let before_it = stored(&sandbox);
    let before = pretended(&["folder", "pages.jsonl"]);
    let unique = pretended(&["--unique", "folder"]);
    assert!(stored(&sandbox) == before_it, "the store is as it was");
    assert_eq!(before, summary(&["folder", "pages.jsonl"]));
    assert_eq!(before["updated"], 1);
    assert!(unique["kept_out"].as_u64().unwrap() > 5, "{unique}");
    sandbox.run(&["check"]).expect(0);
    let ran = sandbox.run(&["add", "--dry-run", "folder"]).expect(0);
    assert!(ran.stderr.contains("nothing was stored"), "{}", ran.stderr);
}

#[test]
fn a_dry_run_lists_matches() {
    let sandbox = Sandbox::with_testdata();
    let dry = sandbox.run(&["add", "--dry-run", "--matches", "folder"]);
    let real = sandbox.run(&["add", "--matches", "folder"]);
    assert_eq!(dry.expect(0).stdout, real.expect(0).stdout);
}

#[test]
fn a_dry_run_that_does_not_fit_into_memory_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.add(&["a.txt"], 0);
    // Keys take memory, too.
    let key = |id: u64| text(id, 6).repeat(1100);
    let record = |id: u64| json!({ "id": key(id), "text": text(id, 9) }).to_string();
    let records: Vec<String> = (2..4002).map(record).collect();
    sandbox.write("x.jsonl.zst", zst(records.join("\n").as_bytes()));
    let all = sandbox.add(&["--dry-run", "x.jsonl.zst"], 0);
    assert_eq!(all["added"], 4000);
    let ran = sandbox.run(&[
        "--json",
        "add",
        "--dry-run",
        "--memory",
        "384MiB",
        "x.jsonl.zst",
    ]);
    let ran = ran.expect(2);
    assert!(ran.stderr.contains("--memory"), "{}", ran.stderr);
    let some = ran.objects().remove(0)["added"].as_u64().unwrap();
    assert!(0 < some && some < 4000, "{some}");
    assert_eq!(sandbox.keys(), ["a.txt"]);
}

#[test]
fn keys_are_paths_as_given_but_normalized() {
    let sandbox = Sandbox::new();
    for name in ["a/b.txt", "c.txt", "d.txt"] {
        sandbox.write(name, name);
    }
    let absolute = sandbox.path("d.txt");
    let absolute = absolute.to_str().unwrap();
    sandbox.add(&["./a//", "a/../c.txt", absolute], 0);
    let mut keys = vec![
        "a/b.txt".to_owned(),
        "c.txt".to_owned(),
        absolute.to_owned(),
    ];
    keys.sort();
    assert_eq!(sandbox.keys(), keys);
}

#[test]
fn what_is_named_twice_is_added_once() {
    let sandbox = Sandbox::with_testdata();
    let summary = sandbox.add(&["folder/docs", "folder", "./folder//docs"], 0);
    assert_eq!(summary["added"], 44);
    let docs = std::fs::read_dir(sandbox.path("folder/docs"))
        .unwrap()
        .count();
    assert_eq!(summary["skipped"], json!({ "named twice": 2 * docs }));
}

#[test]
fn a_missing_path_is_an_error_and_the_others_are_added() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "some words");
    let ran = sandbox.run(&["add", "nowhere", "a.txt"]).expect(2);
    assert!(
        ran.stderr.contains("nowhere: there is no such file"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("added"), "{}", ran.stdout);
    assert_eq!(sandbox.keys(), ["a.txt"]);
}

#[test]
fn a_typing_error_makes_no_store() {
    let sandbox = Sandbox::new();
    sandbox.run(&["add", "nowhere"]).expect(2);
    assert!(!sandbox.path(".dedupdb").exists());
}

#[test]
fn standard_input_needs_a_key() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run_with(&["add", "-"], b"text").expect(2);
    assert!(ran.stderr.contains("--key"), "{}", ran.stderr);
    sandbox
        .run_with(&["add", "a.txt", "--key", "x"], b"text")
        .expect(2);
    let text = text(3, 40);
    sandbox
        .run_with(&["add", "-", "--key", "the key"], text.as_bytes())
        .expect(0);
    assert_eq!(sandbox.keys(), ["the key"]);
    let ran = sandbox.run_with(&["query", "-"], text.as_bytes()).expect(0);
    assert_eq!(ran.stdout, "-\tthe key\t1.0000\texact copy\n");
}

#[test]
fn quiet_prints_nothing_but_errors() {
    let sandbox = Sandbox::with_testdata();
    let ran = sandbox.run(&["add", "-q", "folder", "nowhere"]).expect(2);
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn adding_goes_on_when_nobody_reads_the_matches() {
    let sandbox = Sandbox::new();
    for index in 0..3000 {
        sandbox.write(format!("many/{index}.txt"), text(7, 60));
    }
    let mut child = sandbox
        .command(&["add", "--matches", "many"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(sandbox.keys().len(), 3000);
}

#[test]
fn the_first_documents_are_noted_with_the_command_that_lists_their_pairs() {
    let sandbox = Sandbox::new();
    let words = text(1, 40);
    sandbox.write("in/a.txt", &words);
    sandbox.write("in/b.txt", format!("{words} end"));
    let note = "dedupdb: `dedupdb pairs` lists the near-duplicates\n";
    for (arguments, is_noted) in [
        (&["add", "in", "--dry-run"][..], false),
        (&["--store", "listed", "add", "in", "--matches"], false),
        (&["--store", "unique", "add", "in", "--unique"], false),
        (&["add", "in"], true),
        (&["add", "in"], false),
    ] {
        let ran = sandbox.run(arguments).expect(0);
        assert_eq!(ran.stderr.contains(note), is_noted, "{}", ran.stderr);
    }
}

#[test]
fn what_is_kept_out_by_a_text_that_is_replaced_is_told_and_stored_by_the_same_again() {
    let sandbox = Sandbox::new();
    let texts = [1, 2, 3].map(|seed| text(seed, 40));
    let write = |[a, b]: [&str; 2]| {
        let lines = [("a", a), ("b", b)].map(|(id, text)| {
            let record = serde_json::json!({ "id": id, "text": text });
            format!("{record}\n")
        });
        sandbox.write("e.jsonl", lines.concat());
    };
    let add = ["add", "--unique", "--id-scope", "all", "e.jsonl"];
    write([&texts[0], &texts[1]]);
    let ran = sandbox.run(&add).expect(0);
    assert!(!ran.stderr.contains("kept out"), "{}", ran.stderr);
    write([&texts[1], &texts[2]]);
    let told = "1 document was kept out because of a text that a later document replaced; add the same again\n";
    let ran = sandbox.run(&[&add[..], &["--quiet"]].concat()).expect(0);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = sandbox.run(&add).expect(0);
    assert!(!ran.stderr.contains("kept out"), "{}", ran.stderr);
    sandbox.write("second.txt", &texts[1]);
    let ran = sandbox.run(&["query", "second.txt"]).expect(0);
    assert!(
        ran.stdout.starts_with("second.txt\ta\t1.0000"),
        "{}",
        ran.stdout
    );
}
