//! Files made to break readers. Each costs only what is wrong in it, in bounded memory, and the message is one line
//! that names the place.
#![cfg(unix)]

use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use serde_json::json;

use crate::compressed::{gz, zst};
use crate::parquet::parquet;
use crate::sandbox::{Ran, Sandbox};

/// Runs `add` with a bound on its address space, without notes.
fn add(sandbox: &Sandbox, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let line = format!("ulimit -v 2000000; exec '{program}' --quiet --threads 2 add {arguments}");
    Ran::of(sandbox.shell(&line).output().unwrap())
}

/// Adds a file with something wrong in it. Exactly one line must report it, with `message` in it.
fn refused(name: &str, bytes: impl AsRef<[u8]>, message: &str) {
    let sandbox = Sandbox::new();
    sandbox.write(name, bytes);
    let ran = add(&sandbox, name).expect(2);
    let start = format!("dedupdb: {name}");
    let is_alone = ran.stderr.starts_with(&start) && ran.stderr.trim_end().lines().count() == 1;
    assert!(
        is_alone && ran.stderr.contains(message),
        "{name}: {}",
        ran.stderr
    );
}

/// A page of one tag with very many attributes.
fn page() -> String {
    format!("<p {}>hostile words</p>", "a=\"\" ".repeat(10_000))
}

#[test]
fn a_page_of_many_attributes_is_read_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write("page.html", page());
    add(&sandbox, "page.html").expect(0);
    let record = |number: usize| {
        let body = if number == 50 {
            page()
        } else {
            format!("<p>page {number}</p>")
        };
        let length = body.len();
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a/{number}\r\n\
             Content-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}\r\n\r\n"
        )
    };
    sandbox.write("pages.warc", (0..100).map(record).collect::<String>());
    add(&sandbox, "pages.warc").expect(0);
    assert_eq!(sandbox.keys().len(), 101);
    let ran = sandbox
        .run_with(&["query", "-"], b"hostile words")
        .expect(0);
    assert_eq!(ran.lines().len(), 2, "{}", ran.stdout);
}

#[test]
fn a_quote_that_is_not_closed_costs_the_rest() {
    let sandbox = Sandbox::new();
    let rows = (3..3000).map(|row| format!("{row},row {row}\n"));
    let rows = "id,text\n1,a b\n2,\"cut\n".to_owned() + &rows.collect::<String>();
    sandbox.write("rows.csv", rows);
    let message =
        "rows.csv#2: the quote that opens on line 3 is not closed before the end of the file";
    let ran = add(&sandbox, "rows.csv").expect(2);
    assert_eq!(ran.stderr, format!("dedupdb: {message}\n"));
    assert_eq!(sandbox.keys(), ["1"]);
    refused(
        "cut.csv",
        "id,text\n1,a b\n2,\"cut",
        "cut.csv#2: the quote that opens on line 3",
    );
}

#[test]
fn surrogates_alone_are_replaced_and_counted_but_not_in_ids() {
    let sandbox = Sandbox::new();
    let records =
        "{\"id\":\"a\",\"text\":\"x \\ud83d y\"}\n{\"id\":\"\\ude00k\",\"text\":\"plain words\"}\n";
    sandbox.write("a.jsonl", records);
    let summary = sandbox.add(&["a.jsonl"], 2);
    assert_eq!(
        (&summary["added"], &summary["replaced"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(sandbox.keys(), ["a"]);
}

const SCHEMA: &str = "message m { optional binary id (UTF8); required binary text (UTF8); }";

/// A file with the same text in `rows` rows.
fn rows(text: &str, rows: usize, coding: Compression) -> Vec<u8> {
    parquet(SCHEMA, &vec![(None, text.to_owned()); rows], rows, coding)
}

#[test]
fn one_value_of_many_rows_may_not_grow_without_end() {
    let large = rows(
        &"word ".repeat(200_000),
        100,
        Compression::ZSTD(ZstdLevel::default()),
    );
    assert!(large.len() < 100_000, "{}", large.len());
    refused("rows.parquet", large, "grows to more than 1000 times");
}

/// The file with the number of another compression in its footer.
fn coded(number: u8) -> Vec<u8> {
    let mut file = rows("one two three", 3, Compression::GZIP(GzipLevel::default()));
    let text = b"\x04text\x15\x04";
    let at = file.windows(text.len()).rposition(|window| window == text);
    // The sign is in the lowest bit.
    file[at.unwrap() + text.len() - 1] = number << 1;
    file
}

#[test]
fn what_is_not_read_of_parquet_is_named() {
    refused(
        "b.parquet",
        coded(4),
        "compressed with Brotli, which is not read",
    );
    refused(
        "l.parquet",
        coded(3),
        "compressed with LZO, which is not read",
    );
    let encrypted = [b"PARE", &[0; 100][..], &[50, 0, 0, 0], b"PARE"].concat();
    refused("e.parquet", encrypted, "it is encrypted, which is not read");
}

#[test]
fn damaged_files_are_named_in_one_line() {
    let sound = rows("one two three", 3, Compression::SNAPPY);
    let half = &sound[..sound.len() / 2];
    let garbage: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let claim = |length: u32| [b"PAR1", &garbage[..100], &length.to_le_bytes(), b"PAR1"].concat();
    for bytes in [&[][..], b"PAR1", half, &claim(100), &claim(u32::MAX)] {
        refused("a.parquet", bytes, "damaged, or cut short");
    }
    let lines = gz(&b"{\"id\":\"a\",\"text\":\"one two\"}\n".repeat(1000));
    let (cut, size) = (&lines[..lines.len() - 20], &lines[..lines.len() - 4]);
    refused("a.jsonl.gz", cut, "the compressed data is cut short");
    let size = [size, &[0xff, 0xff, 0xff, 0x7f]].concat();
    refused("a.jsonl.gz", size, "the compressed data is damaged");
    refused(
        "a.jsonl.gz",
        [&[0x1f, 0x8b], &garbage[..]].concat(),
        "the compressed data is damaged",
    );
    let garbage = [&[0x28, 0xb5, 0x2f, 0xfd], &garbage[..]].concat();
    refused("a.jsonl.zst", garbage, "the compressed data is damaged");
    let lines = zst(&b"{\"id\":\"a\",\"text\":\"one two\"}\n".repeat(1000));
    refused(
        "a.jsonl.zst",
        &lines[..lines.len() - 3],
        "the compressed data is cut short",
    );
}

/// A Parquet file that has only a schema. Its elements have these numbers of children.
fn schema(children: &[u64]) -> Vec<u8> {
    let variable = |number: u64| -> Vec<u8> {
        let sevens = (0..).map(|place| number >> (7 * place)).take(10);
        let last = (64 - (number | 1).leading_zeros()).div_ceil(7) as usize;
        let bytes = sevens.take(last).enumerate();
        bytes
            .map(|(place, seven)| (seven & 0x7f) as u8 | if place + 1 < last { 0x80 } else { 0 })
            .collect()
    };
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    footer.extend(variable(children.len() as u64));
    for &children in children {
        // Repetition, name and number of children; a signed number is doubled.
        footer.extend([0x35, 0, 0x18, 1, b'a', 0x15]);
        footer.extend(variable(children << 1));
        footer.push(0);
    }
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", &footer[..], &length, b"PAR1"].concat()
}

#[test]
fn schemas_that_claim_what_they_do_not_have_are_refused() {
    let nested = [vec![1; 100_000], vec![0]].concat();
    refused("a.parquet", schema(&nested), "64 groups within groups");
    for claimed in [2, 1 << 20, i32::MAX as u64] {
        let message = "its schema cannot be true";
        refused("a.parquet", schema(&[claimed, 0]), message);
        refused("a.parquet", schema(&[1, claimed, 0]), message);
    }
    let wide = [vec![400_000], vec![0; 400_000]].concat();
    refused("a.parquet", schema(&wide), "262,144 columns");
}

#[test]
fn archives_that_claim_any_length_are_named_in_one_line() {
    for (length, message) in [
        ("9223372036854775808", "its last record is cut short"),
        ("18446744073709551615", "its last record is cut short"),
        ("99999999999999999999", "its header has no Content-Length"),
        ("-1", "its header has no Content-Length"),
    ] {
        let head = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\n";
        let record = format!("{head}Content-Length: {length}\r\n\r\nsome words\r\n\r\n");
        refused("a.warc", record, message);
    }
    let endless = format!("WARC/1.0\r\nX: {}", "y".repeat(2 << 20));
    refused(
        "a.warc",
        endless,
        "its header has no Content-Length, or has no end",
    );
}

#[test]
fn nesting_blanks_and_marks_end_well() {
    refused("a.jsonl", "[".repeat(100_000), "a.jsonl:1: not JSON");
    refused(
        "a.jsonl",
        "{\"text\":".repeat(100_000),
        "a.jsonl:1: not JSON",
    );
    refused("a.jsonl", [0; 1000], "a.jsonl:1: not JSON");
    refused(
        "a.jsonl",
        b"\xff\xfe{\"text\":\"a\"}\n",
        "a.jsonl:1: not JSON",
    );
    let names: Vec<String> = (0..1_000_000).map(|name| name.to_string()).collect();
    refused("a.csv", names.join(","), "it has no column \"text\"");
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", "\n".repeat(1_000_000));
    sandbox.write("b.csv", "id,text\n".to_owned() + &"\r\n".repeat(1_000_000));
    sandbox.write("c.csv", "\u{feff}\"id\",\"text\"\r\n1,a b\r\n");
    add(&sandbox, "a.jsonl b.csv c.csv").expect(0);
    assert_eq!(sandbox.keys(), ["1"]);
}

/// Stacks of threads that need more address space than there is. What is left of it suffices for the rest.
#[test]
fn where_the_system_allows_few_threads_that_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "some words");
    let program = env!("CARGO_BIN_EXE_dedupdb");
    let stacks = "RUST_MIN_STACK=100000000";
    let line = format!("ulimit -v 2000000; {stacks} exec '{program}' --threads 256 add a.txt");
    // How much is left depends on where the system places the stacks. Sometimes it is nothing.
    let ran = (0..20)
        .map(|_| Ran::of(sandbox.shell(&line).output().unwrap()))
        .find(|ran| !ran.stderr.contains("memory allocation of"));
    let ran = ran.expect("some memory is left").expect(0);
    assert!(
        ran.stderr.contains("the system allows no further thread"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("panic"), "{}", ran.stderr);
}
