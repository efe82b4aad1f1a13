//! Compressed inputs, whole and damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::sandbox::{Sandbox, text};

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

pub(crate) fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// The given number of records, one per line.
fn jsonl(records: u64) -> String {
    let record = |id| json!({ "id": format!("r{id}"), "text": text(id, 60) }).to_string() + "\n";
    (0..records).map(record).collect()
}

#[test]
fn members_and_frames_are_read_as_one() {
    let sandbox = Sandbox::new();
    let all = jsonl(300);
    sandbox.write("plain.jsonl", &all);
    sandbox.add(&["plain.jsonl"], 0);
    let expected = sandbox.contents();
    assert_eq!(expected.len(), 300);
    let (head, tail) = all.as_bytes().split_at(all.len() / 3);
    for (name, bytes) in [
        ("a.jsonl.gz", gz(all.as_bytes())),
        ("b.jsonl.gz", [gz(head), gz(b""), gz(tail)].concat()),
        ("c.jsonl.zst", zst(all.as_bytes())),
        ("d.jsonl.zst", [zst(head), zst(tail)].concat()),
        ("g.jsonl.xz", xz(all.as_bytes())),
        (
            "h.jsonl.xz",
            [xz(head), vec![0; 4], xz(b""), xz(tail)].concat(),
        ),
        ("i.jsonl.bz2", bz2(all.as_bytes())),
        ("j.jsonl.bz2", [bz2(head), bz2(b""), bz2(tail)].concat()),
        ("k.jsonl", xz(all.as_bytes())),
        ("l.jsonl.gz", bz2(all.as_bytes())),
        // A name says what is inside, the first bytes how it is compressed.
        ("e.ndjson", zst(all.as_bytes())),
        ("f.jsonl.gz", all.clone().into_bytes()),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(name, bytes);
        assert_eq!(sandbox.add(&[name], 0)["added"], 300, "{name}");
        assert_eq!(sandbox.contents(), expected, "{name}");
    }
}

#[test]
fn a_file_that_was_cut_short_at_once_is_no_text() {
    let sandbox = Sandbox::new();
    for (name, bytes) in [
        ("a.txt.gz", gz(b"a text")),
        ("b.txt.zst", zst(b"a text")),
        ("c.txt.xz", xz(b"a text")),
        ("d.txt.bz2", bz2(b"a text")),
    ] {
        for length in 0..4 {
            if name.ends_with("gz") && length > 1 {
                continue;
            }
            sandbox.write(name, &bytes[..length]);
            let ran = sandbox.run(&["add", name]).expect(2);
            let told = format!("{name}: the compressed data is cut short");
            assert!(ran.stderr.contains(&told), "{length}: {}", ran.stderr);
        }
    }
    // Its first byte is that of no compressed file.
    sandbox.write("c.txt.gz", "a");
    sandbox.add(&["c.txt.gz"], 0);
}

#[test]
fn what_is_whole_of_a_truncated_file_is_added() {
    let all = jsonl(2000);
    for (name, bytes) in [
        ("a.jsonl.gz", gz(all.as_bytes())),
        ("b.jsonl.zst", zst(all.as_bytes())),
        ("c.jsonl.xz", xz(all.as_bytes())),
        ("d.jsonl.bz2", bz2(all.as_bytes())),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(name, &bytes[..bytes.len() - 100]);
        let ran = sandbox.run(&["--json", "--quiet", "add", name]).expect(2);
        let expected = format!("dedupdb: {name}: the compressed data is cut short\n");
        assert_eq!(ran.stderr, expected);
        let summary = ran.objects().pop().unwrap();
        assert_eq!(summary["skipped"], json!({ "unreadable": 1 }));
        let added = summary["added"].as_u64().unwrap();
        assert!((1000..2000).contains(&added), "{added}");
        assert_eq!(sandbox.keys().len() as u64, added);
    }
}

#[test]
fn a_file_that_grows_out_of_proportion_is_given_up() {
    let sandbox = Sandbox::new();
    sandbox.write("bomb.jsonl.zst", zst(&vec![b' '; 80 << 20]));
    sandbox.write("bomb.txt.zst", zst(&vec![b' '; 80 << 20]));
    for (name, max) in [("bomb.jsonl.zst", "64MiB"), ("bomb.txt.zst", "1GiB")] {
        let ran = sandbox.run(&["add", "--max-document", max, name]).expect(2);
        assert!(ran.stderr.contains("1000 times"), "{}", ran.stderr);
    }
    let summary = sandbox.add(&["--max-document", "1MiB", "bomb.txt.zst"], 2);
    assert_eq!(summary["skipped"], json!({ "too large": 1 }));
}

#[test]
fn a_compressed_text_is_a_file_like_others() {
    let sandbox = Sandbox::new();
    let letter = text(1, 80);
    sandbox.write("in/a.txt", &letter);
    sandbox.write("in/b.txt.gz", gz(letter.as_bytes()));
    sandbox.write("in/c.zst", zst(letter.as_bytes()));
    sandbox.write("in/d.gz", gz(b"binary\0"));
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(summary["exact_copies"], 2);
    assert_eq!(summary["skipped"], json!({ "binary": 1 }));
    assert_eq!(sandbox.keys(), ["in/a.txt", "in/b.txt.gz", "in/c.zst"]);
    assert_eq!(sandbox.add(&["in"], 0)["unchanged"], 3);
}

#[test]
fn standard_input_has_a_format_too() {
    let sandbox = Sandbox::new();
    let records = "{\"text\": \"no id here\"}\n{\"id\": 7, \"text\": \"an id\"}\n";
    let ran = sandbox.run_with(&["add", "-", "--format", "jsonl"], &gz(records.as_bytes()));
    ran.expect(0);
    assert_eq!(sandbox.keys(), ["-#1", "7"]);
    let add = ["add", "-", "--format", "jsonl", "--key", "feed"];
    sandbox.run_with(&add, records.as_bytes()).expect(0);
    assert_eq!(sandbox.keys(), ["-#1", "7", "feed#1"]);
    let query = ["query", "-", "--format", "jsonl"];
    let ran = sandbox.run_with(&query, &zst(records.as_bytes())).expect(0);
    // Nothing says that this is the stream from before.
    let found = ["-#1", "feed#1"].map(|key| format!("-#1\t{key}\t1.0000\texact copy"));
    assert_eq!(ran.lines(), found);
}

#[test]
fn a_compressed_file_without_a_byte_is_cut_short() {
    let sandbox = Sandbox::new();
    for name in ["a.jsonl.gz", "b.jsonl.Zst", "c.txt.GZ"] {
        sandbox.write(name, "");
        let ran = sandbox.run(&["add", name]).expect(2);
        let told = format!("{name}: the compressed data is cut short");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
}

#[test]
fn a_window_that_takes_more_memory_than_allowed_is_named() {
    let sandbox = Sandbox::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(jsonl(3).as_bytes()).unwrap();
    sandbox.write("a.jsonl.zst", encoder.finish().unwrap());
    let ran = sandbox.run(&["add", "a.jsonl.zst"]).expect(2);
    let told =
        "a.jsonl.zst: to decompress it takes 1,024 MiB of memory, and 512 MiB are allowed; give";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    sandbox.run(&["query", "a.jsonl.zst"]).expect(2);
    sandbox.add(&["a.jsonl.zst", "--memory", "1GiB"], 0);
    let dedup = [
        "dedup",
        "a.jsonl.zst",
        "-o",
        "b.jsonl.xz",
        "--memory",
        "1GiB",
    ];
    sandbox.run(&dedup).expect(0);
    sandbox
        .run(&["dedup", "b.jsonl.xz", "-o", "c.jsonl.bz2"])
        .expect(0);
    sandbox
        .run(&["dedup", "c.jsonl.bz2", "-o", "d.jsonl"])
        .expect(0);
    let written = std::fs::read_to_string(sandbox.path("d.jsonl")).unwrap();
    assert_eq!(written, jsonl(3));
}
