//! Arguments of `compact`.

use crate::parse;

/// Give back the space of removed documents, while the store is in use
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb stats                                   what would it give back?
  dedupdb compact
  dedupdb remove --older-than 90d && dedupdb compact

Everything that is in use is written anew beside the store, and takes its place at the end, in one
step. Until then it takes as much space again; queries are answered from the old files, and so are
programs that have the store open to read. It is safe to stop it at any time; the same command
goes on from where it was, `reindex --cancel` forgets it.

Exit codes: 0 done, 2 error, 130 interrupted.")]
pub(crate) struct Compact {
    /// Memory to take for sorting, 384MiB at least; all the rest takes about as much
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,
}
