//! Arguments of `compact`.

use crate::parse;

/// Free the space of removed documents, while the store is in use
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb stats  Show how much space it would free
  dedupdb compact
  dedupdb remove --older-than 90d && dedupdb compact

Writes everything that is in use into new files, which replace the old ones in one step at the end.
Until then it needs the same space again, and queries, also those of programs that have the store
open, are answered from the old files. A store with little to free may grow by some hundred
kilobytes instead, because the new index has some room of its own. You may stop it at any time; the
same command continues, and `reindex --cancel` discards what it has done.

Exit codes: 0 done, 2 error, 75 another process is writing to the store or rebuilding it, 130 interrupted.")]
pub(crate) struct CompactArgs {
    /// Memory for sorting, at least 384MiB; everything else takes about as much again
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,
}
