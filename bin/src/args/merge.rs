//! Arguments of `merge`.

use std::path::PathBuf;

use clap::ValueHint;

use crate::parse;

/// Add all documents of other stores
///
/// The stores must have the same parameters. Shingles, signatures and fingerprints are copied; no text is read.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb --store all merge monday tuesday wednesday
  dedupdb --store all merge shards/*

Documents are added in their original order, store by store. If several stores have a key with other
texts, it gets the text of the last one, and the first keys of which that is so are named: `merge`
does not know whether they are ids of one document, so unlike `add` it refuses none. The times at which documents were added are
kept. The other stores do not change, and may be in use. If a merge is stopped, run the same command
to finish it.

The length of passages (`init --passage`) may differ if the stored fingerprints serve for the longer
one: those of 20 words serve for 36, with shingles of 5 words, and those of any length for 0. A new
store gets the longest.

Exit codes: 0 done, 2 error, 75 another process is writing to the store, 130 interrupted.")]
pub(crate) struct MergeArgs {
    /// Folders of the other stores
    #[arg(required = true, value_name = "OTHER", value_hint = ValueHint::DirPath)]
    pub(crate) others: Vec<PathBuf>,

    /// Approximate memory to use, at least 384MiB: more makes commits fewer and larger, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,
}
