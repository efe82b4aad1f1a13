//! The bytes of a committed store, read by code of its own that knows only the documented format.
//!
//! Nothing here depends on the order of bytes or the width of pointers of the machine, and nothing of the crate is used to
//! read. `bin/tests/cli/golden.rs` opens the same store.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use dedupdb::{Schema, Store};
use serde_json::Value;

use crate::text::reference;

const HEADER: usize = 64;

fn testdata(name: &str) -> Vec<u8> {
    fs::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).join(name)).unwrap()
}

fn lines(name: &str) -> Vec<Value> {
    let lines = testdata(&format!("stores/format-2/{name}"));
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// An integer of at most eight bytes.
fn integer(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

fn place(bytes: &[u8]) -> usize {
    usize::try_from(integer(bytes)).unwrap()
}

/// The id of the store of a column of this kind and size of rows, and its rows.
fn column(bytes: &[u8], kind: u64, generation: u64, row_bytes: u64) -> (u64, &[u8]) {
    let (header, rows) = bytes.split_at(HEADER);
    assert_eq!(&header[..8], b"dedupdb\n");
    assert_eq!(integer(&header[8..12]), 2, "the format");
    assert_eq!(integer(&header[12..16]), kind);
    assert_eq!(integer(&header[24..28]), generation);
    assert_eq!(integer(&header[28..32]), row_bytes);
    assert_eq!(header[32..56], [0; 24]);
    assert_eq!(header[56..], blake3::hash(&header[..56]).as_bytes()[..8]);
    (integer(&header[16..24]), rows)
}

struct Row {
    hash: String,
    shingles_end: usize,
    fingerprints_end: usize,
    count: usize,
    /// The number of signatures up to this one.
    signatures: usize,
}

fn contents(rows: &[u8]) -> Vec<Row> {
    assert!(rows.len().is_multiple_of(52));
    let rows = rows.chunks_exact(52).map(|row| Row {
        hash: row[..32]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>()
            .concat(),
        shingles_end: place(&row[32..38]),
        fingerprints_end: place(&row[38..44]),
        count: place(&row[44..48]),
        signatures: place(&row[48..52]),
    });
    rows.collect()
}

/// The shingles and the tails of a block: Elias-Fano, read bit by bit.
fn shingles(block: &[u8], count: usize) -> (Vec<u32>, &[u8]) {
    if count == 0 {
        assert!(block.is_empty());
        return (Vec::new(), block);
    }
    let bit = |bytes: &[u8], at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
    let low_bits = usize::try_from(((1_u64 << 32) / count as u64).ilog2()).unwrap();
    let low_bytes = (count * low_bits).div_ceil(8);
    let (low, high) = block.split_at(low_bytes);
    let (mut set, mut at) = (Vec::new(), 0);
    while set.len() < count {
        if bit(high, at) == 1 {
            let first = set.len() * low_bits;
            let low = (0..low_bits).map(|number| bit(low, first + number) << number);
            let value = ((at - set.len()) as u64) << low_bits | low.sum::<u64>();
            set.push(u32::try_from(value).unwrap());
        }
        at += 1;
    }
    let places = count as u64 + (1_u64 << 32).div_ceil(1 << low_bits);
    let (rest, tails) = high.split_at(usize::try_from(places.div_ceil(8)).unwrap());
    assert!((at..8 * rest.len()).all(|at| bit(rest, at) == 0));
    (set, tails)
}

fn share(a: &[u32], b: &[u32]) -> f64 {
    let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}

/// The words of a text as the default schema reads it.
fn words(text: &str) -> Vec<String> {
    reference::words(&reference::folded(text, true, true))
}

/// Checks that a block has the fingerprints of a text for passages of this many words.
fn assert_fingerprints(block: &[u8], text: &str, passage: usize) {
    let words = words(text);
    let windows = words
        .windows(words.len().clamp(1, 5))
        .step_by(passage - 5 + 1);
    let expected: Vec<u32> = windows
        .flat_map(|window| reference::shingles(window, 5))
        .collect();
    let found = block
        .chunks(4)
        .map(|four| u32::try_from(integer(four)).unwrap());
    assert!(found.eq(expected));
}

#[test]
fn a_committed_store_has_the_documented_bytes() {
    let files = ["contents", "shingles", "signatures", "fingerprints"];
    let files = files.map(|name| testdata(&format!("stores/format-2/store/{name}.2")));
    let [
        (store, rows),
        (b, blocks),
        (c, signatures),
        (d, fingerprints),
    ] = [(1, 52), (2, 0), (3, 256), (4, 0)].map(|(kind, row_bytes)| {
        column(
            &files[usize::try_from(kind).unwrap() - 1],
            kind,
            2,
            row_bytes,
        )
    });
    assert_eq!([store; 3], [b, c, d]);
    let (rows, mut sets, mut start) = (contents(rows), Vec::new(), 0);
    let mut signed = 0;
    for row in &rows {
        let (set, tails) = shingles(&blocks[start..row.shingles_end], row.count);
        assert!(set.is_sorted_by(|a, b| a < b));
        let is_small = (1..=16).contains(&row.count);
        // The code of a small set has its maximum length, so that what follows is the tails.
        assert!(is_small || tails.is_empty());
        sets.push(set);
        start = row.shingles_end;
        signed += usize::from(row.count > 64);
        assert_eq!(row.signatures, signed);
    }
    assert_eq!(start, blocks.len());
    assert_eq!(signatures.len(), 256 * signed);
    assert!(signed < rows.len(), "a small set has no signature");
    assert_eq!(rows.last().unwrap().fingerprints_end, fingerprints.len());

    // What `list` says of the documents, and their texts.
    let mut of_key = BTreeMap::new();
    for document in lines("list.jsonl") {
        let content = usize::try_from(document["content"].as_u64().unwrap()).unwrap();
        assert_eq!(document["hash"], *rows[content].hash);
        assert_eq!(document["shingles"], rows[content].count);
        let key = document["key"].as_str().unwrap().to_owned();
        if key.starts_with("folder/") {
            let text = String::from_utf8(testdata(&key)).unwrap();
            assert_eq!(*blake3::hash(text.as_bytes()).to_hex(), *rows[content].hash);
            let expected = reference::shingles(&words(&text), 5);
            assert!(sets[content].iter().eq(&expected), "{key}");
            let before = content.checked_sub(1).map(|before| &rows[before]);
            let start = before.map_or(0, |before| before.fingerprints_end);
            let block = &fingerprints[start..rows[content].fingerprints_end];
            assert_fingerprints(block, &text, 20);
        }
        of_key.insert(key, content);
    }
    assert_eq!(of_key.len(), 56);

    // What `pairs` says of their similarity.
    let chance = 1.0 / 65536.0;
    for pair in lines("pairs.jsonl") {
        let [a, b] = ["key_a", "key_b"].map(|key| of_key[pair[key].as_str().unwrap()]);
        let said = |name: &str| pair[name].as_f64().unwrap();
        assert!(
            (said("jaccard") - share(&sets[a], &sets[b])).abs() < 1e-9,
            "{pair}"
        );
        if [a, b].iter().any(|&content| rows[content].count <= 64) {
            continue;
        }
        let slots = |content: usize| {
            let end = 256 * rows[content].signatures;
            signatures[end - 256..end].chunks(2)
        };
        let agreeing = slots(a).zip(slots(b)).filter(|(a, b)| a == b).count();
        let estimate = (agreeing as f64 / 128.0 - chance) / (1.0 - chance);
        assert!((said("estimate") - estimate).abs() < 1e-9, "{pair}");
    }
}

#[test]
fn fingerprints_have_the_documented_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().passage(12).build().unwrap();
    let store = Store::create(folder.path(), &schema).unwrap();
    let texts = [
        "folder/docs/changelog.md",
        "folder/mail/tiny-note.txt",
        "folder/languages/thai.txt",
    ];
    let texts = texts.map(|name| String::from_utf8(testdata(name)).unwrap());
    for (key, text) in texts.iter().enumerate() {
        store.replace(key.to_string(), text.as_str()).unwrap();
    }
    drop(store);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let (files, mut start) = ([read("contents.1"), read("fingerprints.1")], 0);
    let (store, rows) = column(&files[0], 1, 1, 52);
    let (other, blocks) = column(&files[1], 4, 1, 0);
    assert_eq!(store, other);
    for (row, text) in contents(rows).iter().zip(&texts) {
        assert_fingerprints(&blocks[start..row.fingerprints_end], text, 12);
        start = row.fingerprints_end;
    }
    assert_eq!(start, blocks.len());
}
