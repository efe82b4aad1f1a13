//! What must hold whatever the hash functions are.

use super::strategy;
use dedupdb::{
    Error,
    sketching::{ShingleSet, Shingler, Shingling},
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

fn shingles(shingling: Shingling, text: &str) -> ShingleSet {
    let folds = shingling.folds();
    Shingler::new(shingling, folds, folds)
        .unwrap()
        .shingles(text)
        .unwrap()
}

fn words(k: u8, text: &str) -> ShingleSet {
    shingles(Shingling::Word(k), text)
}

/// Sets that overlap: values near each other, some runs far longer than others.
fn set() -> impl Strategy<Value = BTreeSet<u32>> {
    let values = prop_oneof![
        vec(0u32..60, 0..40),
        vec(0u32..4000, 0..1500),
        vec(any::<u32>(), 0..9)
    ];
    (values, vec(0u32..200, 0..5))
        .prop_map(|(a, b)| a.into_iter().chain(b).collect::<BTreeSet<u32>>())
}

fn of(set: &BTreeSet<u32>) -> ShingleSet {
    ShingleSet::from_hashes(set.iter().rev().chain(set).copied().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn canonical_equivalents_are_the_same(text in strategy::text(), k in 1u8..6) {
        for shingling in [Shingling::Word(k), Shingling::Char(k), Shingling::CharNoSpace(k)] {
            let set = shingles(shingling, &text);
            // Code points newer than the tables are outside every promise of a newer normalizer.
            prop_assume!(text.chars().all(super::reference::is_assigned));
            for form in [text.nfc().collect::<String>(), text.nfd().collect(), text.nfkd().collect()] {
                prop_assert_eq!(&shingles(shingling, &form), &set);
            }
        }
    }

    #[test]
    fn what_nobody_sees_does_not_count(text in strategy::text(), k in 1u8..6, every in 1usize..70, nfkc: bool) {
        let unseen = ['\u{AD}', '\u{2060}', '\u{FEFF}', '\u{FE0F}', '\u{200C}', '\u{200D}', '\u{E0100}'];
        let mut with = String::new();
        for (i, c) in text.chars().enumerate() {
            with.push(c);
            with.extend((i % every == 0).then_some(unseen[i % unseen.len()]));
        }
        for shingling in [Shingling::Word(k), Shingling::Code(k), Shingling::Char(k), Shingling::Term] {
            let shingler = Shingler::new(shingling, true, nfkc).unwrap();
            prop_assert_eq!(shingler.shingles(&with).unwrap(), shingler.shingles(&text).unwrap());
        }
    }

    #[test]
    fn ascii_case_is_lost(text in strategy::text(), k in 1u8..6) {
        for shingling in [Shingling::Word(k), Shingling::Char(k), Shingling::Term] {
            let set = shingles(shingling, &text);
            prop_assert_eq!(&shingles(shingling, &text.to_ascii_uppercase()), &set);
            prop_assert_eq!(&shingles(shingling, &text.to_ascii_lowercase()), &set);
        }
    }

    #[test]
    fn words_are_found_whatever_separates_them(
        tokens in vec("[a-zß]{1,20}|漢|é|σας", 0..60),
        gap in "[ .,;:!?\n\u{3000}\u{378}]{1,70}",
        k in 1u8..6,
    ) {
        let text = tokens.join(" ");
        prop_assert_eq!(words(k, &text), words(k, &format!("{gap}{}{gap}", tokens.join(&gap))));
    }

    #[test]
    fn spaces_of_any_length_are_one(tokens in vec("[a-z.é漢]{1,9}", 0..40), gap in "[ \n\u{85}\u{2003}]{1,9}") {
        let text = tokens.join(" ");
        let spaced = format!("{gap}{}{gap}", tokens.join(&gap));
        prop_assert_eq!(shingles(Shingling::Char(7), &text), shingles(Shingling::Char(7), &spaced));
        let bare = Shingling::CharNoSpace(7);
        prop_assert_eq!(shingles(bare, &tokens.concat()), shingles(bare, &spaced));
    }

    #[test]
    fn distinct_words_make_a_shingle_a_window(count in 0usize..300, k in 1u8..=64) {
        let text: String = (0..count).flat_map(|i| [String::from("w"), i.to_string(), String::from(" ")]).collect();
        let windows = if count == 0 { 0 } else { (count + 1).saturating_sub(k.into()).max(1) };
        prop_assert_eq!(words(k, &text).len(), windows);
    }

    #[test]
    fn ids_are_a_set(ids in vec(any::<u64>(), 0..80)) {
        let list = |ids: &[u64]| ids.iter().map(u64::to_string).collect::<Vec<_>>().join("\t\n");
        let set = shingles(Shingling::Ids, &list(&ids));
        let mut turned = [ids.clone(), ids.clone()].concat();
        turned.reverse();
        prop_assert_eq!(shingles(Shingling::Ids, &list(&turned)), set.clone());
        prop_assert_eq!(set.len(), ids.iter().collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn sets_are_sets(a in set(), b in set()) {
        let (x, y) = (of(&a), of(&b));
        prop_assert!(x.as_slice().iter().eq(&a));
        prop_assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
        let common = a.intersection(&b).count();
        prop_assert_eq!(x.intersection_len(&y), common);
        prop_assert_eq!(y.intersection_len(&x), common);
        let jaccard = common as f64 / a.union(&b).count().max(1) as f64;
        prop_assert_eq!(x.jaccard(&y).to_bits(), jaccard.to_bits());
        let contained = common as f64 / a.len().max(1) as f64;
        prop_assert_eq!(x.containment_in(&y).to_bits(), contained.to_bits());
    }

    #[test]
    fn a_shingling_is_spelled_as_it_is_read(k in 1u8..=64) {
        let all = [
            Shingling::Word(k), Shingling::Code(k), Shingling::Char(k), Shingling::CharNoSpace(k), Shingling::Byte(k),
            Shingling::Term, Shingling::Ids,
        ];
        for shingling in all {
            prop_assert_eq!(shingling.to_string().parse::<Shingling>().unwrap(), shingling);
        }
    }
}

#[test]
fn few_tokens_are_one_shingle_and_none_is_the_empty_set() {
    assert_eq!(words(5, "one two three"), words(3, "one two three"));
    assert_ne!(words(5, "one two three"), words(5, "three two one"));
    assert_eq!(shingles(Shingling::Char(24), "short").len(), 1);
    assert_eq!(shingles(Shingling::Byte(24), "short").len(), 1);
    for text in ["", " ", "...", "\u{378}", "👍"] {
        assert!(words(5, text).is_empty(), "{text:?}");
    }
    assert_eq!(
        words(5, "").jaccard(&words(5, "")).to_bits(),
        0.0f64.to_bits()
    );
}

#[test]
fn words_of_many_scripts() {
    // As many one-word shingles as the text has different words.
    let cases = [
        ("snake_case don't", 3),
        ("漢字かなカナー", 7),
        ("กขค", 3),
        ("漢a字b", 4),
        ("नमस्ते दुनिया", 2),
        ("می\u{200C}خواهم", 1),
        ("Ⅷ ½", 3), // viii, 1, 2: the fraction slash of NFKC separates
        ("ΟΔΟΣ ὁδός οδος οδοσ", 2),
        ("İ i\u{307} ı", 2),
        ("ＡＢＣ abc ＡＢＣ１", 2),
        ("👩\u{200D}👩 👍\u{FE0F}", 0),
        (
            "in\u{AD}vis\u{2060}ible\u{FEFF} \u{FEFF}invi\u{AD}sible\u{FE0F}",
            1,
        ),
        ("zero\u{200B}width", 2),
    ];
    for (text, count) in cases {
        assert_eq!(words(1, text).len(), count, "{text}");
    }
}

#[test]
fn symbols_are_tokens_of_code() {
    let code = |text| shingles(Shingling::Code(1), text);
    assert_eq!(code("C++ C# a_b").len(), 4); // c, +, #, a_b
    assert_ne!(code("3 + 4"), code("3 - 4"));
    assert_ne!(code("-500.00 EUR"), code("500.00 EUR"));
    assert_eq!(code("== !=\u{A0}").len(), 2);
    assert_eq!(code(" \t\n\u{3000}"), code(""));
}

#[test]
fn folded_marks_do_not_count() {
    let folding = Shingler::new(Shingling::Word(1), true, true)
        .unwrap()
        .fold_marks(true)
        .unwrap();
    let equal = [
        ("Ärger élan naïve Việt ḍ", "arger elan naive viet d"),
        ("e\u{301}\u{AD}\u{323}tude", "etude"),
        ("مُحَمَّدٌ كـتـاب", "محمد كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("ﬁancée", "fiancee"),
    ];
    for (marked, plain) in equal {
        let padded = format!("{}{marked}", "x ".repeat(31));
        let set = folding.shingles(&padded).unwrap();
        assert_eq!(
            set,
            folding.shingles(&format!("x {plain}")).unwrap(),
            "{marked}"
        );
        assert_ne!(set, words(1, &padded));
    }
    for (letter, other) in [("й", "и"), ("ø", "o"), ("آ", "ا"), ("ά", "α"), ("が", "か")] {
        assert_ne!(
            folding.shingles(letter).unwrap(),
            folding.shingles(other).unwrap()
        );
    }
    let error = Shingler::new(Shingling::Word(1), true, false)
        .unwrap()
        .fold_marks(true)
        .unwrap_err();
    assert!(error.to_string().contains("NFKC"), "{error}");
}

#[test]
fn ids_that_are_none_are_named() {
    let shingler = Shingler::new(Shingling::Ids, false, false).unwrap();
    assert_eq!(
        shingler
            .shingles("0 18446744073709551615 007\u{3000}7")
            .unwrap()
            .len(),
        3
    );
    assert!(shingler.shingles(" \n").unwrap().is_empty());
    let long = "x".repeat(1000);
    for token in [
        "-1",
        "+1",
        "1.0",
        "18446744073709551616",
        "٣",
        "a\u{1b}[0m",
        &long,
    ] {
        let error = shingler.shingles(&format!("1\n22 {token} 3")).unwrap_err();
        let Error::InvalidText { reason } = error else {
            panic!("{error}")
        };
        assert!(
            reason.starts_with("token 3: ") && reason.is_ascii(),
            "{reason}"
        );
        assert!(!reason.contains('\u{1b}') && reason.len() < 200, "{reason}");
    }
}

#[test]
fn misfits_are_refused() {
    let spellings = [
        "",
        "word",
        "word:",
        "word:0",
        "word:65",
        "word:300",
        "word:-1",
        "word:+5",
        "word:05",
        "Word:5",
        "word:5 ",
        "char_nospace:4",
        "term:1",
        "ids:1",
        ":5",
    ];
    for spelling in spellings {
        let error = spelling.parse::<Shingling>().unwrap_err();
        let Error::InvalidSchema { parameter, reason } = error else {
            panic!("{error}")
        };
        assert_eq!(parameter, "shingling");
        assert!(reason.contains("K from 1 to 64"), "{reason}");
    }
    for shingling in [
        Shingling::Word(0),
        Shingling::Char(65),
        Shingling::CharNoSpace(255),
    ] {
        assert!(Shingler::new(shingling, true, true).is_err(), "{shingling}");
    }
    for shingling in [Shingling::Byte(8), Shingling::Ids] {
        assert!(
            Shingler::new(shingling, true, false).is_err(),
            "{shingling}"
        );
        assert!(
            Shingler::new(shingling, false, true).is_err(),
            "{shingling}"
        );
        assert!(
            Shingler::new(shingling, false, false).is_ok(),
            "{shingling}"
        );
    }
}

#[test]
fn types_cross_threads() {
    fn assert_send_and_sync<T: Send + Sync>() {}
    assert_send_and_sync::<Shingler>();
    assert_send_and_sync::<ShingleSet>();
    let text = "one two three four five six seven ".repeat(50);
    let here = words(3, &text);
    let there = std::thread::spawn(move || words(3, &text)).join().unwrap();
    assert_eq!(here, there);
}
