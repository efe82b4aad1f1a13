//! The crate, compared with the plain implementation.

use super::{reference, strategy};
use dedupdb::sketching::{Shingler, Shingling};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn expected(shingling: Shingling, text: &str, lowercase: bool, nfkc: bool) -> BTreeSet<u32> {
    let folded = reference::folded(text, lowercase, nfkc);
    match shingling {
        Shingling::Word(k) => reference::shingles(&reference::words(&folded), k.into()),
        Shingling::Code(k) => reference::shingles(&reference::code(&folded), k.into()),
        Shingling::Char(k) => reference::shingles(&reference::chars(&folded), k.into()),
        Shingling::CharNoSpace(k) => {
            reference::shingles(&reference::chars_without_space(&folded), k.into())
        }
        Shingling::Byte(k) => {
            let bytes: Vec<_> = text.bytes().map(|byte| [byte]).collect();
            reference::shingles(&bytes, k.into())
        }
        Shingling::Term => reference::shingles(&reference::terms(&folded), 1),
        other => unreachable!("{other} is not of text"),
    }
}

#[track_caller]
fn assert_agrees(shingling: Shingling, text: &str, lowercase: bool, nfkc: bool) {
    let set = Shingler::new(shingling, lowercase, nfkc)
        .unwrap()
        .shingles(text)
        .unwrap();
    let expected = expected(shingling, text, lowercase, nfkc);
    let expected: Vec<u32> = expected.into_iter().collect();
    assert_eq!(
        set.as_slice(),
        expected,
        "{shingling} {lowercase} {nfkc} {text:?}"
    );
}

fn shingling() -> impl Strategy<Value = Shingling> {
    let k = prop_oneof![1u8..8, 1u8..=64];
    prop_oneof![
        4 => k.clone().prop_map(Shingling::Word),
        2 => k.clone().prop_map(Shingling::Code),
        1 => k.clone().prop_map(Shingling::Char),
        1 => k.clone().prop_map(Shingling::CharNoSpace),
        1 => k.prop_map(Shingling::Byte),
        1 => Just(Shingling::Term),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn shingles_are_those_of_the_plain_way(
        text in strategy::text(),
        shingling in shingling(),
        lowercase: bool,
        nfkc: bool,
    ) {
        prop_assume!(reference::applies());
        let folds = shingling.folds();
        assert_agrees(shingling, &text, lowercase && folds, nfkc && folds);
    }
}

/// Every character beside a letter, a mark, a jamo and across the end of a block.
#[test]
fn every_character_agrees() {
    if !reference::applies() {
        return;
    }
    let block = "x".repeat(63);
    let mut text = String::new();
    for c in '\0'..=char::MAX {
        let near_ideographs = ('\u{3500}'..'\u{9F00}').contains(&c);
        if near_ideographs || c > '\u{32000}' && u32::from(c) % 61 != 0 && c != char::MAX {
            continue;
        }
        text.extend([
            c, ' ', 'a', c, 'b', ' ', 'A', c, '\u{301}', ' ', '\u{1100}', c, '.', '\u{1161}', c,
        ]);
        if text.len() > 4096 || c == char::MAX {
            text.push_str(&block);
            text.push(c);
            assert_agrees(Shingling::Word(1), &text, true, true);
            assert_agrees(Shingling::Word(1), &text, true, false);
            assert_agrees(Shingling::Char(3), &text, true, true);
            text.clear();
        }
    }
}

#[test]
fn long_texts_agree() {
    if !reference::applies() {
        return;
    }
    let texts = [
        "x".repeat(100_000) + " one two " + &"y".repeat(70_000) + " three",
        "漢字かな交じり文，".repeat(3000),
        "word ".repeat(20_000),
        "e\u{301}\u{327}".repeat(9000),
        String::from("a") + &"\u{301}\u{327}".repeat(9000),
        "å ".repeat(10_000),
        "İ".repeat(20_000),
        (0..60_000u32)
            .map(|i| i.wrapping_mul(0x9E37_79B1).to_string() + " ")
            .collect(),
    ];
    for text in &texts {
        for k in [1, 5, 64] {
            assert_agrees(Shingling::Word(k), text, true, true);
        }
        assert_agrees(Shingling::Char(9), text, true, true);
        assert_agrees(Shingling::Byte(9), text, false, false);
        assert_agrees(Shingling::Term, text, true, false);
    }
}
