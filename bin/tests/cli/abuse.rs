//! Hostile inputs: each takes bounded time and memory, and a refusal gives the reason.
#![cfg(unix)]

use std::collections::HashSet;
use std::fs;

use dedupdb::sketching::{Family, Shingler, Shingling, Signer, SlotWidth};
use serde_json::{Value, json};

use crate::compressed::gz;
use crate::sandbox::{Ran, Sandbox, text};

/// The address space of a run. The run uses far less memory: its threads and maps count in full.
const BOUND_KB: u64 = 2_000_000;

/// The note about searches that did not compare every candidate, after their number.
const NOTE: &str = "a search skipped candidates after 100 that did not match; --false-candidates all \
                    compares every one";

/// Runs the program with a bound on its memory. A program that exceeds it ends by a signal, or reports it.
fn bounded(sandbox: &Sandbox, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let line = format!("ulimit -v {BOUND_KB}; exec '{program}' {arguments}");
    Ran::of(sandbox.shell(&line).output().unwrap())
}

fn summary(sandbox: &Sandbox, arguments: &str, code: i32) -> Value {
    let ran = bounded(sandbox, &format!("--json --threads 2 add {arguments}")).expect(code);
    ran.objects().pop().unwrap()
}

fn jsonl(records: impl Iterator<Item = (String, String)>) -> String {
    let record = |(id, text)| json!({ "id": id, "text": text }).to_string() + "\n";
    records.map(record).collect()
}

#[test]
fn a_text_of_one_word_has_one_shingle() {
    let sandbox = Sandbox::new();
    sandbox.write("one.txt", "word ".repeat(4 << 20));
    assert_eq!(summary(&sandbox, "one.txt", 0)["added"], 1);
    let ran = bounded(&sandbox, "--json show one.txt").expect(0);
    assert_eq!(ran.objects()[0]["shingles"], 1);
    sandbox.write("two.txt", "word ".repeat(4 << 20));
    let skipped = summary(&sandbox, "--max-document 1MiB two.txt", 2);
    assert_eq!(skipped["skipped"], json!({ "too large": 1 }));
}

#[test]
fn long_lines_are_read_and_longer_ones_passed_over() {
    let sandbox = Sandbox::new();
    let long = |seed| text(seed, 1000).repeat(1000);
    let records = (0..3).map(|n| (format!("long{n}"), long(n)));
    let small = ("small".to_owned(), text(9, 50));
    sandbox.write("a.jsonl", jsonl(records.chain([small])));
    assert!(fs::metadata(sandbox.path("a.jsonl")).unwrap().len() > 20 << 20);
    let skipped = summary(&sandbox, "--max-document 1MiB a.jsonl", 2);
    assert_eq!(
        (&skipped["added"], &skipped["skipped"]),
        (&json!(1), &json!({ "bad record": 3 }))
    );
    assert_eq!(summary(&sandbox, "a.jsonl", 0)["added"], 3);
}

/// Near-copies of one template, which share all of their buckets.
#[test]
fn a_bucket_of_thousands_is_added_to_and_queried() {
    let sandbox = Sandbox::new();
    let template = text(1, 100);
    let copies = (0..3000).map(|n| (format!("{n:05}"), format!("{template} end{n}")));
    sandbox.write("copies.jsonl", jsonl(copies));
    let added = summary(&sandbox, "copies.jsonl", 0);
    assert_eq!(
        (&added["added"], &added["near_duplicates"]),
        (&json!(3000), &json!(2999))
    );
    sandbox.write("template.txt", &template);
    let ran = bounded(&sandbox, "query template.txt").expect(0);
    assert_eq!(ran.lines().len(), 3000);
    let ran = bounded(&sandbox, "--json clusters").expect(0);
    assert_eq!(ran.lines().len(), 3000);
}

/// Phrases whose shingles have the smallest values under the slots of the first band, one phrase per slot. Any text
/// that has them lies in one bucket of the band.
fn magnets(seed: u64, rows: u32) -> String {
    let shingler = Shingler::new(Shingling::Word(5), true, true).unwrap();
    let signer = Signer::new(Family::Affine32, seed, rows, SlotWidth::Bits32).unwrap();
    let mut best = vec![(u32::MAX, String::new()); rows as usize];
    for number in 0..60_000 {
        let phrase = format!("a{number} b{number} c{number} d{number} e{number}");
        let shingles = shingler.shingles(&phrase).unwrap();
        let minima = signer.minima(shingles.as_slice());
        for (best, value) in best.iter_mut().zip(minima) {
            if value < best.0 {
                *best = (value, phrase.clone());
            }
        }
    }
    let phrases: HashSet<String> = best.into_iter().map(|(_, phrase)| phrase).collect();
    let mut phrases: Vec<String> = phrases.into_iter().collect();
    phrases.sort();
    phrases.join(" ")
}

/// Unlike texts that are made to share a bucket under a known seed.
fn colliding(count: u64) -> impl Iterator<Item = (String, String)> {
    let magnets = magnets(1, 7);
    (0..count).map(move |n| (format!("{n:05}"), format!("{magnets} {}", text(n, 200))))
}

#[test]
fn texts_made_to_collide_do_not_where_the_seed_is_random() {
    let texts = jsonl(colliding(800));
    let largest = |seed: &str| {
        let sandbox = Sandbox::new();
        sandbox.run(&["init", "--seed", seed]).expect(0);
        sandbox.write("texts.jsonl", &texts);
        let added = summary(&sandbox, "texts.jsonl", 0);
        // The store finds no near-duplicates among them.
        assert_eq!(
            (&added["added"], &added["near_duplicates"]),
            (&json!(800), &json!(0))
        );
        let stats = sandbox
            .run(&["--json", "stats", "--scan"])
            .expect(0)
            .objects()
            .remove(0);
        stats["largest_buckets"][0]["contents"]
            .as_u64()
            .unwrap_or(1)
    };
    let known = largest("1");
    assert!(known > 700, "{known} of 800 share a bucket");
    let random = largest("random");
    assert!(random < 200, "{random} of 800 share a bucket");
}

/// Each search ends after this number of texts that do not match, and reports it. Searches for other texts are not
/// affected.
#[test]
fn texts_made_to_collide_cost_no_more_than_is_allowed() {
    let sandbox = Sandbox::new();
    sandbox.write("texts.jsonl", jsonl(colliding(400)));
    let ran = bounded(&sandbox, "--false-candidates 100 add texts.jsonl").expect(0);
    // All but the first 101 texts, and except for a few with smaller hashes of their own.
    let (_, told) = ran.stderr.split_once("\ndedupdb: ").unwrap();
    let (times, rest) = told.split_once(" times, ").unwrap();
    assert!((250..300).contains(&times.parse().unwrap()), "{told}");
    assert_eq!(rest.trim_end(), NOTE);
    let copy = ("copy".to_owned(), text(1000, 200));
    let twin = ("twin".to_owned(), format!("{} more", text(1000, 200)));
    sandbox.write("copy.jsonl", jsonl([copy, twin].into_iter()));
    let ran = bounded(&sandbox, "--false-candidates 100 add copy.jsonl").expect(0);
    assert!(!ran.stderr.contains("skipped candidates"), "{}", ran.stderr);
    // They have nothing but their phrases in common, so clusters need no comparison.
    let ran = bounded(&sandbox, "--false-candidates 100 clusters").expect(0);
    assert!(!ran.stderr.contains("skipped candidates"), "{}", ran.stderr);
    for (verb, found) in [("pairs", 1), ("clusters", 2), ("query --key copy", 1)] {
        let ran = bounded(&sandbox, &format!("{verb} --false-candidates all")).expect(0);
        assert_eq!(ran.lines().len(), found, "{verb}: {}", ran.stdout);
        assert!(!ran.stderr.contains("skipped candidates"), "{}", ran.stderr);
    }
    let ran = bounded(&sandbox, "--false-candidates 100 pairs").expect(0);
    assert!(ran.stderr.contains("skipped candidates"), "{}", ran.stderr);
    let ran = bounded(&sandbox, "--false-candidates 100 query --key 00001").expect(1);
    assert!(
        ran.stderr.contains(&format!("1 time, {NOTE}")),
        "{}",
        ran.stderr
    );
    let ran = bounded(&sandbox, "--false-candidates 0 query --key 00001").expect(2);
    assert!(
        ran.stderr.contains("whole number from 1 on, or all"),
        "{}",
        ran.stderr
    );
}

#[test]
fn keys_may_be_anything_but_empty_and_endless() {
    let sandbox = Sandbox::new();
    let mut keys: Vec<String> = [
        "..",
        "../../etc/passwd",
        "/",
        ".",
        "a\0b",
        "-",
        "--help",
        "\u{202e}",
    ]
    .map(str::to_owned)
    .to_vec();
    keys.push("k".repeat(65_536));
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    // At most four bytes each.
    keys.extend(all.chunks(16_000).map(|chars| chars.iter().collect()));
    let records = keys.iter().enumerate();
    let records = records.map(|(n, key)| (key.clone(), text(n as u64, 40)));
    sandbox.write("keys.jsonl", jsonl(records));
    assert_eq!(summary(&sandbox, "keys.jsonl", 0)["added"], keys.len());
    let mut stored = sandbox.keys();
    stored.sort();
    let mut expected = keys.clone();
    expected.sort();
    assert!(stored == expected);
    // No control character of a key gets to the terminal.
    let ran = bounded(&sandbox, "list").expect(0);
    assert_eq!(ran.lines().len(), keys.len());
    assert!(!ran.stdout.contains(['\0', '\u{1b}', '\u{202e}', '\t']));
    sandbox.write("text.txt", text(4, 40));
    let ran = bounded(&sandbox, "query text.txt").expect(0);
    assert_eq!(ran.lines(), ["text.txt\ta\\u{0}b\t1.0000\texact copy"]);
    sandbox.run(&["check"]).expect(0);

    let too_long = ("k".repeat(65_537), "a text".to_owned());
    let empty = (String::new(), "a text".to_owned());
    sandbox.write("bad.jsonl", jsonl([too_long, empty].into_iter()));
    let ran = bounded(&sandbox, "add bad.jsonl").expect(2);
    assert!(ran.stderr.contains("1 to 65536 bytes"), "{}", ran.stderr);
    // An empty id is none.
    assert!(sandbox.keys().contains(&"bad.jsonl#2".to_owned()));
}

#[test]
fn archives_that_expand_without_end_are_given_up() {
    let sandbox = Sandbox::new();
    // Very many members, each of which is small.
    let member = gz(&vec![b' '; 1 << 20]);
    sandbox.write("many.txt.gz", member.repeat(300));
    let skipped = summary(&sandbox, "many.txt.gz", 2);
    assert_eq!(skipped["skipped"], json!({ "too large": 1 }));
    // An endless line in a compressed file.
    sandbox.write("line.jsonl.gz", member.repeat(300));
    let skipped = summary(&sandbox, "line.jsonl.gz", 2);
    let all_bad = json!({ "all records bad": 1, "bad record": 1 });
    assert_eq!(skipped["skipped"], all_bad);
    // A frame that asks for a window of 2 GiB.
    let frame = [
        &[0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8][..],
        &[0x29, 0, 0],
        b"hello",
    ]
    .concat();
    sandbox.write("window.txt.zst", frame);
    let ran = bounded(&sandbox, "add window.txt.zst").expect(2);
    assert!(
        ran.stderr
            .contains("takes 2,048 MiB of memory, and 512 MiB are allowed"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_tree_a_thousand_folders_deep_is_walked() {
    let sandbox = Sandbox::new();
    let folder = "d/".repeat(1000);
    sandbox.write(format!("{folder}deep.txt"), text(1, 50));
    sandbox.write("d/flat.txt", text(2, 50));
    assert_eq!(summary(&sandbox, "d", 0)["added"], 2);
    assert_eq!(
        sandbox.keys(),
        [format!("{folder}deep.txt"), "d/flat.txt".to_owned()]
    );
}
