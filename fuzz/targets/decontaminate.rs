//! A benchmark and documents of any bytes.
//!
//! Messages are lines. The output has the texts of the documents without what is cut of them, which has no item.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dedupdb::sketching::Shingler;
use dedupdb_corpus::decontaminate::{Decontaminate, ItemSearch, Overlap, Rule};
use dedupdb_corpus::dedup::{DedupEvent, Error};
use dedupdb_corpus::{Item, Options, Repeats, Source};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// The number of parts that are cut from a text at most.
const MOST: usize = 10;

fn folder() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    folder.path().to_owned()
}

/// The texts of a file or folder, and whether nothing was skipped.
fn read(path: &Path, field: Option<&str>) -> (Vec<String>, bool) {
    let mut options = Options::new().repeats(Repeats::Allow);
    if let Some(field) = field {
        options = options.text_field(field);
    }
    let (mut texts, mut is_whole) = (Vec::new(), true);
    let batches = options.batches([Source::path(path)]).unwrap();
    for item in batches.into_iter().flat_map(|batch| batch.unwrap().items) {
        match item {
            Item::Document(document) => texts.push(document.into_text()),
            Item::Skipped(_) => is_whole = false,
            _ => {}
        }
    }
    (texts, is_whole)
}

/// Whether `rest` is `text` without some parts, at most [`MOST`].
fn is_without(text: &[u8], rest: &[u8]) -> bool {
    // For each number of bytes of the rest: the fewest parts that are left out, if the last byte of the text is kept
    // or left out.
    const NEVER: usize = usize::MAX / 2;
    let mut kept = vec![NEVER; rest.len() + 1];
    let mut out = kept.clone();
    kept[0] = 0;
    for byte in text {
        for at in (0..=rest.len()).rev() {
            let before = kept[at];
            kept[at] = match at.checked_sub(1) {
                Some(last) if rest[last] == *byte => kept[last].min(out[last]),
                _ => NEVER,
            };
            out[at] = out[at].min(before.saturating_add(1));
        }
    }
    kept[rest.len()].min(out[rest.len()]) <= MOST
}

/// Checks what is said of an item that a text has.
fn check_overlap(text: &str, overlap: &Overlap, words: u32) {
    assert_eq!(overlap.text, text[overlap.bytes.clone()]);
    let is_share = |share: f64| share > 0.0 && share <= 1.0;
    assert!(
        is_share(overlap.coverage) && is_share(overlap.share),
        "{overlap:?}"
    );
    assert!(overlap.item_words.start < overlap.item_words.end);
    assert!(overlap.item_words.end <= words && overlap.longest <= words);
}

/// The texts without the items, or all that have none; and the number of items that were found.
fn expected(search: &ItemSearch, texts: &[String], margin: Option<usize>) -> (Vec<String>, usize) {
    let (mut left, mut count) = (Vec::new(), 0);
    for text in texts {
        let hits = search.find(text).unwrap();
        count += hits.len();
        for (item, overlap) in &hits {
            check_overlap(text, overlap, search.words()[*item as usize]);
        }
        if hits.is_empty() {
            left.push(text.clone());
        } else if let Some(margin) = margin
            && let Some(cut) = search.cut(text, &hits, margin).unwrap()
        {
            assert!(search.find(&cut).unwrap().is_empty());
            assert!(cut.len() < text.len());
            assert!(
                is_without(text.as_bytes(), cut.as_bytes()),
                "{text:?} {cut:?}"
            );
            left.push(cut);
        }
    }
    (left, count)
}

/// The search for the items of the file, each of which is found in itself.
fn search(benchmark: &Path, fields: &[&str]) -> ItemSearch {
    let is_text = benchmark.extension().is_some_and(|it| it == "txt");
    let rounds = match fields {
        [] => vec![None],
        _ if is_text => vec![None],
        fields => fields.iter().copied().map(Some).collect(),
    };
    let items: Vec<String> = rounds
        .into_iter()
        .flat_map(|field| read(benchmark, field).0)
        .collect();
    let search = ItemSearch::new(&items, &Rule::new()).unwrap();
    let unchecked = search.unchecked();
    let shingler = Shingler::new(Rule::SHINGLING, true, true).unwrap();
    for (number, item) in (0..).zip(&items) {
        let found = search
            .find(&format!("before it, {item}, and behind it"))
            .unwrap();
        let own = found.iter().find(|(other, _)| *other == number);
        assert_eq!(own.is_none(), unchecked.contains(&number), "{item:?}");
        if let Some((_, overlap)) = own {
            // Of an item that repeats itself, a part of the text may have all shingles, but not as often.
            let mut shingles = shingler.in_order(item).unwrap();
            let count = shingles.len();
            shingles.sort_unstable();
            shingles.dedup();
            assert!(
                overlap.coverage == 1.0 || shingles.len() < count,
                "{item:?}"
            );
        }
    }
    search
}

// The first byte selects the formats, the second the fields and what is done. The rest is a benchmark, and after a NUL the
// documents.
fuzz_target!(|bytes: &[u8]| {
    let [formats, how, bytes @ ..] = bytes else {
        return;
    };
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (items, documents) = (parts.next().unwrap_or(&[]), parts.next().unwrap_or(&[]));
    let format = |number: u8| ["jsonl", "csv", "txt", "tsv"][usize::from(number % 4)];
    let benchmark = folder().join(format!("items.{}", format(*formats)));
    let input = folder().join(format!("documents.{}", format(formats / 4)));
    let output = folder().join(format!("output.{}", format(formats / 4)));
    let _ = fs::remove_file(&output);
    let _ = fs::remove_dir_all(&output);
    fs::write(&benchmark, items).unwrap();
    fs::write(&input, documents).unwrap();
    let fields: &[&str] = [&[][..], &["q"], &["q", "a.b"]][usize::from(how % 3)];
    let margin = [None, Some(0), Some(3), Some(usize::MAX)][usize::from(how / 3 % 4)];
    let mut run = Decontaminate::new([&input], [&benchmark]).output(&output);
    run = run
        .fields(fields.iter().copied())
        .skip_unreadable(how / 12 % 2 == 1);
    if let Some(margin) = margin {
        run = run.cut(margin);
    }
    let mut hits = 0;
    let done = run.run(|event| match event {
        DedupEvent::Skipped(skipped) => {
            assert!(!skipped.message().contains('\n'), "{}", skipped.message());
        }
        DedupEvent::Hit(_) => hits += 1,
        _ => {}
    });
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            assert!(!matches!(error, Error::Defect { .. }), "{error}");
            return;
        }
    };
    assert!(done.kept >= done.cut && done.hit >= done.cut);
    // Each string of a list is an item.
    if items.contains(&b'[') {
        return;
    }
    let search = search(&benchmark, fields);
    let (texts, is_whole) = read(&input, None);
    let (left, count) = expected(&search, &texts, margin);
    assert_eq!((done.kept, hits), (left.len() as u64, count));
    let is_utf8 = std::str::from_utf8(documents).is_ok();
    if is_whole && is_utf8 && done.is_written {
        assert_eq!(read(&output, None).0, left);
    }
});
