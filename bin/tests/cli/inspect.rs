//! `list`, `show` and `stats`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::sandbox::{Sandbox, fields, text};

#[test]
fn list_is_sorted_and_has_these_fields() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["pages.jsonl", "folder"], 0);
    let ran = sandbox.run(&["list"]).expect(0);
    let lines = ran.lines();
    assert_eq!(lines.len(), 57);
    assert!(lines.is_sorted());
    let objects = sandbox
        .run(&["--json", "list", "--prefix", "folder/docs/tally"])
        .objects();
    assert_eq!(objects.len(), 1);
    let expected = [
        "added",
        "content",
        "hash",
        "key",
        "last_seen",
        "modified",
        "published",
        "shingles",
        "size",
    ];
    assert_eq!(fields(&objects[0]), expected);
    let bytes = std::fs::read(sandbox.path("folder/docs/tally.rs")).unwrap();
    assert_eq!(objects[0]["size"], bytes.len());
    assert_eq!(objects[0]["hash"].as_str().unwrap().len(), 64);
    assert!(objects[0]["modified"].as_i64().unwrap() > 0);
    let long = sandbox
        .run(&["list", "--long", "--prefix", "page-01"])
        .expect(0);
    assert_eq!(
        long.stdout.trim_end().split('\t').next_back(),
        Some("page-01")
    );
    sandbox.run(&["list", "--prefix", "nothing"]).expect(1);
}

#[test]
fn show_names_the_exact_copies() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder"], 0);
    let ran = sandbox.run(&["show", "folder/docs/tally.rs"]).expect(0);
    assert!(
        ran.stdout
            .contains("\n  folder/old/2019/tally-backup.rs.txt\n"),
        "{}",
        ran.stdout
    );
    let shown = sandbox
        .run(&["show", "folder/docs/tally.rs", "--json"])
        .objects()
        .remove(0);
    assert_eq!(
        shown["copies"],
        json!(["folder/old/2019/tally-backup.rs.txt"])
    );
    let ran = sandbox.run(&["show", "nobody"]).expect(2);
    assert_eq!(ran.stderr, "dedupdb: nobody: no document has this key\n");
    let ran = sandbox.run(&["show", "a\\nb"]).expect(2);
    let told = "no document has this key; if a list printed it like this, add --escaped\n";
    assert!(ran.stderr.ends_with(told), "{}", ran.stderr);
}

#[test]
fn stats_count_documents_contents_and_bytes() {
    let sandbox = Sandbox::with_testdata();
    sandbox.add(&["folder", "pages.jsonl"], 0);
    sandbox.run(&["remove", "page-02"]).expect(0);
    let stats = sandbox
        .run(&["--json", "stats", "--scan"])
        .expect(0)
        .objects()
        .remove(0);
    assert_eq!(stats["documents"], 56);
    assert_eq!(stats["contents"], 53);
    assert_eq!(stats["removed"], 1);
    let files = stats["files"].as_object().unwrap().values();
    let bytes: u64 = files.map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(stats["bytes"], bytes);
    assert!(stats["recall"].as_f64().unwrap() > 0.98);
    assert!(stats["largest_buckets"].as_array().unwrap().len() <= 5);
    let removed = stats["removed_bytes"].as_u64().unwrap();
    assert!(removed > 0 && removed < bytes / 20, "{removed} of {bytes}");
    assert_eq!(
        (&stats["commit"], &stats["generation"], &stats["holder"]),
        (&json!(2), &json!(1), &json!(null))
    );
    let brief = sandbox
        .run(&["--json", "stats"])
        .expect(0)
        .objects()
        .remove(0);
    for (name, value) in stats.as_object().unwrap() {
        let of_scan = ["oldest", "newest", "largest_buckets", "reclaimable_bytes"];
        let is_scanned = of_scan.contains(&&**name);
        assert_eq!(
            brief.get(name),
            Some(value).filter(|_| !is_scanned),
            "{name}"
        );
    }
    let ran = sandbox.run(&["stats", "--scan"]).expect(0);
    for (name, time) in [("oldest", &stats["oldest"]), ("newest", &stats["newest"])] {
        let line = format!("{name} added    {}\n", time.as_str().unwrap());
        assert!(ran.stdout.contains(&line), "{line}: {}", ran.stdout);
    }
    let each = ran.stdout.lines().filter_map(|line| {
        let number = line.strip_suffix(" B a document")?;
        number.split(' ').next_back()
    });
    let each: Vec<&str> = each.collect();
    // Of a small store, the index takes thousands of bytes a document, and the contents some dozens.
    assert!(each.iter().any(|number| number.contains(',')), "{each:?}");
    for number in each {
        let is_small = number.find('.').is_some_and(|point| point < 3);
        assert_eq!(number.contains('.'), is_small, "{number}");
    }
    for part in [
        "documents",
        "last commit                  2   20",
        "signatures",
        "recall",
        "largest buckets",
        "word:5",
    ] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new();
    let records = (0..20_000).map(|id| json!({ "id": format!("a long key {id}"), "text": "x" }));
    let records: Vec<String> = records.map(|record| record.to_string()).collect();
    sandbox.write("x.jsonl", records.join("\n"));
    sandbox.add(&["x.jsonl"], 0);
    let mut child = sandbox
        .command(&["list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(line, "a long key 0\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}

#[test]
fn the_environment_names_the_store() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 20));
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env("DEDUPDB_STORE", "elsewhere");
        command.output().unwrap().status.code()
    };
    assert_eq!(run(&["add", "a.txt"]), Some(0));
    assert!(sandbox.path("elsewhere").is_dir());
    assert!(!sandbox.path(".dedupdb").exists());
    assert_eq!(run(&["--store", ".dedupdb", "list"]), Some(2));
    // Files are compared without a store, unless one is typed.
    let report = ["report", "a.txt", "-o", "page.html", "--force"];
    assert_eq!(run(&report), Some(1));
    assert_eq!(
        run(&[&["--store", "elsewhere"], &report[..]].concat()),
        Some(2)
    );
}
