//! Arguments of `link`.

use std::path::PathBuf;

use crate::inputs::Names;

/// Replace files that have the same bytes by links to one of them
///
/// The first of several identical files, sorted by name, stays as it is. The others become hard
/// links to it, or, with --reflink, files that share its bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb link --dry-run photos/  Show what would be linked
  dedupdb link photos/ > linked.tsv
  dedupdb link --reflink --exclude '*.iso' data/  On btrfs or XFS

Prints COPY, ORIGINAL and BYTES for each copy, separated by tabs, and a summary on standard error.
If it is interrupted, the same command continues.

Hard links are one file: a change through one name changes all, and the copy's own time is lost. A
reflink is a separate file with its own time and mode; it shares bytes until one of the two changes.

Each copy is compared byte by byte right before it is replaced, and left alone if one of the two has
changed. What a program writes at that moment into a copy that it has open is lost. A copy is
replaced in one step, so a run that is killed leaves each file intact. It may leave a file named
.dedupdb-link-NUMBER-NUMBER, which the next run removes.

Copies of another owner and, for hard links, of another mode are left alone and reported, and so are
copies that would lose extended attributes, such as an access list. Only one command at a time links
or moves files of a folder. Empty files, files on another file system, symbolic links, stores and
folders of version control are left alone.

Exit codes: 0 done, 2 something could not be read or replaced, 130 interrupted.")]
pub(crate) struct Link {
    /// Folder whose files are compared, recursively
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// Show what would be linked, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Share bytes between separate files, if the file system supports it
    #[arg(long)]
    pub(crate) reflink: bool,

    #[command(flatten)]
    pub(crate) names: Names,
}
