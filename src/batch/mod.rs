//! The steps of deduplication on plain slices, for engines that keep and move the data themselves.
//!
//! A data frame, a map/reduce job or a cluster has the texts, sorts and joins them, and calls these
//! functions in between. They do no input or output, know no store, and give the answers of a
//! [`Store`](crate::Store) with the same [`Schema`](crate::Schema), bit for bit. Columns are as in Arrow: numbers in a
//! slice, values of variable length as offsets into bytes.
//!
//! | step | from | to | with |
//! |---|---|---|---|
//! | sketch | texts | hash, signature, band keys and packed shingles of each | [`Sketcher`] |
//! | meet | keys of one band or bucket | pairs to be compared, each once | [`CandidateQuery`] |
//! | verify | pairs and packed shingles | exact similarities | [`PackedSets::jaccards`], [`verify`] |
//! | connect | pairs that match | components, each under its lowest id | [`components()`] |
//!
//! ```
//! use dedupdb::batch::{CandidateQuery, KeyWidth, Sketcher, components};
//! use dedupdb::{Schema, sketching::Shingling};
//!
//! let schema = Schema::builder().shingling(Shingling::Word(2)).threshold(0.5).build()?;
//! let ids = [100, 200, 300, 400];
//! let texts = [
//!     "The night tram runs again from Friday on, every half hour until four.",
//!     "Nobody knows who painted the harbour crane in the colours of a parrot.",
//!     "The night tram runs again from Friday on, every half hour until five!",
//!     "The night bus runs again from Friday on, every half hour until five!",
//! ];
//! let sketches = Sketcher::new(&schema, KeyWidth::Bits64)?.sketch_all(&texts);
//! let found = CandidateQuery::new(sketches.keys(), sketches.sizes(), schema.threshold())?.all();
//! let jaccards = sketches.sets().jaccards(&found.pairs)?;
//! let matches: Vec<(u64, u64)> = found
//!     .pairs
//!     .iter()
//!     .zip(jaccards)
//!     .filter(|(_, jaccard)| *jaccard >= schema.threshold())
//!     .map(|(&(a, b), _)| (ids[a], ids[b]))
//!     .collect();
//! assert_eq!(components(&matches)?, [(100, 100), (300, 100), (400, 100)]);
//! # Ok::<(), dedupdb::Error>(())
//! ```
//!
//! # On a cluster
//!
//! 1. Sketch each partition. Keep a row id, the hash, the size, the keys and the packed shingles.
//! 2. Of the rows with the same hash keep one: the others are its copies. Texts without shingles match
//!    nothing but their copies.
//! 3. Move `(key, id, size)` to the key, once for each band: 20 bytes, 340 a text of 17 bands. The keys
//!    that come to a partition are rows of one band for [`CandidateQuery::all`]; drop pairs that come
//!    again. Or move the keys of all bands along, 2.7 kB a text: [`CandidateQuery::bucket`] then gives
//!    each pair once, in the bucket of the first key that both have. [`Candidates::passed_over`] counts
//!    what a large bucket left out.
//! 4. Join the packed shingles to both ids of a pair, and [`verify`].
//! 5. [`components()`] of each part of the pairs that match, and of what these return.
//!
//! Where packed shingles are moved to the buckets, [`Verifier`] does steps 3 and 4 in one: 23 kB a text
//! of 400 shingles and 17 bands.
//!
//! Keys of 64 bits keep texts apart that share no band ([`KeyWidth`]); those of 32 bits are the ones
//! that stores and the lines of `dedupdb map` have.

mod candidates;
mod columns;
mod components;
mod forest;
mod keys;
mod minima;
mod packed;
mod sketcher;
mod sketches;
mod verifier;

pub use candidates::{CandidateQuery, Candidates};
pub use columns::texts;
pub use components::components;
pub use keys::{KeyWidth, Keys};
pub use minima::minima;
pub use packed::{PackedSets, verify};
pub use sketcher::Sketcher;
pub use sketches::{Columns, Sketches};
pub use verifier::{Member, Verifier};

pub(crate) use forest::Forest;
