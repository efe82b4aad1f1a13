//! The `MapReduce` form: lines that carry documents to their buckets, and pairs from lines that are sorted by bucket.
//!
//! Any system that sorts lines can find near-duplicates: a [`Mapper`] writes the lines of each document, and a
//! [`Reducer`] compares those of a bucket. `dedupdb map` and `dedupdb reduce` are these two. For engines that move
//! columns, [`batch`](dedupdb::batch) has the same steps on slices.
//!
//! ```
//! use dedupdb_lab::mapreduce::{Error, Groups, Mapper, Reducer};
//! use dedupdb::Schema;
//!
//! let schema = Schema::default();
//! let mapper = Mapper::new(&schema)?;
//! let mut lines = Vec::new();
//! for (id, text) in [
//!     ("a", "The night tram runs again from Friday on, every half hour until four."),
//!     ("b", "THE NIGHT TRAM RUNS AGAIN from Friday on, every half hour until four!"),
//!     ("c", "Nobody knows who painted the harbour crane in the colours of a parrot."),
//! ] {
//!     let document = mapper.lines(id, text)?;
//!     lines.extend(document.parts().map(|(bucket, rest)| bucket + rest));
//! }
//! lines.sort_unstable();
//!
//! let lines = lines.concat();
//! let mut groups = Groups::new(lines.as_bytes(), "lines", &schema);
//! let mut reducer = Reducer::new(schema);
//! let mut pairs = Vec::new();
//! while let Some(group) = groups.next_group()? {
//!     reducer.pairs(group, |a, b, jaccard| {
//!         pairs.push((a.to_owned(), b.to_owned(), jaccard));
//!         Ok::<(), Error>(())
//!     })?;
//! }
//! assert_eq!(pairs, [("a".to_owned(), "b".to_owned(), 1.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Lines
//!
//! A document has a line for each of its buckets, with six columns separated by tabs:
//!
//! | column | contents |
//! |---|---|
//! | bucket | the band in decimal, with as many digits as the last one has, `:` and its hash in eight hexadecimal digits. A text without shingles has one line: `copy:` and the first half of its BLAKE3 hash |
//! | id | the document's key as a JSON string, without the quotes |
//! | parameters | four characters of base64: 24 bits of a hash of the parameters |
//! | number | of shingles, in decimal |
//! | shingles | the packed set in base64, without padding |
//! | check | eight hexadecimal digits: the low 32 bits of the XXH3 hash of the columns from the id to the shingles |
//!
//! A framework moves each line as a key, a tab and a value. Lines carry no signature, since it can be computed from the
//! shingles. **Invariant: a pair is found in the bucket of the first band that both documents share. Their shingles
//! determine that band, so reducers of other buckets need not be consulted.**

use dedupdb::batch::KeyWidth;

mod bucket;
mod error;
mod groups;
#[cfg(test)]
mod laws;
mod line;
mod mapper;
mod parameters;
mod recent_buckets;
mod reducer;
mod rows;

pub use error::Error;
pub use groups::{Group, Groups};
pub use mapper::{Lines, Mapper};
pub use reducer::Reducer;

/// The width of a band's hash in the names of buckets. It decides which documents meet.
const WIDTH: KeyWidth = KeyWidth::Bits32;
