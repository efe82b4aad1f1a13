//! Arguments of `stats`.

/// Show the size, the contents and the parameters of the store
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb stats
  dedupdb stats --scan --clusters
  dedupdb --json stats | jq .documents

A bucket holds the contents whose signatures agree in one band. Large buckets make queries slow.

Exit codes: 0 done, 2 error.")]
pub(crate) struct StatsArgs {
    /// Also read the whole index: when the oldest and the newest document were added, what `compact`
    /// would free, and the largest buckets
    #[arg(long)]
    pub(crate) scan: bool,

    /// Also count connected clusters by size; this compares documents
    #[arg(long)]
    pub(crate) clusters: bool,
}
