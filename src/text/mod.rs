//! From text to the set that stands for it: pure functions, one arrow each.
//!
//! ```text
//! text -> folded text -> tokens -> shingles -> set
//!         NFKC, case     words     u32 hashes  sorted, distinct
//! ```
//!
//! **Folding** (`fold`) makes spellings equal that a reader takes for the same: compatibility
//! variants and ways of composing a letter (NFKC), and case. **Tokens** are words, found 64 bytes at
//! a time (`block`, `words`), or characters or bytes (`chars`), or terms under a stop rule
//! (`terms`). **Shingles** are hashes of K tokens in a row, from a window that rolls at one
//! multiplication a token (`windows`, `hash`). A set of few has 32 more bits for each, its tail, which a
//! second reading of the text gives (`sink`). The **set** is what similarity is defined on (`set`);
//! sorting it (`sort`) and intersecting two of them (`intersect`) are the hot spots after reading.
//! Integers given as they are (`ids`) skip the way to the hashes.
//!
//! Every stored number depends on this module, so it is frozen in whole: the hash functions, and
//! what each character is (`unicode`, at version 17.0.0). Only one thing comes from elsewhere, the
//! normalization of assigned characters, which Unicode promises never to change.
//!
//! Most text never gets to see a normalizer. ASCII needs a few vector instructions a block; a
//! character beyond it needs a table lookup, as long as its entry says that NFKC keeps it and its
//! lowercase is as long. The rest is cut out together with the neighbours it may join and folded
//! apart. No part of this can fail but `ids`, and the working memory grows with the text alone.

mod block;
mod chars;
mod fold;
mod hash;
mod ids;
mod intersect;
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

pub use set::ShingleSet;
pub(crate) use set::{is_less, least_in_common, share, sizes_fit};
pub use shingler::Shingler;
pub use shingling::Shingling;

use quote::quote;
