//! The `MapReduce` form: lines that carry documents to their buckets, and pairs from lines that are
//! sorted by bucket.
//!
//! A document has a line for each of its buckets, with five columns and tabs between them:
//!
//! | column | what it is |
//! |---|---|
//! | bucket | the band in decimal, with as many digits as the last one has, `:` and its hash in eight hexadecimal digits. A text without shingles has one line: `copy:` and the first half of its BLAKE3 hash |
//! | id | the document's key as a JSON string, without the quotes |
//! | parameters | four characters of base64: 24 bits of a hash of the parameters |
//! | number | of shingles, in decimal |
//! | shingles | the packed set in base64, without padding |
//!
//! A framework moves each line as a key, a tab and a value. Lines carry no signature: whoever needs
//! one makes it from the shingles again. **Invariant: a pair is found in the bucket of the first band
//! that both documents share, which their shingles tell, so those who see other buckets need not be
//! asked.**

use dedupdb::batch::KeyWidth;

pub(crate) mod bucket;
pub(crate) mod groups;
#[cfg(test)]
mod laws;
mod line;
pub(crate) mod mapper;
mod met;
mod parameters;
pub(crate) mod reducer;
mod rows;

/// How much of a band's hash is in the names of buckets, and decides which documents meet.
const WIDTH: KeyWidth = KeyWidth::Bits32;
