//! Passages that texts share, beside a search through all stored texts.

use dedupdb::overlap::{PassageQuery, Passages};
use dedupdb::sketching::Shingling;
use dedupdb::upkeep::{Rebuild, Reindex};
use dedupdb::{Error, Input, Options, Progress, Query, Schema, Store};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn schema(shingling: Shingling, passage: u32) -> Schema {
    let schema = Schema::builder().shingling(shingling).passage(passage);
    schema.permutations(16).bands(4, 4).build().unwrap()
}

/// Text of some words, which no other start has.
fn words(start: u32, count: u32) -> String {
    let words: Vec<String> = (start..start + count).map(|n| format!("w{n}")).collect();
    words.join(" ")
}

/// Each passage as its key, first and last token, and the number of its tokens.
type PassageRows = BTreeSet<(String, u32, u32)>;

fn rows(found: &Passages) -> PassageRows {
    let rows = found.passages.iter();
    rows.map(|passage| {
        (
            passage.key.clone(),
            passage.tokens.start,
            passage.tokens.end,
        )
    })
    .collect()
}

/// The runs of at least `least` tokens of `text` whose shingles a text has, for each of `texts`.
fn expected(
    schema: &Schema,
    texts: &BTreeMap<String, String>,
    text: &str,
    least: usize,
    tokens: impl Fn(&str) -> Vec<String>,
) -> PassageRows {
    let k = usize::from(schema.shingling().k());
    let shingles = |text: &str| -> Vec<Vec<String>> {
        let tokens = tokens(text);
        match tokens.len() {
            0 => Vec::new(),
            short if short < k => vec![tokens],
            _ => tokens.windows(k).map(<[String]>::to_vec).collect(),
        }
    };
    let (asked, count) = (shingles(text), tokens(text).len());
    let mut rows = PassageRows::new();
    for (key, stored) in texts {
        let stored: BTreeSet<Vec<String>> = shingles(stored).into_iter().collect();
        let mut start = 0;
        for held in asked.chunk_by(|a, b| stored.contains(a) == stored.contains(b)) {
            let end = count.min(start + held.len() + k - 1);
            if stored.contains(&held[0]) && end - start >= least {
                let place = |place: usize| u32::try_from(place).unwrap();
                rows.insert((key.clone(), place(start), place(end)));
            }
            start += held.len();
        }
    }
    rows
}

fn by_words(text: &str) -> Vec<String> {
    text.split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn by_chars(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_planted_passage_is_found_wherever_it_stands(
        (k, longer, more) in (3_u8..7, 0_u32..20, 0_u32..30),
        (before, stored_before, stored_after) in (0_u32..60, 0_u32..60, 0_u32..40),
        others in 0_u32..30,
        is_of_chars: bool,
    ) {
        let (passage, shingling) = (u32::from(k) + longer, if is_of_chars { Shingling::Char(k) } else { Shingling::Word(k) });
        let schema = schema(shingling, passage);
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &schema).unwrap();
        let text = |start: u32, count: u32| -> String {
            if !is_of_chars {
                return words(start, count);
            }
            // Characters that are each a token of their own, and no two of which are next to each other again.
            let of = |n: u32| char::from_u32(0x4e00 + (start + n) % 0x5000).unwrap();
            (0..count).map(of).collect()
        };
        let joined = |parts: &[String]| {
            let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            parts.join(if is_of_chars { "" } else { " " })
        };
        let planted = text(5000, passage + more);
        let mut texts = BTreeMap::new();
        texts.insert("it".to_owned(), joined(&[text(0, stored_before), planted.clone(), text(1000, stored_after)]));
        for other in 0..others {
            texts.insert(format!("other {other}"), text(10_000 + 50 * other, 20));
        }
        let mut writer = store.writer().unwrap();
        writer.add_all(texts.iter().map(|(key, text)| Input::new(key.as_str(), text.as_str())).collect()).unwrap();
        writer.commit().unwrap();
        let query = joined(&[text(2000, before), planted, text(3000, 7)]);
        let found = store.passages(&PassageQuery::text(&query)).unwrap();
        let tokens = if is_of_chars { by_chars } else { by_words };
        let all = expected(&schema, &texts, &query, passage as usize, tokens);
        prop_assert_eq!(rows(&found), all);
        let it = &found.passages[0];
        prop_assert_eq!((it.key.as_str(), it.tokens.clone()), ("it", before..before + passage + more));
        prop_assert_eq!(it.place, Some(stored_before));
        prop_assert_eq!(tokens(&query[it.bytes.clone()]).len(), (passage + more) as usize);
        // Below the length, nothing is promised, and nothing false is said.
        let short = store.passages(&PassageQuery::text(&query).at_least(k.into())).unwrap();
        let all = expected(&schema, &texts, &query, k.into(), tokens);
        prop_assert!(rows(&short).is_subset(&all));
    }

    #[test]
    fn passages_are_those_of_all_stored_texts_whatever_was_done_to_the_store(
        steps in prop::collection::vec((0_u8..6, 0_u32..12, 0_u32..40), 1..30),
        asked in (0_u32..40, 0_u32..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema(Shingling::Word(3), 6);
        let store = Options::new().threads(2).create(folder.path().join("store"), &schema).unwrap();
        let mut texts = BTreeMap::new();
        let text = |n: u32| format!("{} x{n} {} {}", words(n, 9), words(n + 30, 8), words(n * 2, 5));
        let mut step = schema.passage();
        for (action, key, n) in steps {
            let key = format!("d{key}");
            match action {
                0..=2 => {
                    texts.insert(key.clone(), text(n));
                    store.replace(key, text(n)).unwrap();
                }
                3 => {
                    texts.remove(&key);
                    store.remove(&key).unwrap();
                }
                4 => {
                    store.rebuild(Rebuild::compact()).unwrap();
                }
                _ => {
                    // Some of the fingerprints, then all of the texts again.
                    step = if step == 6 { 10 } else { 6 };
                    let rebuild = Reindex::new().passage(step);
                    let schema = rebuild.schema(&store).unwrap();
                    let given = store.text_fingerprints(&schema).unwrap();
                    if step == 6 {
                        for text in texts.values() {
                            given.add(text).unwrap();
                        }
                    }
                    let mut rebuild = rebuild.rebuild(&store).unwrap();
                    if step == 6 {
                        rebuild = rebuild.fingerprints(given);
                    }
                    store.rebuild(rebuild).unwrap();
                }
            }
            // Texts that no document names any more need none.
            prop_assert_eq!(store.stats().unwrap().unfingerprinted, 0);
        }
        let query = format!("{} and {}", text(asked.0), text(asked.1));
        let found = store.passages(&PassageQuery::text(&query)).unwrap();
        let all = expected(&store.schema(), &texts, &query, step as usize, by_words);
        prop_assert_eq!(rows(&found), all);
        let place = store.folder().to_owned();
        drop(store);
        let report = Store::check(place).unwrap();
        prop_assert!(report.is_clean(), "{:?}", report.problems);
    }
}

#[test]
fn of_documents_with_a_passage_the_longest_comes_first_and_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("store"), &schema(Shingling::Word(5), 10)).unwrap();
    let mut writer = store.writer().unwrap();
    for (key, text) in [
        ("long", words(0, 60)),
        ("copy of long", words(0, 60)),
        ("short", format!("{} {}", words(900, 40), words(20, 12))),
        ("other", words(2000, 50)),
    ] {
        writer.add(key, text).unwrap();
    }
    writer.commit().unwrap();
    let text = format!("so\nit goes\n{}\n\nand {}", words(10, 30), words(910, 20));
    let found = store.passages(&PassageQuery::text(&text)).unwrap();
    let told: Vec<_> = found
        .passages
        .iter()
        .map(|p| {
            (
                p.key.as_str(),
                p.tokens.clone(),
                p.line,
                p.place,
                p.documents,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("copy of long", 3..33, 3, Some(10), 2),
            ("long", 3..33, 3, Some(10), 2),
            ("short", 34..54, 5, Some(10), 1),
            ("short", 13..25, 3, Some(40), 3),
        ]
    );
    assert_eq!((found.tokens, found.covered), (54, 50));
    let documents: Vec<_> = found
        .documents
        .iter()
        .map(|d| (d.key.as_str(), d.covered, d.longest))
        .collect();
    assert_eq!(
        documents,
        [
            ("short", 32, 20),
            ("copy of long", 30, 30),
            ("long", 30, 30)
        ]
    );
    let limited = store.passages(&PassageQuery::text(&text).limit(1)).unwrap();
    assert_eq!(limited.passages, found.passages[..1]);
    let own = ["long".to_owned(), "copy of long".to_owned()];
    let others = store
        .passages(&PassageQuery::text(&text).except(&own))
        .unwrap();
    assert!(others.passages.iter().all(|passage| passage.key == "short"));
    assert_eq!(others.passages[1].documents, 1);
    let broken = format!("{} odd odd {}", words(0, 15), words(16, 14));
    for (gap, count) in [(1, 2), (2, 1)] {
        let query = PassageQuery::text(&broken).gap(gap).limit(9);
        let found = store.passages(&query.except(&own[1..])).unwrap();
        let of_it = found
            .passages
            .iter()
            .filter(|passage| passage.key == "long");
        assert_eq!(of_it.count(), count, "{found:?}");
    }
}

#[test]
fn a_text_is_its_own_passage() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("store"), &schema(Shingling::Word(5), 20)).unwrap();
    let short = "four words, no more";
    let long = words(0, 500);
    store.replace("short", short).unwrap();
    store.replace("long", long.as_str()).unwrap();
    let found = store.passages(&PassageQuery::text(&long)).unwrap();
    assert_eq!(found.passages[0].tokens, 0..500);
    assert_eq!((found.covered, found.passages[0].matched), (500, 500));
    // A shorter text is found as a whole, where passages may be as short.
    let query = format!("{short} {short}");
    let found = store
        .passages(&PassageQuery::text(short).at_least(5))
        .unwrap();
    assert!(found.passages.is_empty(), "it has four words");
    assert!(
        store
            .passages(&PassageQuery::text(&query))
            .unwrap()
            .passages
            .is_empty()
    );
    assert_eq!(
        store.passages(&PassageQuery::text("")).unwrap(),
        Passages::default()
    );
}

#[test]
fn a_footer_in_many_documents_is_told_apart_and_hides_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().false_candidates(40);
    let store = options
        .create(folder.path().join("store"), &schema(Shingling::Word(5), 12))
        .unwrap();
    let footer = words(100_000, 40);
    let page = |n: u32| {
        Input::new(
            format!("{n:03}"),
            format!("{} {footer}", words(100 * n, 60)),
        )
    };
    let mut writer = store.writer().unwrap();
    writer.add_all((0..300).map(page).collect()).unwrap();
    writer.commit().unwrap();
    let text = format!("{} {footer} {}", words(4210, 30), words(20_020, 30));
    let found = store.passages(&PassageQuery::text(&text)).unwrap();
    let (common, own): (Vec<_>, Vec<_>) = found.passages.iter().partition(|p| p.is_common);
    let own: Vec<_> = own
        .iter()
        .map(|p| (p.key.as_str(), p.tokens.clone(), p.documents))
        .collect();
    assert_eq!(own, [("042", 0..30, 1), ("200", 70..100, 1)]);
    // A few of the documents with the footer, and those with another passage, which are compared as a whole.
    assert!((5..50).contains(&common.len()), "{}", common.len());
    for passage in common {
        assert_eq!(passage.tokens, 30..70);
        assert!(passage.documents > 100, "{passage:?}");
        assert_eq!(&text[passage.bytes.clone()], footer);
    }
    assert_eq!((found.covered, found.common.len()), (100, 0));
    let all = store.passages(&PassageQuery::text(&text).all()).unwrap();
    assert_eq!(all.passages.len(), 302);
    let of_footer = &all.passages[0];
    assert_eq!((of_footer.documents, of_footer.is_common), (300, false));
}

#[test]
fn a_passage_of_bytes_is_whole_characters() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = Store::create(store, &schema(Shingling::Byte(8), 20)).unwrap();
    let inner = words(1, 12);
    // The first and the last of the shared bytes are a half of a character.
    let stored = format!("©{inner}é");
    store.insert_unless_duplicate("a", &*stored).unwrap();
    let text = format!("ab é{inner}ê");
    let found = store.passages(&PassageQuery::text(&text)).unwrap();
    let passage = &found.passages[0];
    assert_eq!(
        (passage.tokens.start, passage.tokens.len()),
        (4, stored.len() - 2)
    );
    assert_eq!(&text[passage.bytes.clone()], format!("é{inner}ê"));
}

#[test]
fn of_a_phrase_in_many_documents_it_is_told_that_a_passage_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().false_candidates(40);
    let store = options
        .create(folder.path().join("store"), &schema(Shingling::Word(5), 12))
        .unwrap();
    let phrase = words(100_000, 5);
    let page = |n: u32| Input::new(n.to_string(), format!("{phrase} {}", words(100 * n, 60)));
    let mut writer = store.writer().unwrap();
    writer.add_all((0..300).map(page).collect()).unwrap();
    writer.commit().unwrap();
    let text = format!("{} {phrase} {}", words(4210, 30), words(50_000, 30));
    let found = store.passages(&PassageQuery::text(&text)).unwrap();
    assert_eq!(rows(&found), PassageRows::from([("42".to_owned(), 0, 30)]));
    assert_eq!((found.common.len(), &found.common[0]), (1, &(30..35)));
    let without = format!("{phrase} {}", words(50_000, 30));
    let without = store.passages(&PassageQuery::text(&without)).unwrap();
    assert_eq!(rows(&without), PassageRows::new());
    let common = (without.common.len(), &without.common[0]);
    assert_eq!((without.tokens, common), (35, (1, &(0..5))));
    let all = store.passages(&PassageQuery::text(&text).all()).unwrap();
    assert_eq!(all.passages, found.passages);
    assert!(all.common.is_empty());
}

#[test]
fn texts_that_thousands_contain_have_containers_and_copies() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().false_candidates(40);
    let store = options
        .create(folder.path().join("store"), &schema(Shingling::Word(5), 12))
        .unwrap();
    let footer = words(100_000, 40);
    let page = |n: u32| Input::new(n.to_string(), format!("{footer} {}", words(100 * n, 60)));
    let mut writer = store.writer().unwrap();
    writer.add_all((0..300).map(page).collect()).unwrap();
    writer.add("part", words(100_000, 30)).unwrap();
    writer.commit().unwrap();
    let contained = |text: &str| {
        let query = Query::text(text).containment(0.9);
        let found = store.query(&query).unwrap();
        found.into_iter().map(|found| found.key).collect::<Vec<_>>()
    };
    // As many as are looked at; that there are more is counted.
    let found = contained(&footer);
    assert!(
        found.contains(&"part".to_owned()) && found.len() > 40,
        "{found:?}"
    );
    assert_eq!(store.searches_cut_short(), 1);
    assert!(contained(&words(100_000, 30)).len() > 40);
    // A page is compared with what shares more than the footer, and with what the footer contains.
    let page = contained(&format!("{footer} {} odd", words(4200, 60)));
    assert_eq!(page, ["42", "part"]);
}

#[test]
fn a_place_is_told_if_fingerprints_agree_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("store"), &schema(Shingling::Word(5), 10)).unwrap();
    let passage = words(0, 40);
    store
        .replace("once", format!("{} {passage}", words(500, 33)))
        .unwrap();
    // A part of it stands before it, too.
    let part = format!("{} {} {passage}", words(10, 12), words(600, 20));
    store.replace("part", part).unwrap();
    store
        .replace("twice", format!("{passage} {} {passage}", words(700, 9)))
        .unwrap();
    let found = store.passages(&PassageQuery::text(&passage)).unwrap();
    let places: Vec<_> = found
        .passages
        .iter()
        .map(|p| (p.key.as_str(), p.place))
        .collect();
    assert_eq!(
        places,
        [("once", Some(33)), ("part", Some(32)), ("twice", None)]
    );
    // The first of joined passages begins where it says.
    let odd = format!("{} odd odd {}", words(0, 15), words(16, 20));
    let found = store.passages(&PassageQuery::text(&odd).gap(2)).unwrap();
    let joined = &found.passages[0];
    assert_eq!(
        (joined.tokens.clone(), joined.matched, joined.place),
        (0..37, 35, Some(33))
    );
}

#[test]
fn a_salvaged_store_says_how_many_fingerprints_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &schema(Shingling::Word(5), 8)).unwrap();
    for n in 0..9 {
        store.replace(n.to_string(), words(100 * n, 60)).unwrap();
    }
    drop(store);
    std::fs::remove_file(path.join("fingerprints.1")).unwrap();
    let target = folder.path().join("saved");
    let saved = Store::salvage(&path, &target, |_| {}).unwrap();
    assert_eq!(
        (saved.documents, saved.lost, saved.unfingerprinted),
        (9, 0, 9)
    );
    let store = Store::open(&target).unwrap();
    assert_eq!(store.stats().unwrap().unfingerprinted, 9);
}

#[test]
fn a_text_that_is_not_given_keeps_its_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &schema(Shingling::Word(5), 8)).unwrap();
    for n in 0..9 {
        store.replace(n.to_string(), words(100 * n, 60)).unwrap();
    }
    let closer = Reindex::new().passage(6).schema(&store).unwrap();
    let rebuild = |numbers: std::ops::Range<u32>| {
        let texts = store.text_fingerprints(&closer).unwrap();
        for n in numbers {
            texts.add(&words(100 * n, 60)).unwrap();
        }
        store.rebuild(Rebuild::reindex(closer.clone()).fingerprints(texts))
    };
    let refused = rebuild(1..8);
    let Err(Error::InvalidSchema { reason, .. }) = refused else {
        panic!("{refused:?}");
    };
    let first = "\"0\" and 1 more documents have fingerprints";
    assert!(reason.starts_with(first), "{reason}");
    assert_eq!(store.unfinished_rebuild().unwrap(), None);
    assert_eq!(store.schema().passage(), 8);
    // One that no document names any more need not be there.
    store.remove("0").unwrap();
    assert!(rebuild(1..9).unwrap());
    assert_eq!(store.stats().unwrap().unfingerprinted, 0);
}

#[test]
fn a_store_gets_fingerprints_from_its_texts_or_from_closer_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::create(&path, &schema(Shingling::Word(5), 0)).unwrap();
    for n in 0..30 {
        store.replace(n.to_string(), words(100 * n, 60)).unwrap();
    }
    let query = PassageQuery::text("w1010 w1011 w1012 w1013 w1014 w1015 w1016 w1017 w1018 w1019");
    assert!(matches!(
        store.passages(&query),
        Err(Error::InvalidQuery { .. })
    ));
    let target = Reindex::new().passage(8).schema(&store).unwrap();
    let refused = store.rebuild(Rebuild::reindex(target.clone()));
    assert!(matches!(
        refused,
        Err(Error::InvalidSchema {
            parameter: "passage",
            ..
        })
    ));
    let given = |numbers: std::ops::Range<u32>| {
        let texts = store.text_fingerprints(&target).unwrap();
        for n in numbers {
            assert!(texts.add(&words(100 * n, 60)).unwrap());
        }
        texts
    };
    let texts = given(0..20);
    assert!(!texts.add("a text that the store does not have").unwrap());
    // Stopped on the way, it begins again with the texts.
    let stopped = Rebuild::reindex(target.clone()).fingerprints(texts);
    let hasty = store.watched(&Progress::observed(Progress::stop));
    assert!(matches!(hasty.rebuild(stopped), Err(Error::Stopped)));
    assert!(
        store.rebuild(Rebuild::resume()).is_err(),
        "the texts are gone"
    );
    let texts = given(0..20);
    assert!(
        store
            .rebuild(Rebuild::reindex(target.clone()).fingerprints(texts))
            .unwrap()
    );
    assert_eq!(store.stats().unwrap().unfingerprinted, 10);
    let found = store.passages(&query.at_least(10)).unwrap();
    assert_eq!(rows(&found), PassageRows::from([("10".to_owned(), 0, 10)]));
    // The rest, with the same schema.
    let texts = given(20..30);
    let rebuild = Rebuild::reindex(target.clone());
    assert!(store.rebuild(rebuild.fingerprints(texts)).unwrap());
    assert_eq!(store.stats().unwrap().unfingerprinted, 0);
    let last = words(2920, 12);
    let last = PassageQuery::text(&last);
    assert_eq!(store.passages(&last).unwrap().passages.len(), 1);
    // Twelve tokens have eight shingles, twice the four of eight.
    assert!(
        store
            .rebuild(Reindex::new().passage(12).rebuild(&store).unwrap())
            .unwrap()
    );
    assert_eq!(store.passages(&last).unwrap().passages.len(), 1);
    assert!(
        store
            .rebuild(Reindex::new().passage(0).rebuild(&store).unwrap())
            .unwrap()
    );
    assert!(store.passages(&last).is_err());
    drop(store);
    assert!(Store::check(&path).unwrap().is_clean());
}

#[test]
fn lengths_and_shinglings_that_cannot_be_are_refused() {
    let passage = |shingling, passage| {
        Schema::builder()
            .shingling(shingling)
            .passage(passage)
            .build()
    };
    for (shingling, tokens) in [
        (Shingling::Word(5), 4),
        (Shingling::Word(5), 10_001),
        (Shingling::Word(2), 20),
        (Shingling::Code(2), 20),
        (Shingling::Term, 20),
        (Shingling::Ids, 20),
    ] {
        let refused = passage(shingling, tokens);
        assert!(
            matches!(
                &refused,
                Err(Error::InvalidSchema {
                    parameter: "passage",
                    ..
                })
            ),
            "{shingling}: {refused:?}"
        );
        assert!(passage(shingling, 0).is_ok());
    }
    assert!(
        Schema::builder()
            .passage(20)
            .keep_shingles(false)
            .build()
            .is_err()
    );
    assert!(passage(Shingling::Byte(8), 8).is_ok() && passage(Shingling::Char(1), 10_000).is_ok());
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("store"), &schema(Shingling::Word(5), 12)).unwrap();
    let refused = store.passages(&PassageQuery::text("a text").at_least(4));
    assert!(matches!(
        refused,
        Err(Error::InvalidQuery {
            parameter: "at-least",
            ..
        })
    ));
    // A set has no order, unless the shingler of the store made it.
    let text = words(0, 30);
    let bare = dedupdb::sketching::Shingler::new(Shingling::Word(5), true, true).unwrap();
    let set = bare.shingles(&text).unwrap();
    let refused = store.replace("set", set);
    assert!(
        matches!(refused, Err(Error::InvalidShingles { .. })),
        "{refused:?}"
    );
    let set = store.schema().shingler().unwrap().shingles(&text).unwrap();
    store.replace("set", set).unwrap();
    assert_eq!(
        store.passages(&PassageQuery::text(&text)).unwrap().covered,
        30
    );
}
