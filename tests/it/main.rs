//! Tests of the library through its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it skipped and measured"
)]

#[cfg(feature = "corpus")]
mod adding;
mod admit;
mod backup;
mod batch;
mod beside;
#[cfg(feature = "corpus")]
mod cluster_kernels;
mod clusters;
mod collection;
mod concurrency;
mod corpora;
#[cfg(feature = "corpus")]
mod corpus;
mod damage;
mod damaged_index;
#[cfg(feature = "corpus")]
mod dedup;
#[cfg(feature = "corpus")]
mod each;
mod errors;
#[cfg(feature = "eval")]
mod experiments;
mod explain;
mod folder;
#[cfg(unix)]
mod fork;
mod given_shingles;
mod handles;
mod imports;
mod kernels;
mod layers;
mod lsh;
mod merge;
mod moved;
mod numbered;
mod pages;
mod pairs;
#[cfg(feature = "plot")]
mod pictures;
mod planted;
mod progress;
mod prose;
mod rebuild;
mod recovery;
mod reindex;
mod relative;
mod runs;
mod salvage;
mod salvaged_index;
mod short_texts;
mod sketch;
mod small_sets;
mod store;
mod text;
mod tune;
mod turns;
