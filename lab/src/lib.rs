//! Experiments with [`dedupdb`]: what is found, at what cost, and what theory predicts.
//!
//! - [`Collection`]: a few texts in memory, with their shingles, signatures and buckets.
//! - [`eval`]: experiments, from sets, texts or a store to rows of figures beside their prediction.
//! - [`plot`]: figures as SVG and PNG.
//! - [`mapreduce`]: the systems of the papers: documents as lines, one for each bucket, and sorted lines as pairs.
//! - [`diff`]: two texts word by word.
//!
//! ```
//! use dedupdb::Schema;
//! use dedupdb_lab::Collection;
//!
//! let documents = [("tram", "the night tram runs again"), ("bus", "the night bus runs again")];
//! let schema = Schema::builder().shingling("word:1".parse()?).build()?;
//! let collection = Collection::new(&schema, documents)?;
//! assert_eq!(collection.jaccard(0, 1), Some(4.0 / 6.0));
//! # Ok::<(), dedupdb::Error>(())
//! ```

mod collection;
pub mod diff;
pub mod eval;
pub mod mapreduce;
mod number;
pub mod plot;

pub use collection::Collection;
