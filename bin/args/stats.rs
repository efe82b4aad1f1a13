//! Arguments of `stats`.

/// Tell what the store holds, its parameters and its size
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb stats
  dedupdb stats --clusters
  dedupdb --json stats | jq .documents

A bucket holds the contents whose signatures agree in one band. Large ones make queries slow.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Stats {
    /// Also tell how many connected clusters there are of which size, which compares documents
    #[arg(long)]
    pub(crate) clusters: bool,
}
