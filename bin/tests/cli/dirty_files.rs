//! A collection of files that are hard to read, if it is present, and what each must give.
//!
//! `DEDUPDB_CORPORA` names the folder that it is in, `../shared/data` by default.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::sandbox::Sandbox;

/// A sandbox with the files in `dirty/`, or a notice that they are absent.
#[expect(clippy::print_stdout, reason = "a test that cannot be made says so")]
fn dirty() -> Option<Sandbox> {
    let folder = std::env::var_os("DEDUPDB_CORPORA").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("../shared/data"),
        PathBuf::from,
    );
    let path = folder.join("dirty.tar.zst");
    let Ok(file) = File::open(&path) else {
        println!("skipped: {} is not here", path.display());
        return None;
    };
    let sandbox = Sandbox::new();
    let archive = zstd::Decoder::new(file).unwrap();
    tar::Archive::new(archive).unpack(sandbox.path("")).unwrap();
    Some(sandbox)
}

/// A file or folder, options, and what it must give: exit code, documents added, updated and
/// unchanged, exact copies, and what is skipped.
type Row = (
    &'static str,
    &'static [&'static str],
    i32,
    [u64; 4],
    Skipped,
);

type Skipped = &'static [(&'static str, u64)];

const NESTED: &[&str] = &["--text-field", "doc.text", "--id-field", "doc.id"];

const ROWS: &[Row] = &[
    ("binary", &[], 0, [0, 0, 0, 0], &[("binary", 46)]),
    ("empty_tiny", &[], 0, [13, 0, 0, 3], &[("binary", 2)]),
    ("encodings", &[], 0, [417, 0, 0, 20], &[("binary", 9)]),
    ("filenames", &[], 0, [9, 0, 0, 0], &[]),
    ("invalid_utf8", &[], 0, [172, 0, 0, 3], &[]),
    ("normalization", &[], 0, [19, 0, 0, 8], &[]),
    // UTF-16 without a byte order mark cannot be recognized.
    ("transcoded", &[], 0, [10, 0, 0, 7], &[("binary", 4)]),
    ("unicode_tests", &[], 0, [6, 0, 0, 0], &[]),
    ("containers/bom.jsonl", &[], 0, [3000, 0, 0, 16], &[]),
    (
        "containers/malformed.jsonl",
        &[],
        2,
        [15, 0, 0, 0],
        &[("bad record", 7), ("repeated key", 1)],
    ),
    (
        "containers/nested.parquet",
        &[],
        2,
        [0; 4],
        &[("unreadable", 1)],
    ),
    ("containers/nested.parquet", NESTED, 0, [100, 0, 0, 1], &[]),
    (
        "containers/reuters3k_binary_othername.parquet",
        &["--text-field", "content"],
        0,
        [3000, 0, 0, 16],
        &[],
    ),
    (
        "containers/reuters3k_intid_nulls_large.zstd.parquet",
        &[],
        2,
        [2969, 0, 0, 15],
        &[("bad record", 31)],
    ),
    (
        "containers/truncated.jsonl.gz",
        &[],
        2,
        [2993, 0, 0, 16],
        &[("unreadable", 1)],
    ),
    (
        "containers/truncated.jsonl.zst",
        &[],
        2,
        [2863, 0, 0, 16],
        &[("unreadable", 1)],
    ),
    (
        "containers/truncated.parquet",
        &[],
        2,
        [0; 4],
        &[("unreadable", 1)],
    ),
    ("warc/bad.arc", &[], 0, [1, 0, 0, 0], &[]),
    (
        "warc/example-bad-non-chunked.warc.gz",
        &[],
        0,
        [1, 0, 0, 0],
        &[("no page", 5)],
    ),
    (
        "warc/example-bad.warc.gz.bad",
        &[],
        2,
        [0; 4],
        &[("binary", 1)],
    ),
    (
        "warc/example-digest.warc",
        &[],
        0,
        [0; 4],
        &[("no page", 4)],
    ),
    (
        "warc/example-iana.org-chunked.warc",
        &[],
        0,
        [1, 0, 0, 0],
        &[("no page", 2)],
    ),
    (
        "warc/example-resource.warc.gz",
        &[],
        0,
        [1, 0, 0, 0],
        &[("no page", 2)],
    ),
    (
        "warc/example-space-in-target-uri.warc.gz",
        &[],
        0,
        [0; 4],
        &[("no page", 2)],
    ),
    ("warc/example-space-in-url.arc", &[], 0, [1, 0, 0, 0], &[]),
    (
        "warc/example-trunc.warc",
        &[],
        2,
        [0; 4],
        &[("bad record", 2), ("no page", 3)],
    ),
    (
        "warc/example-wget-bad-target-uri.warc.gz",
        &[],
        0,
        [3, 0, 0, 0],
        &[("no page", 3)],
    ),
    (
        "warc/example-wrong-chunks.warc.gz",
        &[],
        0,
        [1, 0, 0, 0],
        &[("no page", 1)],
    ),
    ("warc/example.arc", &[], 0, [1, 0, 0, 0], &[]),
    ("warc/example.arc.gz", &[], 0, [1, 0, 0, 0], &[]),
    ("warc/example.warc", &[], 0, [1, 0, 0, 0], &[("no page", 5)]),
    (
        "warc/example.warc.gz",
        &[],
        0,
        [1, 0, 0, 0],
        &[("no page", 5)],
    ),
    ("warc/post-test.warc.gz", &[], 0, [0; 4], &[("no page", 6)]),
];

#[test]
fn every_file_gives_what_it_has() {
    let Some(sandbox) = dirty() else {
        return;
    };
    for (index, &(name, options, code, counts, skipped)) in ROWS.iter().enumerate() {
        let (store, path) = (format!("store-{index}"), format!("dirty/{name}"));
        let arguments = [&["--store", &store, &path][..], options].concat();
        let summary = sandbox.add(&arguments, code);
        let skipped: BTreeMap<&str, u64> = skipped.iter().copied().collect();
        let names = ["added", "updated", "unchanged", "exact_copies"];
        let found = names.map(|name| summary[name].as_u64().unwrap());
        assert_eq!(
            (found, &summary["skipped"]),
            (counts, &json!(skipped)),
            "{name} {options:?}"
        );
    }
}

#[test]
fn the_same_3000_documents_give_the_same_store() {
    let Some(mut sandbox) = dirty() else {
        return;
    };
    let mut expected = None;
    for name in [
        "reuters3k.jsonl",
        "bom.jsonl",
        "no_trailing_newline.jsonl",
        "reuters3k.jsonl.gz",
        "reuters3k_multimember.jsonl.gz",
        "reuters3k.jsonl.zst",
        "reuters3k_multiframe.jsonl.zst",
        "reuters3k.csv",
        "reuters3k.parquet",
        "reuters3k_dict.parquet",
    ] {
        let summary = sandbox.add(&[&format!("dirty/containers/{name}")], 0);
        assert_eq!(summary["added"], 3000, "{name}");
        let contents = sandbox.contents();
        assert_eq!(
            &contents,
            expected.get_or_insert_with(|| contents.clone()),
            "{name}"
        );
        sandbox.forget();
    }
}

/// Folders of texts whose encoding can be recognized, and what it is taken for: itself, or an encoding that has the
/// same characters at these bytes.
const KNOWN: [(&str, &[&str]); 19] = [
    ("ascii", &["UTF-8"]),
    ("utf-8", &["UTF-8"]),
    ("UTF-16", &["UTF-16LE", "UTF-16BE"]),
    ("UTF-32", &["UTF-32LE", "UTF-32BE"]),
    ("Big5", &["Big5"]),
    ("CP932", &["Shift_JIS"]),
    ("CP949", &["EUC-KR"]),
    ("EUC-JP", &["EUC-JP"]),
    ("EUC-KR", &["EUC-KR"]),
    ("GB2312", &["GBK"]),
    ("SHIFT_JIS", &["Shift_JIS"]),
    ("IBM866", &["IBM866"]),
    ("windows-1251-russian", &["windows-1251"]),
    ("KOI8-R", &["KOI8-R", "KOI8-U"]),
    ("TIS-620", &["windows-874"]),
    ("utf-8-sig", &["UTF-8"]),
    ("windows-1251-bulgarian", &["windows-1251"]),
    ("windows-1255-hebrew", &["windows-1255"]),
    ("iso-2022-jp", &["ISO-2022-JP"]),
];

#[test]
fn encodings_that_can_be_known_are() {
    let Some(mut sandbox) = dirty() else {
        return;
    };
    for (folder, names) in KNOWN {
        let path = format!("dirty/encodings/{folder}");
        assert!(sandbox.path(&path).is_dir(), "{folder}");
        let summary = sandbox.add(&[&path, "--format", "text"], 0);
        let encodings = summary["encodings"].as_object().unwrap();
        let found: u64 = encodings
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        let right: u64 = names
            .iter()
            .filter_map(|&name| encodings.get(name)?.as_u64())
            .sum();
        assert!(right * 10 >= found * 9, "{folder}: {encodings:?}");
        sandbox.forget();
    }
}
