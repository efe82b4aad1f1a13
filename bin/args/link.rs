//! Arguments of `link`.

use std::path::PathBuf;

use crate::inputs::Names;

/// Let files that are the same byte for byte share their bytes on disk
///
/// The first of them, sorted by name, stays as it is; the others become further names of it (hard links), or
/// files that share its bytes (--reflink).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb link --dry-run photos/                   what would be linked?
  dedupdb link photos/ > linked.tsv
  dedupdb link --reflink --exclude '*.iso' data/   on btrfs or XFS

Prints COPY, ORIGINAL and BYTES with tabs between them for each copy, and a summary on standard error. The
same command goes on from where it was interrupted.

A hard link is the same file: whoever changes one changes both, and the time of change of the copy is gone.
A reflink is a file of its own with its own time and mode; it shares bytes until one of both is changed.

A copy is compared byte by byte right before, and left as it is if one of both changed since they were met;
what a program writes into a copy that it has open at that moment is lost. It is replaced in one step, so a
run that is killed leaves each file whole; it may leave a name .dedupdb-link-*, which the next run removes.
Left alone and told: copies of another owner or, for hard links, of another mode. Left alone: empty files,
files on another file system than their likes, symbolic links and what is behind them, stores, and folders of
version control.

Exit codes: 0 done, 2 something could not be read or replaced, 130 interrupted.")]
pub(crate) struct Link {
    /// Folder whose files are compared, with all below it
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Let copies share bytes and stay files of their own, where the file system can
    #[arg(long)]
    pub(crate) reflink: bool,

    #[command(flatten)]
    pub(crate) names: Names,
}
