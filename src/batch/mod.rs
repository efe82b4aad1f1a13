//! The steps of deduplication on plain slices, for engines that keep and move the data themselves.
//!
//! A data frame, a map/reduce job or a cluster holds the texts, sorts and joins them, and calls these functions in
//! between. They do no input or output and use no store. They return the same results as a [`Store`](crate::Store) with
//! the same [`Schema`](crate::Schema), bit for bit. If everything fits in one memory, a
//! [fleeting](crate::Options::fleeting) store is simpler.
//!
//! | step | from | to | with |
//! |---|---|---|---|
//! | sketch | texts | hash, band keys, packed shingles, fingerprints of each | [`Sketcher`] |
//! | meet | the contents of each bucket, in order | pairs to compare | [`BucketWalk`] |
//! | verify | the packed shingles of a pair | their exact similarity | [`verify`] |
//! | connect | pairs that match | components, each under its lowest id | [`components()`] |
//! | keep | the contents of a component, in order | the kept ones, and which of them others resemble | [`Keeper`] |
//!
//! ```
//! use std::collections::{BTreeMap, BTreeSet};
//!
//! use dedupdb::batch::{KeyWidth, Sketcher, components, verify};
//! use dedupdb::{Schema, sketching::Shingling};
//!
//! let schema = Schema::builder().shingling(Shingling::Word(2)).threshold(0.5).build()?;
//! let texts = [
//!     "The night tram runs again from Friday on, every half hour until four.",
//!     "Nobody knows who painted the harbour crane in the colours of a parrot.",
//!     "The night tram runs again from Friday on, every half hour until five!",
//!     "The night bus runs again from Friday on, every half hour until five!",
//! ];
//! let sketches = Sketcher::new(&schema, KeyWidth::Bits64)?.sketch_all(&texts);
//! let sketches = sketches.into_iter().collect::<Result<Vec<_>, _>>()?;
//!
//! let mut buckets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
//! for (row, sketch) in sketches.iter().enumerate() {
//!     for &key in &sketch.keys {
//!         buckets.entry(key).or_default().push(row);
//!     }
//! }
//! let mut matches = BTreeSet::new();
//! for rows in buckets.values() {
//!     for (at, &b) in rows.iter().enumerate() {
//!         for &a in &rows[..at] {
//!             let set = |row: usize| (sketches[row].size, &*sketches[row].packed);
//!             if verify(set(a), set(b)) >= Some(schema.threshold()) {
//!                 matches.insert((a, b));
//!             }
//!         }
//!     }
//! }
//! let matches: Vec<(usize, usize)> = matches.into_iter().collect();
//! assert_eq!(components(&matches)?, [(0, 0), (2, 0), (3, 0)]);
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
//! Keys of 64 bits distinguish texts that share no band ([`KeyWidth`]). Stores and the lines of `dedupdb map` use keys
//! of 32 bits.

mod code;
mod components;
mod forest;
mod keeper;
mod keys;
mod mark;
mod minima;
mod packed;
mod rarity;
mod sketcher;
mod walk;

pub use code::ContentCode;
pub use components::components;
pub use keeper::{Keeper, Verdict};
pub use keys::KeyWidth;
pub use mark::Mark;
pub use minima::minima;
pub use packed::verify;
pub use rarity::Rarity;
pub use sketcher::{Sketcher, TextSketch};
pub use walk::{BucketPairs, BucketSearch, BucketWalk};

pub(crate) use forest::{Forest, members};
