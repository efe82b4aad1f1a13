//! Arguments of `backup`.

use std::path::PathBuf;

use clap::ValueHint;

/// Copy the store into a new folder
///
/// The copy is a complete store: you can query it, or put it in the place of a damaged one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb backup /mnt/other/monday
  dedupdb --wait 10min backup \"backups/$(date +%F)\" && dedupdb check --store \"backups/$(date +%F)\"

COPY must be absent or empty. The copy appears complete or not at all: a backup that is killed or
interrupted leaves only a hidden folder and a lock file next to COPY, which the next backup to
it removes.

Exit codes: 0 done, 2 error; then there is no copy.")]
pub(crate) struct BackupArgs {
    /// Folder to create
    #[arg(value_name = "COPY", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
