//! Arguments of `merge`.

use std::path::PathBuf;

use clap::ValueHint;

use crate::parse;

/// Add all documents of other stores
///
/// The stores must have the same parameters. Shingles and signatures are taken over as they are, so
/// no text is read.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb --store all merge monday tuesday wednesday
  dedupdb --store all merge shards/*

The result is that of adding the documents of each store in the order in which it got them: a key
that is in several has the text of the last. Times of adding are kept. The other stores are not
changed, and may be in use. A merge that was stopped is finished by the same command.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Merge {
    /// Folders of the other stores
    #[arg(required = true, value_name = "OTHER", value_hint = ValueHint::DirPath)]
    pub(crate) others: Vec<PathBuf>,

    /// Memory to take, about, 384MiB at least: more means fewer and larger commits, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,
}
