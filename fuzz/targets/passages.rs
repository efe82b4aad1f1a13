//! Passages that texts share, beside a search through the shingles of the plain implementation in the tests.
#![no_main]

#[allow(dead_code, reason = "terms have no order, so they make no passages")]
#[path = "../../tests/it/text/reference.rs"]
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use dedupdb::overlap::{PassageQuery, Passages};
use dedupdb::sketching::Shingling;
use dedupdb::{Input, Schema, Store};
use libfuzzer_sys::fuzz_target;

/// Each passage as its key and its first and last token.
type Rows = BTreeSet<(String, u32, u32)>;

/// The shingles of a text, in its order, and the number of its tokens.
struct Read {
    shingles: Vec<u32>,
    tokens: usize,
}

fn read(schema: &Schema, text: &str) -> Read {
    let folded = || reference::folded(text, schema.lowercase(), schema.nfkc());
    let tokens: Vec<Vec<u8>> = match schema.shingling() {
        Shingling::Word(_) => bytes_of(reference::words(&folded())),
        Shingling::Code(_) => bytes_of(reference::code(&folded())),
        Shingling::Char(_) => bytes_of(reference::chars(&folded())),
        Shingling::CharNoSpace(_) => bytes_of(reference::chars_without_space(&folded())),
        _ => text.bytes().map(|byte| vec![byte]).collect(),
    };
    let k = usize::from(schema.shingling().k());
    let windows = tokens.windows(k.min(tokens.len()).max(1));
    Read {
        shingles: windows
            .flat_map(|window| reference::shingles(window, k))
            .collect(),
        tokens: tokens.len(),
    }
}

fn bytes_of(tokens: Vec<String>) -> Vec<Vec<u8>> {
    tokens.into_iter().map(String::into_bytes).collect()
}

/// The runs of at least `least` tokens whose shingles a text has, without the ignored ones, for each of `texts`.
fn expected(
    schema: &Schema,
    texts: &BTreeMap<String, Read>,
    asked: &Read,
    ignored: &[u32],
    least: u32,
) -> Rows {
    let k = usize::from(schema.shingling().k());
    let mut rows = Rows::new();
    for (key, stored) in texts {
        let mut stored: BTreeSet<u32> = stored.shingles.iter().copied().collect();
        stored.retain(|shingle| !ignored.contains(shingle));
        let mut start = 0;
        let shingles = &asked.shingles;
        for run in shingles.chunk_by(|a, b| stored.contains(a) == stored.contains(b)) {
            let end = asked.tokens.min(start + run.len() + k - 1);
            if stored.contains(&run[0]) && end - start >= least as usize {
                rows.insert((key.clone(), start as u32, end as u32));
            }
            start += run.len();
        }
    }
    rows
}

/// Whether two texts have a run of `least` tokens in the same order, without ignored shingles.
fn have_run(schema: &Schema, stored: &Read, asked: &Read, ignored: &[u32], least: u32) -> bool {
    let k = usize::from(schema.shingling().k());
    let long = least as usize + 1 - k;
    if stored.tokens.min(asked.tokens) < least as usize {
        return false;
    }
    let is_free = |run: &&[u32]| !run.iter().any(|shingle| ignored.contains(shingle));
    let runs: BTreeSet<&[u32]> = stored.shingles.windows(long).filter(is_free).collect();
    asked.shingles.windows(long).any(|run| runs.contains(run))
}

/// The passages of the documents that were compared, which are all with a run of `least` tokens of the text. Others may have all shingles of
/// a run, but not in its order.
fn compared(
    schema: &Schema,
    texts: &BTreeMap<String, Read>,
    asked: &Read,
    ignored: &[u32],
    least: u32,
    found: &Rows,
) -> Rows {
    let mut rows = expected(schema, texts, asked, ignored, least);
    rows.retain(|(key, ..)| {
        found.iter().any(|row| row.0 == *key)
            || have_run(schema, &texts[key], asked, ignored, least)
    });
    rows
}

fn rows(found: &Passages) -> Rows {
    let rows = found.passages.iter();
    let rows: Rows = rows
        .map(|it| (it.key.clone(), it.tokens.start, it.tokens.end))
        .collect();
    assert_eq!(rows.len(), found.passages.len());
    rows
}

/// The facts about each passage beside its place in the text.
fn check(
    schema: &Schema,
    texts: &BTreeMap<String, Read>,
    text: &str,
    asked: &Read,
    found: &Passages,
) {
    let k = usize::from(schema.shingling().k());
    let step = schema.fingerprint_step().unwrap() as usize;
    assert_eq!(found.tokens as usize, asked.tokens);
    assert!(found.common.is_empty());
    let mut covered = BTreeSet::new();
    for passage in &found.passages {
        let run = passage.tokens.start as usize..passage.tokens.end as usize;
        covered.extend(run.clone());
        assert_eq!(passage.matched as usize, run.len());
        assert!(!passage.is_common);
        let part = &text[passage.bytes.clone()];
        assert_eq!(
            text[..passage.bytes.start].matches('\n').count() as u64 + 1,
            passage.line
        );
        if text.is_ascii() && !matches!(schema.shingling(), Shingling::Char(_)) {
            assert_eq!(read(schema, part).tokens, run.len());
        }
        let shingles =
            &asked.shingles[run.start..(run.end + 1).saturating_sub(k).max(run.start + 1)];
        let has_all = |it: &&Read| shingles.iter().all(|shingle| it.shingles.contains(shingle));
        let in_order = |it: &&Read| it.shingles.windows(shingles.len()).any(|it| it == shingles);
        let least = texts.values().filter(in_order).count().max(1) as u64;
        let most = texts.values().filter(has_all).count() as u64;
        assert!((least..=most).contains(&passage.documents));
        // Where it begins in the document, the fingerprints of that are those of the text.
        if let Some(place) = passage.place {
            let place = place as usize;
            let mut numbers = (place..place + shingles.len())
                .filter(|it| it % step == 0)
                .peekable();
            assert!(numbers.peek().is_some());
            for number in numbers {
                let stored = texts[&passage.key].shingles.get(number);
                assert_eq!(stored, Some(&shingles[number - place]));
            }
        }
    }
    assert_eq!(found.covered as usize, covered.len());
}

/// Asks for the passages of a text in every way.
fn ask(store: &Store, texts: &BTreeMap<String, Read>, text: &str, least: u32, gap: u32) {
    let schema = &*store.schema();
    let asked = &read(schema, text);
    let k = u32::from(schema.shingling().k());
    let query = PassageQuery::text(text);
    let found = store.passages(&query).unwrap();
    let all = compared(schema, texts, asked, &[], schema.passage(), &rows(&found));
    assert_eq!(rows(&found), all, "{schema:?} {text:?}");
    check(schema, texts, text, asked, &found);
    let longest = store.passages(&query.limit(1)).unwrap();
    assert_eq!(longest.passages, found.passages[..all.len().min(1)]);
    // Shorter ones may be missed.
    let some = rows(&store.passages(&query.at_least(least)).unwrap());
    let of_length = expected(schema, texts, asked, &[], least);
    assert!(some.is_subset(&of_length));
    if least >= schema.passage() {
        assert_eq!(some, compared(schema, texts, asked, &[], least, &some));
    } else {
        assert!(all.is_subset(&some));
    }
    // A part of the text is ignored.
    let half = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at));
    let ignored = &store
        .schema()
        .shingler()
        .unwrap()
        .shingles(&text[half.unwrap()..])
        .unwrap();
    let found = rows(&store.passages(&query.ignore(ignored)).unwrap());
    let others = compared(
        schema,
        texts,
        asked,
        ignored.as_slice(),
        schema.passage(),
        &found,
    );
    assert_eq!(found, others);
    // Joined passages have those that are not, and begin and end in the document.
    let joined = store.passages(&query.gap(gap)).unwrap();
    let is_in = |row: &(String, u32, u32)| {
        let mut all = joined.passages.iter();
        all.any(|it| it.key == row.0 && it.tokens.start <= row.1 && row.2 <= it.tokens.end)
    };
    assert!(all.iter().all(is_in));
    let held = expected(schema, texts, asked, &[], k.min(asked.tokens as u32));
    for passage in &joined.passages {
        let ends = held.iter().filter(|row| row.0 == passage.key);
        assert!(ends.clone().any(|row| row.1 == passage.tokens.start));
        assert!(ends.clone().any(|row| row.2 == passage.tokens.end));
    }
}

// The first bytes select the shingling, the length of passages, that of a query, and a gap. The rest is texts, with a NUL
// between them. All of them together are a text, too.
fuzz_target!(|bytes: &[u8]| {
    let [kind, longer, other, gap, text @ ..] = bytes else {
        return;
    };
    assert!(reference::applies(), "this toolchain has another Unicode");
    let text = String::from_utf8_lossy(text);
    let k = kind / 8 % 8 + 3;
    let shingling = match kind % 8 {
        0..3 => Shingling::Word(k),
        3 => Shingling::Code(k),
        4 => Shingling::Char(k),
        5 => Shingling::CharNoSpace(k),
        _ => Shingling::Byte(k),
    };
    let passage = u32::from(k) + u32::from(longer % 32);
    let schema = Schema::builder().shingling(shingling).passage(passage);
    let schema = schema.permutations(4).bands(2, 2).build().unwrap();
    let mut texts: Vec<String> = text.split('\0').map(str::to_owned).take(4).collect();
    texts.push(texts.join(" "));
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), &schema).unwrap();
    let inputs = texts.iter().enumerate();
    let inputs = inputs.map(|(key, text)| Input::new(key.to_string(), text.as_str()));
    let mut writer = store.writer().unwrap();
    writer.add_all(inputs.collect()).unwrap();
    writer.commit().unwrap();
    let stored = texts.iter().enumerate();
    let stored = stored.map(|(key, text)| (key.to_string(), read(&schema, text)));
    let stored: BTreeMap<String, Read> = stored.collect();
    texts.reverse();
    texts.push(texts.join("\n"));
    for (number, text) in texts.iter().enumerate() {
        ask(
            &store,
            &stored,
            text,
            u32::from(k) + u32::from(other % 64),
            u32::from(*gap),
        );
        // A stored text is a passage of itself as a whole, if it is long enough.
        let found = rows(&store.passages(&PassageQuery::text(text)).unwrap());
        let tokens = read(&schema, text).tokens as u32;
        if let Some(key) = (texts.len() - 2).checked_sub(number) {
            let own = (key.to_string(), 0, tokens);
            assert_eq!(found.contains(&own), tokens >= passage);
        }
    }
});
