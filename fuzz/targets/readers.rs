//! Files of records: they are read without a defect, and records that are wanted as they are give
//! the same documents when they are read again.
#![no_main]
#![allow(dead_code, reason = "a part of the command line is compiled here")]

#[path = "../../bin/document.rs"]
mod document;
#[path = "../../bin/ingest/mod.rs"]
mod ingest;
#[path = "../../bin/inputs.rs"]
mod inputs;
#[path = "../../bin/outbox.rs"]
mod outbox;
#[path = "../../bin/parse.rs"]
mod parse;
#[path = "../../bin/skip.rs"]
mod skip;

/// What the readers take from the thread that runs them.
mod reader {
    /// Small, so that inputs are several batches.
    pub(crate) const BATCH_BYTES: u64 = 64;
}

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::sync_channel;

use clap::Parser;
use document::{Document, Item};
use ingest::format::Format;
use ingest::records::Records;
use ingest::source::Source;
use inputs::Inputs;
use libfuzzer_sys::fuzz_target;
use outbox::Outbox;
use tempfile::TempDir;

/// As many batches as an input can have.
const BATCHES: usize = 1 << 12;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    inputs: Inputs,
}

fn inputs(options: &[&str], verbatim: bool) -> Inputs {
    let arguments = ["readers"].iter().chain(options);
    Inputs {
        verbatim,
        ..Arguments::parse_from(arguments).inputs
    }
}

/// The documents in a file, its header, and whether anything was wrong with it.
fn read(path: &Path, format: Format, inputs: &Inputs) -> (Vec<Document>, Vec<u8>, bool) {
    let source = Source::File(path.to_owned());
    let (sender, batches) = sync_channel(BATCHES);
    let records = Records {
        source: &source,
        key: "file",
        inputs,
    };
    records.read(format, &Outbox::new(sender, false)).unwrap();
    let (mut documents, mut header, mut is_whole) = (Vec::new(), Vec::new(), true);
    for item in batches.into_iter().flat_map(|batch| batch.unwrap().items) {
        match item {
            Item::Document(document) => documents.push(document),
            Item::Opened(opened) => header = opened.header,
            Item::Skipped(skipped) => {
                assert!(!skipped.message().contains('\n'), "{}", skipped.message());
                is_whole = false;
            }
            Item::Unchanged => {}
        }
    }
    (documents, header, is_whole)
}

/// A key that the record has itself.
fn own_key(document: &Document) -> Option<&str> {
    Some(&*document.key).filter(|key| !key.starts_with("file#"))
}

fn folder() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    folder.path().to_owned()
}

/// Reads the documents of a file again, from their records as they are.
fn read_again(format: Format, first: &[Document], header: &[u8], inputs: &Inputs) {
    let path = folder().join("again");
    let mut bytes = Vec::new();
    let records = first.iter().map(|document| &document.verbatim[..]);
    for record in [header].into_iter().chain(records) {
        if !bytes.is_empty() && !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(record);
    }
    fs::write(&path, bytes).unwrap();
    let (again, _, _) = read(&path, format, inputs);
    let all = |documents: &[Document]| -> Vec<(Option<String>, String)> {
        let documents = documents.iter();
        let pairs = documents.map(|d| (own_key(d).map(str::to_owned), d.text.clone()));
        pairs.collect()
    };
    assert_eq!(all(first), all(&again));
}

// The first byte chooses the format and how it is read.
fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else {
        return;
    };
    let path = folder().join("file");
    fs::write(&path, bytes).unwrap();
    let format = match how % 7 {
        0 => Format::Jsonl,
        1 => Format::Csv,
        2 => Format::Tsv,
        3 => Format::Warc,
        4 => Format::Html,
        5 => Format::Parquet,
        _ => Format::Shingles,
    };
    let fields: &[&str] = match how / 7 % 4 {
        0 => &[],
        1 => &["--text-field", "a.b", "--id-field", "a.c"],
        2 if format == Format::Warc => &["--encoding", "utf-16le"],
        2 => &["--text-field", "2", "--id-field", "1"],
        _ => &["--encoding", "gbk"],
    };
    let inputs = inputs(fields, how / 28 % 2 == 1);
    if format == Format::Html {
        let mut bytes = bytes;
        let read = ingest::document::read(&mut bytes, format, &inputs);
        drop(read.unwrap());
        return;
    }
    let (documents, header, is_whole) = read(&path, format, &inputs);
    for document in &documents {
        assert!(!document.key.is_empty());
    }
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    // Where the first line of a table is passed over, the next one may be taken for a header.
    let is_table = format == Format::Csv || format == Format::Tsv;
    let is_alike = is_whole || !is_table || !header.is_empty();
    if format != Format::Parquet && inputs.verbatim && inputs.encoding.is_none() && is_utf8 && is_alike {
        read_again(format, &documents, &header, &inputs);
    }
});
