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
//! | keep | the contents of a component, in order | which are kept, and for whose sake others are dropped | [`Keeper`] |
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
//! 3. Move `(key, code)` to the key, once for each band: 16 bytes, 272 a text of 17 bands. Codes
//!    ([`ContentCode`]) stand for contents. Sorted by key and code, the rows of a partition go through a
//!    [`BucketWalk`], which holds no bucket. The engine drops pairs that come again.
//! 4. Large buckets, which a template fills, are gone through once more by the rarest shingles of their
//!    contents: `(shingle, code)` in the place of `(key, code)` ([`Rarity`]).
//! 5. Join the keys and packed shingles to both codes of a pair, and [`verify`] those that share a key.
//! 6. [`components()`] of each part of the pairs that match, and of what these return.
//! 7. To keep one of those that are alike, let a [`Keeper`] judge each component in the order of its keys.
//!
//! Where all of it is in one memory, [`CandidateQuery`] does the third step for a matrix of keys.
//!
//! Where packed shingles are moved to the buckets, [`Verifier`] does steps 3 to 5 in one: 23 kB a text
//! of 400 shingles and 17 bands.
//!
//! Keys of 64 bits keep texts apart that share no band ([`KeyWidth`]); those of 32 bits are the ones
//! that stores and the lines of `dedupdb map` have.

mod candidates;
mod code;
mod columns;
mod components;
mod forest;
mod keeper;
mod keys;
mod mark;
mod minima;
mod packed;
mod rarity;
mod sketcher;
mod sketches;
mod verifier;
mod walk;

pub use candidates::{CandidateQuery, Candidates};
pub use code::ContentCode;
pub use columns::texts;
pub use components::components;
pub use keeper::{Keeper, Verdict};
pub use keys::{KeyWidth, Keys};
pub use mark::Mark;
pub use minima::minima;
pub use packed::{PackedSets, verify};
pub use rarity::Rarity;
pub use sketcher::Sketcher;
pub use sketches::{Columns, Sketches};
pub use verifier::{Member, Verifier};
pub use walk::{BucketPairs, BucketSearch, BucketWalk};

pub(crate) use forest::Forest;
