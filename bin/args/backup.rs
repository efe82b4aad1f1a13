//! Arguments of `backup`.

use std::path::PathBuf;

use clap::ValueHint;

/// Copy the store into a new folder
///
/// The copy is a store like any other: query it, or put it in the place of a damaged one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb backup /mnt/other/monday
  dedupdb --wait 10min backup \"backups/$(date +%F)\" && dedupdb check --store \"backups/$(date +%F)\"

DIR must not be there yet, or be empty. It appears whole or not at all: a backup that is killed
leaves only a hidden folder beside it, which the next one of that name clears away.

Exit codes: 0 done, 2 error; then there is no copy.")]
pub(crate) struct Backup {
    /// Folder to be made
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
