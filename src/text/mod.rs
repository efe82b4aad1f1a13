//! From text to the set that stands for it: pure functions, one for each arrow.
//!
//! ```text
//! text -> folded text -> tokens -> shingles -> set
//!         NFKC, case     words     u32 hashes  sorted, distinct
//! ```
//!
//! **Folding** (`fold`) makes spellings equal that a reader takes for the same: characters that nobody sees, compatibility
//! variants and ways of composing a letter (NFKC), case, and if asked for, marks (`marks`). **Tokens** are words, found 64 bytes at a time (`block`, `words`), or
//! characters or bytes (`chars`), or terms under a stop rule (`terms`). **Shingles** are hashes of K tokens in a row,
//! from a window that rolls at one multiplication a token (`windows`, `hash`). Each shingle of a small set has 32 more
//! bits, its tail, from a second reading of the text (`sink`). Similarity is defined on the **set** (`set`). Sorting a
//! set (`sort`) and intersecting two of them (`intersect`) are the hot spots after reading. Integer ids (`ids`) skip
//! the steps before the hashes.
//!
//! Every stored number depends on this module, so all of it is frozen: the hash functions, and the class of each
//! character (`unicode`, at version 17.0.0). Only the normalization of assigned characters comes from elsewhere, and
//! Unicode promises never to change it.
//!
//! Most text never reaches a normalizer. ASCII takes a few vector instructions a block. A character beyond ASCII takes
//! a table lookup, as long as its entry says that NFKC keeps it and its lowercase is as long. The rest is cut out
//! together with the neighbours that it may combine with, and folded separately. Only `ids` can fail, and the working
//! memory grows with the text alone.

mod block;
mod chars;
mod fingerprints;
mod fold;
mod hash;
mod ids;
mod intersect;
mod marks;
mod places;
mod quote;
mod set;
mod shingler;
mod shingling;
mod sink;
mod sort;
mod terms;
mod unicode;
mod windows;
mod words;

pub(crate) use fingerprints::Fingerprints;
pub use set::ShingleSet;
pub(crate) use set::{first, is_less, least_in_common, share, sizes_fit};
pub use shingler::Shingler;
pub(crate) use shingler::folded;
pub use shingling::Shingling;

/// Returns the number of characters of a text that somebody sees: without white space and what folding drops, and with one
/// character for a letter and its accent (NFC).
pub fn seen_characters(text: &str) -> usize {
    let is_unseen = |c: char| match c {
        '\0'..='\x7f' => c.is_ascii_whitespace(),
        // A zero-width space divides words, and nobody sees it.
        '\u{200b}' => true,
        _ => c.is_whitespace() || unicode::entry_of(c).is_ignored(),
    };
    let seen = || text.chars().filter(|&c| !is_unseen(c));
    match is_nfc_quick(seen()) {
        IsNormalized::Yes => seen().count(),
        _ => seen().nfc().count(),
    }
}

use quote::quote;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
