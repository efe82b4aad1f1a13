//! Files of records.
//!
//! They are read without a panic, and verbatim records give the same documents when they are read again.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dedupdb_corpus::{Encoding, Format, Item, Options, Repeats, Source, SourcedText};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// The documents of a file, its header, and whether all of it could be read.
fn read(path: &Path, format: Format, options: &Options) -> (Vec<SourcedText>, Vec<u8>, bool) {
    let source = Source::path(path).key("file").format(format);
    let batches = options.batches([source]).unwrap();
    let (mut documents, mut header, mut is_whole) = (Vec::new(), Vec::new(), true);
    for item in batches.into_iter().flat_map(|batch| batch.unwrap().items) {
        match item {
            Item::Document(document) => documents.push(document),
            Item::Opened(opened) => header = opened.header,
            Item::Skipped(skipped) => {
                assert!(!skipped.message().contains('\n'), "{}", skipped.message());
                is_whole = false;
            }
            _ => unreachable!("nothing is stored"),
        }
    }
    (documents, header, is_whole)
}

/// The key that the record itself has, if any.
fn own_key(document: &SourcedText) -> Option<&str> {
    Some(&*document.key).filter(|key| !key.starts_with("file#"))
}

fn folder() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    folder.path().to_owned()
}

/// Reads the documents of a file again, from their verbatim records.
fn read_again(format: Format, first: &[SourcedText], header: &[u8], options: &Options) {
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
    let (again, _, _) = read(&path, format, options);
    let all = |documents: &[SourcedText]| -> Vec<(Option<String>, String)> {
        let documents = documents.iter();
        let pairs = documents.map(|d| (own_key(d).map(str::to_owned), d.text().to_owned()));
        pairs.collect()
    };
    assert_eq!(all(first), all(&again));
}

// The first byte selects the format and the options.
fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else {
        return;
    };
    let path = folder().join("file");
    fs::write(&path, bytes).unwrap();
    let format = match how % 10 {
        0 => Format::Jsonl,
        1 => Format::Csv,
        2 => Format::Tsv,
        3 => Format::Warc,
        4 => Format::Html,
        5 => Format::Parquet,
        6 => Format::Shingles,
        7 => Format::Eml,
        8 => Format::Mbox,
        _ => Format::Json,
    };
    let (verbatim, options) = (how / 40 % 2 == 1, Options::new().repeats(Repeats::Allow));
    let options = options.verbatim(verbatim);
    let encoding = |name: &str| name.parse::<Encoding>().unwrap();
    let (options, is_given) = match how / 10 % 4 {
        0 => (options, false),
        1 => (options.text_field("a.b").id_field("a.c"), false),
        2 if format == Format::Warc => (options.encoding(encoding("utf-16le")), true),
        2 => (options.text_field("2").id_field("1"), false),
        _ => (options.encoding(encoding("gbk")), true),
    };
    let (documents, header, is_whole) = read(&path, format, &options);
    for document in &documents {
        assert!(!document.key.is_empty());
    }
    // The others are one document, or their records need what is around them.
    let is_lines = !matches!(
        format,
        Format::Html | Format::Parquet | Format::Eml | Format::Mbox | Format::Json
    );
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    // If the first line of a table is skipped, the next one may be taken for a header.
    let is_table = format == Format::Csv || format == Format::Tsv;
    let is_alike = is_whole || !is_table || !header.is_empty();
    if is_lines && verbatim && !is_given && is_utf8 && is_alike {
        read_again(format, &documents, &header, &options);
    }
});
