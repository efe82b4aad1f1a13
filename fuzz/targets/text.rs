//! The path from text to shingles, compared with the simple one of the tests.
#![no_main]

#[path = "../../tests/it/text/reference.rs"]
mod reference;

use std::collections::BTreeSet;

use dedupdb::sketching::{Shingler, Shingling};
use libfuzzer_sys::fuzz_target;

fn plain(shingling: Shingling, text: &str, lowercase: bool, nfkc: bool) -> BTreeSet<u32> {
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

// The first byte selects the shingling, the second its length.
fuzz_target!(|bytes: &[u8]| {
    let [kind, length, text @ ..] = bytes else {
        return;
    };
    assert!(reference::applies(), "this toolchain has another Unicode");
    let text = &String::from_utf8_lossy(text);
    let k = length % 64 + 1;
    let shingling = match kind % 8 {
        0..3 => Shingling::Word(k),
        3 => Shingling::Code(k),
        4 => Shingling::Char(k),
        5 => Shingling::CharNoSpace(k),
        6 => Shingling::Byte(k),
        _ => Shingling::Term,
    };
    let folds = shingling.folds();
    let (lowercase, nfkc) = (folds && kind & 64 == 0, folds && kind & 128 == 0);
    let shingler = Shingler::new(shingling, lowercase, nfkc).unwrap();
    let found = shingler.shingles(text).unwrap();
    let expected = plain(shingling, text, lowercase, nfkc);
    assert!(found.as_slice().iter().eq(&expected), "{shingling} {text:?}");
});
