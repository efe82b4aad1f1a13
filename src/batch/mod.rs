//! The steps of deduplication on plain slices, for engines that keep and move the data themselves.
//!
//! A data frame, a map/reduce job or a cluster holds the texts, sorts and joins them, and calls these functions in
//! between. They do no input or output and use no store. They return the same results as a [`Store`](crate::Store) with
//! the same [`Schema`](crate::Schema), bit for bit. Columns are as in Arrow: numbers in a slice, values of variable
//! length as offsets into bytes.
//!
//! | step | from | to | with |
//! |---|---|---|---|
//! | sketch | texts | hash, signature, band keys, packed shingles, fingerprints of each | [`Sketcher`] |
//! | meet | keys of one band or bucket | pairs to compare, each once | [`CandidateQuery`] |
//! | verify | pairs and packed shingles | exact similarities | [`PackedSets::jaccards`], [`verify`] |
//! | connect | pairs that match | components, each under its lowest id | [`components()`] |
//! | keep | the contents of a component, in order | the kept ones, and which of them others resemble | [`Keeper`] |
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
//! 1. Sketch each partition. Keep a row id, the hash, the size, the keys and the packed shingles. A store with a
//!    passage needs the fingerprints as well ([`Mark::shingles`]).
//! 2. Keep one of the rows with the same hash; the others are its copies. Texts without shingles match only their
//!    copies.
//! 3. Send `(key, code)` to the partition of the key, once for each band: 16 bytes each, 272 for a text with 17 bands.
//!    A code ([`ContentCode`]) stands for a content. Sort the rows of a partition by key and code, and pass them
//!    through a [`BucketWalk`], which does not hold a bucket in memory. The engine removes repeated pairs.
//! 4. Search large buckets, such as those of a template, once more by the rarest shingles of their contents
//!    ([`Rarity`]): use `(shingle, code)` in place of `(key, code)`.
//! 5. Join the keys and packed shingles to both codes of a pair, and [`verify`] the pairs that share a key.
//! 6. Call [`components()`] on each part of the matching pairs, and then on all results together.
//! 7. To keep one of several similar texts, let a [`Keeper`] judge the contents of each component in the order of their
//!    keys.
//!
//! If everything fits in one memory, [`CandidateQuery`] does step 3 for a matrix of keys.
//!
//! If packed shingles are sent to the buckets, [`Verifier`] does steps 3 to 5 in one. This sends 23 kB for a text of
//! 400 shingles and 17 bands.
//!
//! Keys of 64 bits distinguish texts that share no band ([`KeyWidth`]). Stores and the lines of `dedupdb map` use keys
//! of 32 bits.

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
pub use keys::{BandKeys, KeyWidth};
pub use mark::Mark;
pub use minima::minima;
pub use packed::{PackedSets, verify};
pub use rarity::Rarity;
pub use sketcher::Sketcher;
pub use sketches::{SketchColumns, Sketches};
pub use verifier::{BucketMember, Verifier};
pub use walk::{BucketPairs, BucketSearch, BucketWalk};

pub(crate) use forest::{Forest, members};
