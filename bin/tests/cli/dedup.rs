//! `dedup`: what is kept, what is dropped, and why.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, text};

/// Lines of JSONL with many similar texts: near-copies that grow and shrink, copies, and unique texts, in no order.
pub(crate) fn lines(documents: u64) -> Vec<String> {
    let line = |id: u64| {
        let mixed = id.wrapping_mul(0x9e37_79b9) % 1009;
        let mut words = text(mixed % 97, 60);
        if !mixed.is_multiple_of(3) {
            words += &" more".repeat(usize::try_from(mixed % 5).unwrap());
        }
        // The odd formatting of a line is kept.
        let id = format!("doc-{id}");
        format!("{{\"extra\" :  [{mixed}], \"id\":\"{id}\",   \"text\":\"{words}\"}}")
    };
    (0..documents).map(line).collect()
}

/// Key and text of a line.
pub(crate) fn record(line: &str) -> (String, String) {
    let value: Value = serde_json::from_str(line).unwrap();
    let field = |name: &str| value[name].as_str().unwrap().to_owned();
    (field("id"), field("text"))
}

pub(crate) fn shingles(text: &str) -> ShingleSet {
    let shingler = Shingler::new(Shingling::default(), true, true).unwrap();
    shingler.shingles(text).unwrap()
}

/// Key, key of the match, similarity, and whether it is an exact copy, of a line about a dropped document.
fn dropped(line: &str) -> (String, String, String, bool) {
    if let Ok(object) = serde_json::from_str::<Value>(line) {
        let field = |name: &str| object[name].as_str().unwrap().to_owned();
        let jaccard = object["jaccard"].as_f64().unwrap();
        let is_copy = object["exact_copy"].as_bool().unwrap();
        return (
            field("key"),
            field("earlier"),
            format!("{jaccard:.4}"),
            is_copy,
        );
    }
    let mut fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
    let is_copy = fields.len() == 8;
    assert!(!is_copy || fields.pop().unwrap() == "exact copy");
    let [key, earlier, jaccard, ..] = <[String; 7]>::try_from(fields).unwrap();
    (key, earlier, jaccard, is_copy)
}

/// Checks an output against its input: the kept lines are there in order and byte for byte, and each of the others
/// resembles a kept or `stored` one.
pub(crate) fn check(input: &str, output: &str, removed: &str, stored: &[(String, String)]) {
    let mut rest = input.lines();
    for line in output.lines() {
        assert!(rest.any(|other| other == line), "{line} is not in order");
    }
    let all: BTreeMap<String, String> = input.lines().map(record).chain(stored.to_vec()).collect();
    let kept: BTreeMap<String, String> = output.lines().map(record).collect();
    let earlier =
        |key: &str| kept.contains_key(key) || stored.iter().any(|(known, _)| known == key);
    for line in removed.lines() {
        let (key, match_key, jaccard, is_copy) = dropped(line);
        assert!(!kept.contains_key(&key), "{line}");
        assert!(earlier(&match_key), "{line}");
        let exact = shingles(&all[&key]).jaccard(&shingles(&all[&match_key]));
        assert!(exact >= 0.8, "{line}: {exact}");
        assert_eq!(jaccard, format!("{exact:.4}"), "{line}");
        // A key may be one of several texts.
        assert!(
            key == match_key || is_copy == (all[&key] == all[&match_key]),
            "{line}"
        );
    }
    assert_eq!(
        output.lines().count() + removed.lines().count(),
        input.lines().count()
    );
}

pub(crate) fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

/// The names of a folder's files, hidden ones too.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    let files = files.into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let name = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
    files.map(|entry| name(entry.path())).collect()
}

/// The summary of a dedup that must succeed. Its counts must add up.
pub(crate) fn dedup(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    dedup_and_end(sandbox, arguments, 0)
}

/// The summary of a dedup that must end with `code`. Its counts must add up.
pub(crate) fn dedup_and_end(sandbox: &Sandbox, arguments: &[&str], code: i32) -> Value {
    let ran = sandbox.run(&[&["--json", "dedup"], arguments].concat());
    let summary = ran.expect(code).objects().pop().unwrap();
    let count = |name: &str| summary[name].as_u64().unwrap();
    let skipped = summary["skipped"].as_object().unwrap().values();
    let skipped: u64 = skipped.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(
        count("documents"),
        count("kept") + count("dropped") + skipped
    );
    let parts = ["of_input", "of_history"].map(|name| {
        let part = |kind: &str| summary[name][kind].as_u64().unwrap();
        part("exact_copies") + part("near_duplicates")
    });
    assert_eq!(count("dropped"), parts[0] + parts[1]);
    summary
}

#[test]
fn what_is_kept_is_as_it_was_and_what_is_dropped_is_like_it() {
    let sandbox = Sandbox::new();
    // Only the end of the last line is added.
    let input = lines(400).join("\n");
    sandbox.write("in.jsonl", &input);
    for keep in ["first", "longest", "newest"] {
        let (output, removed) = (format!("{keep}.jsonl"), format!("{keep}.tsv"));
        let arguments = [
            "in.jsonl",
            "-o",
            &output,
            "--keep",
            keep,
            "--removed",
            &removed,
        ];
        let summary = dedup(&sandbox, &arguments);
        let (output, removed) = (read(&sandbox, &output), read(&sandbox, &removed));
        check(&input, &output, &removed, &[]);
        assert_eq!(summary["dropped"], removed.lines().count());
        assert!(summary["of_input"]["near_duplicates"].as_u64() > Some(50));
        // One of each kind is left, and it is the one that was asked for.
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in input.lines() {
            let (key, text) = record(line);
            kinds.entry(text[..40].to_owned()).or_default().push(key);
        }
        let texts: BTreeMap<String, String> = input.lines().map(record).collect();
        let length = |key: &String| texts[key].len();
        let mut expected: Vec<String> = kinds
            .into_values()
            .map(|keys| match keep {
                "first" => keys[0].clone(),
                "newest" => keys[keys.len() - 1].clone(),
                _ => keys
                    .iter()
                    .rev()
                    .max_by_key(|key| length(key))
                    .unwrap()
                    .clone(),
            })
            .collect();
        expected.sort();
        let mut kept: Vec<String> = output.lines().map(|line| record(line).0).collect();
        kept.sort();
        assert_eq!(kept, expected, "{keep}");
    }
    let all: Vec<String> = (0..20).map(|id| text(id + 1000, 50)).collect();
    let line = |(id, text): (usize, &String)| json!({ "id": id, "text": text }).to_string();
    let all = all
        .iter()
        .enumerate()
        .map(line)
        .collect::<Vec<_>>()
        .join("\r\n");
    sandbox.write("unlike.jsonl", &all);
    dedup(&sandbox, &["unlike.jsonl", "-o", "same.jsonl"]);
    assert_eq!(read(&sandbox, "same.jsonl"), all);
    assert!(!sandbox.path(".dedupdb").exists());
    let hidden = files(&sandbox.path(""));
    assert!(
        hidden.iter().all(|name| !name.starts_with('.')),
        "{hidden:?}"
    );
}

#[test]
fn records_with_the_same_key_are_documents_of_their_own() {
    let sandbox = Sandbox::new();
    let line = |text: String| json!({ "id": "same", "text": text }).to_string() + "\n";
    let (a, b, c) = (
        line(text(1, 50)),
        line(text(2, 50)),
        line(text(1, 50) + " more"),
    );
    sandbox.write("in.jsonl", [&*a, &b, &a, &c, &b].concat());
    for store in ["", "history"] {
        let mut arguments = vec![
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--removed",
            "removed",
            "--force",
        ];
        if !store.is_empty() {
            arguments.extend(["--store", store]);
        }
        let summary = dedup_and_end(&sandbox, &arguments, 2);
        assert_eq!(summary["repeated"], 3);
        assert_eq!(read(&sandbox, "out.jsonl"), [&*a, &b].concat());
        let removed = read(&sandbox, "removed");
        let removed: Vec<_> = removed.lines().map(dropped).collect();
        let [a, near, b] = &removed[..] else {
            panic!("{removed:?}")
        };
        let same = |jaccard: &str, is_copy| {
            let same = "same".to_owned();
            (same.clone(), same, jaccard.to_owned(), is_copy)
        };
        assert_eq!((a, near), (&same("1.0000", true), &same("0.9787", false)));
        assert!(b.1.starts_with("same#") && b.2 == "1.0000", "{b:?}");
    }
}

#[test]
fn a_folder_gives_a_folder() {
    let sandbox = Sandbox::new();
    let (a, b, long) = (text(1, 50), text(2, 50), text(1, 50) + " more");
    sandbox.write("in/a.txt", &a);
    sandbox.write("in/deep/er/b.md", &b);
    sandbox.write("in/deep/a.copy", &a);
    sandbox.write("in/z-long.txt", &long);
    sandbox.write("in/binary", "\0");
    let records = lines(60).join("\n") + "\n";
    sandbox.write("in/records.jsonl", &records);
    sandbox.write("in/records-again.jsonl", records.replace("doc-", "again-"));
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(sandbox.path("in/a.txt"));
    file.unwrap().set_modified(old).unwrap();

    let summary = dedup(&sandbox, &["in", "-o", "out"]);
    assert_eq!(summary["skipped"], json!({ "binary": 1 }));
    let kept = [
        "a.txt",
        "deep/er/b.md",
        "records-again.jsonl",
        "records.jsonl",
    ];
    assert_eq!(files(&sandbox.path("out")), kept);
    assert_eq!(read(&sandbox, "out/a.txt"), a);
    let modified = sandbox.path("out/a.txt").metadata().unwrap().modified();
    assert_eq!(modified.unwrap(), old);
    assert_eq!(read(&sandbox, "out/records.jsonl"), "");
    let first = read(&sandbox, "out/records-again.jsonl");
    sandbox.write("alone.jsonl", read(&sandbox, "in/records-again.jsonl"));
    dedup(&sandbox, &["alone.jsonl", "-o", "alone-out.jsonl"]);
    assert_eq!(first, read(&sandbox, "alone-out.jsonl"));

    dedup(
        &sandbox,
        &["in", "-o", "out", "--keep", "longest", "--force"],
    );
    let kept = [
        "deep/er/b.md",
        "records-again.jsonl",
        "records.jsonl",
        "z-long.txt",
    ];
    assert_eq!(files(&sandbox.path("out")), kept);
    dedup(
        &sandbox,
        &["in", "-o", "out", "--keep", "newest", "--force"],
    );
    assert!(!sandbox.path("out/a.txt").exists(), "it is the oldest");

    // Several arguments keep their names.
    let absolute = sandbox.path("in/z-long.txt");
    let several = [
        "./in/deep",
        "in//a.txt",
        absolute.to_str().unwrap(),
        "-o",
        "several",
    ];
    dedup(&sandbox, &[&several[..], &["--threshold", "1"]].concat());
    let kept = ["in/deep/a.copy", "in/deep/er/b.md", "z-long.txt"];
    assert_eq!(files(&sandbox.path("several")), kept);
}

#[test]
fn a_list_has_the_paths_of_what_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", text(1, 50));
    sandbox.write("in/b.txt", text(1, 50));
    sandbox.write("in/c.txt", text(2, 50));
    dedup(&sandbox, &["in", "-o", "list", "--list"]);
    assert_eq!(read(&sandbox, "list"), "in/a.txt\nin/c.txt\n");
    let ran = sandbox
        .run(&["dedup", "in", "-o", "-", "--list", "--quiet"])
        .expect(0);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("in/a.txt\nin/c.txt\n", ""));
    sandbox.write("in/records.jsonl", lines(3).join("\n"));
    let ran = sandbox
        .run(&["dedup", "in", "-o", "list2", "--list"])
        .expect(2);
    assert!(ran.stderr.contains("one document each"), "{}", ran.stderr);
    assert!(!sandbox.path("list2").exists());
}

#[test]
fn nothing_is_written_over_what_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.jsonl", lines(3).join("\n"));
    sandbox.write("in/b.txt", text(1, 50));
    sandbox.write("there", "precious");
    sandbox.write("folder/there", "precious");
    let absolute = sandbox.path("in/a.jsonl");
    let absolute = absolute.to_str().unwrap();
    for (arguments, what) in [
        (vec!["in/a.jsonl", "-o", "there"], "--force"),
        (vec!["in", "-o", "folder"], "--force"),
        (
            vec!["in/a.jsonl", "-o", "x", "--removed", "there"],
            "--force",
        ),
        (
            vec!["in/a.jsonl", "-o", absolute, "--force"],
            "this is an input",
        ),
        (
            vec!["in/../in/a.jsonl", "-o", "in/a.jsonl", "--force"],
            "this is an input",
        ),
        (vec!["in", "-o", "in/out"], "inside the input"),
        (
            vec!["in/b.txt", "-o", "in", "--force"],
            "the input in/b.txt is inside",
        ),
        (
            vec!["in/a.jsonl", "-o", "x", "--removed", "in/a.jsonl"],
            "this is an input",
        ),
        (
            vec!["in/a.jsonl", "-o", "x", "--removed", "./x"],
            "the same file",
        ),
        (
            vec!["in/a.jsonl", "-o", "x", "--removed", "-"],
            "needs the name of a file",
        ),
        (
            vec!["in/a.jsonl", "-o", "x", "--removed", "folder", "--force"],
            "folder: this is a folder",
        ),
        (vec!["in", "-o", "folder"], "--force"),
        (vec!["in/a.jsonl", "nowhere", "-o", "x"], "no such file"),
        (vec!["in/a.jsonl", "-o", "nowhere/x"], "nowhere/x"),
        (vec!["in/a.jsonl", "-o", ".."], "not a name"),
        (vec!["in/b.txt", "-o", "-"], "one document"),
        (vec!["-", "-o", "x"], "--format"),
        (vec!["-", "-", "-o", "x"], "more than once"),
    ] {
        let ran = sandbox
            .run(&[&["dedup"], &arguments[..]].concat())
            .expect(2);
        assert!(ran.stderr.contains(what), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let left = ["folder/there", "in/a.jsonl", "in/b.txt", "there"];
        assert_eq!(files(&sandbox.path("")), left, "{arguments:?}");
    }
    dedup(&sandbox, &["in/a.jsonl", "-o", "there", "--force"]);
    assert_eq!(read(&sandbox, "there"), read(&sandbox, "in/a.jsonl"));
    let left = ["folder/there", "in/a.jsonl", "in/b.txt", "there"];
    assert_eq!(files(&sandbox.path("")), left);
}

#[test]
fn broken_records_are_left_out_or_the_end_of_it() {
    let sandbox = Sandbox::new();
    let good = lines(3);
    sandbox.write("in.jsonl", [&*good[0], "{\"id\": 1", &good[1]].join("\n"));
    for keep in ["first", "longest"] {
        let broken = [
            "dedup",
            "in.jsonl",
            "-o",
            "out.jsonl",
            "--keep",
            keep,
            "--force",
        ];
        let ran = sandbox.run(&broken).expect(2);
        assert!(
            ran.stderr.contains("in.jsonl:2: not JSON"),
            "{}",
            ran.stderr
        );
        assert_eq!(
            read(&sandbox, "out.jsonl"),
            [&*good[0], &good[1]].join("\n")
        );
        fs::remove_file(sandbox.path("out.jsonl")).unwrap();
        let ran = sandbox
            .run(&[&broken[..], &["--strict"]].concat())
            .expect(2);
        assert!(
            ran.stderr.contains("out.jsonl is not written"),
            "{}",
            ran.stderr
        );
        assert_eq!(files(&sandbox.path("")), ["in.jsonl"]);
    }
}

#[test]
fn removed_documents_are_listed_as_json_too() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", lines(50).join("\n"));
    dedup(
        &sandbox,
        &["in.jsonl", "-o", "a.jsonl", "--removed", "a-removed.jsonl"],
    );
    let removed = read(&sandbox, "a-removed.jsonl");
    let removed: Vec<Value> = removed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!removed.is_empty());
    let fields = crate::sandbox::fields(&removed[0]);
    let expected = [
        "containment",
        "earlier",
        "earlier_file",
        "earlier_record",
        "error",
        "estimate",
        "exact_copy",
        "file",
        "jaccard",
        "key",
        "measure",
        "record",
        "stored_before",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn the_mixed_corpus_is_rid_of_what_is_alike() {
    let folder = std::env::var_os("DEDUPDB_CORPORA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/data"),
        PathBuf::from,
    );
    let path = folder.join("mixed_34k.jsonl.zst");
    let Ok(compressed) = fs::read(&path) else {
        return;
    };
    let input = String::from_utf8(zstd::decode_all(&*compressed).unwrap()).unwrap();
    let sandbox = Sandbox::new();
    let path = path.to_str().unwrap();
    for keep in ["first", "longest"] {
        let arguments = [
            path,
            "-o",
            "out.jsonl",
            "--removed",
            "removed",
            "--keep",
            keep,
            "--force",
        ];
        let summary = dedup(&sandbox, &arguments);
        assert_eq!(summary["documents"], 34_000);
        assert!(summary["dropped"].as_u64() > Some(1000), "{summary}");
        let (output, removed) = (read(&sandbox, "out.jsonl"), read(&sandbox, "removed"));
        check(&input, &output, &removed, &[]);
    }
}

#[test]
fn where_nothing_can_be_read_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("in/broken.jsonl.gz", b"\x1f\x8b and no more");
    sandbox.write("in/picture.png", b"\x89PNG\r\n\x1a\n\0\0");
    for output in ["out", "out.jsonl", "-"] {
        let ran = sandbox.run(&["dedup", "in", "-o", output]).expect(2);
        assert!(
            ran.stderr.contains("nothing could be read"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(sandbox.names(), ["in"]);
    // To leave out what is not text is a choice, and no failure.
    std::fs::remove_file(sandbox.path("in/broken.jsonl.gz")).unwrap();
    sandbox.run(&["dedup", "in", "-o", "out"]).expect(0);
    assert!(sandbox.path("out").exists());
}

#[test]
fn a_folder_does_not_get_the_name_of_a_text() {
    let sandbox = Sandbox::new();
    sandbox.write("in.txt", text(1, 40));
    let ran = sandbox.run(&["dedup", "in.txt", "-o", "one.txt"]).expect(2);
    let told = "dedupdb: one.txt: files of text are written to a folder, and this is the name of a file; name a folder\n";
    assert_eq!(ran.stderr, told);
    sandbox.run(&["dedup", "in.txt", "-o", "one"]).expect(0);
    let list = ["dedup", "in.txt", "--list", "-o", "list.txt"];
    sandbox.run(&list).expect(0);
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_any_of_its_names() {
    use std::process::Stdio;
    let sandbox = Sandbox::new();
    let line = "{\"text\": \"the night tram\"}\n";
    sandbox.write("in.jsonl", line);
    std::fs::hard_link(sandbox.path("in.jsonl"), sandbox.path("other.jsonl")).unwrap();
    let ran = sandbox.run(&[
        "dedup",
        "in.jsonl",
        "-o",
        "o.jsonl",
        "--against",
        "other.jsonl",
    ]);
    let told = ran.expect(2).stderr;
    assert!(told.contains("compared with itself"), "{told}");
    let ran = sandbox.run(&["dedup", "in.jsonl", "-o", "other.jsonl", "--force"]);
    assert!(ran.expect(2).stderr.contains("this is an input"));
    for arguments in [
        ["-o", "in.jsonl", "--force", "-q"],
        ["-o", "o.jsonl", "--removed", "in.jsonl"],
        ["-o", "o.jsonl", "--against", "in.jsonl"],
    ] {
        let arguments = [&["dedup", "-", "--format", "jsonl"], &arguments[..]].concat();
        let input = std::fs::File::open(sandbox.path("in.jsonl")).unwrap();
        let mut command = sandbox.command(&arguments);
        let ran = command.stdin(Stdio::from(input)).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{told}");
        assert!(told.contains("standard input (-) is this file"), "{told}");
    }
    let kept = std::fs::read_to_string(sandbox.path("in.jsonl")).unwrap();
    assert_eq!(kept, line);
}

#[cfg(unix)]
#[test]
fn what_is_beside_a_folder_is_not_below_it() {
    let inputs: [(&str, &[&str], &[&str]); 7] = [
        (
            "h/b/a",
            &["..", "../../c"],
            &["a/y.txt", "c/w.txt", "x.txt"],
        ),
        ("h/b", &[".", "./../c"], &["a/y.txt", "c/w.txt", "x.txt"]),
        (
            "h/b",
            &["./..", "./../../t.txt"],
            &["b/a/y.txt", "b/x.txt", "c/w.txt", "t.txt"],
        ),
        (
            "h/b/a",
            &["..", "../../../t.txt"],
            &["a/y.txt", "t.txt", "x.txt"],
        ),
        ("h/b", &["a", "a/../../c/w.txt"], &["a/y.txt", "w.txt"]),
        ("h/b", &["../c", "."], &["a/y.txt", "c/w.txt", "x.txt"]),
        ("h", &["b", "b/.."], &["b/a/y.txt", "b/x.txt", "c/w.txt"]),
    ];
    for (folder, inputs, expected) in inputs {
        let sandbox = Sandbox::new();
        for (seed, name) in (1..).zip(["h/b/x", "h/b/a/y", "h/c/w", "t"]) {
            sandbox.write(format!("{name}.txt"), text(seed, 40));
        }
        let out = sandbox.path("o/out").to_str().unwrap().to_owned();
        fs::create_dir(sandbox.path("o")).unwrap();
        let mut command = sandbox.command(&[&["dedup"], inputs, &["-o", &out]].concat());
        let ran = command.current_dir(sandbox.path(folder)).output().unwrap();
        Ran::of(ran).expect(0);
        let found: Vec<String> = crate::moving::tree(&sandbox, "o").into_keys().collect();
        let expected: Vec<String> = expected.iter().map(|name| format!("out/{name}")).collect();
        assert_eq!(found, expected, "{folder} {inputs:?}");
    }
}
