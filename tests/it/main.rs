//! Tests of the library through its public interface.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it skipped and measured"
)]

mod admit;
mod backup;
mod batch;
mod beside;
mod carried;
mod clusters;
mod common;
mod concurrency;
mod contained;
mod corpora;
mod damage;
mod damaged_index;
mod errors;
mod explain;
mod folder;
#[cfg(unix)]
mod fork;
mod given_shingles;
mod golden_bytes;
mod handles;
mod ignore;
mod kernels;
mod layers;
mod lsh;
mod merge;
mod moved;
mod nearest;
mod numbered;
mod pages;
mod pairs;
mod passages;
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
