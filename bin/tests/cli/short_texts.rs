//! Unlike texts of one shingle each, whose 32-bit hashes are equal: every command distinguishes them.

use crate::sandbox::Sandbox;

const TEXTS: [(&str, &str); 4] = [
    ("a", "141176"),
    ("b", "44790"),
    ("c", "red dog house blue stone"),
    ("d", "red sun red blue dog"),
];

/// The texts as a JSONL file.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let lines = TEXTS.map(|(id, text)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n"));
    sandbox.write("texts.jsonl", lines.concat());
    for (id, text) in TEXTS {
        sandbox.write(format!("{id}.txt"), text);
    }
    sandbox
}

#[test]
fn dedup_keeps_them_all() {
    let sandbox = sandbox();
    let dedup = ["dedup", "texts.jsonl", "-o", "kept.jsonl"];
    sandbox.run(&dedup).expect(0);
    let kept = std::fs::read_to_string(sandbox.path("kept.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), TEXTS.len(), "{kept}");
}

#[test]
fn pairs_and_clusters_find_none() {
    let sandbox = sandbox();
    let added = sandbox.add(&["texts.jsonl"], 0);
    assert_eq!(added["near_duplicates"], 0);
    for question in [&["pairs"][..], &["pairs", "--exhaustive"], &["clusters"]] {
        let ran = sandbox.run(question);
        assert_eq!((&*ran.stdout, ran.code), ("", Some(1)), "{question:?}");
    }
}

#[test]
fn map_and_reduce_find_none() {
    let sandbox = sandbox();
    let mapped = sandbox.run(&["map", "texts.jsonl"]).expect(0).stdout;
    let mut lines: Vec<&str> = mapped.lines().collect();
    lines.sort_unstable();
    let sorted = lines.join("\n") + "\n";
    let reduced = sandbox.run_with(&["reduce"], sorted.as_bytes());
    assert_eq!(reduced.expect(0).stdout, "");
}

#[test]
fn jaccard_tells_them_apart() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["jaccard", "a.txt", "b.txt"]);
    assert!(ran.stdout.contains("0.0000"), "{}", ran.stdout);
}
