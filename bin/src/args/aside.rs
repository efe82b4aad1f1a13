//! Arguments of `move`.

use std::path::PathBuf;

use clap::Arg;

use crate::args::JudgingArgs;
use crate::parse;

/// Move near-duplicates in a folder aside, and back
///
/// Of several similar files, the one that says more stays. The others go to the same paths below ASIDE. Nothing is deleted or
/// replaced, and --undo moves everything back.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb move notes/ notes-dropped --dry-run  Show what would be moved
  dedupdb move --undo notes-dropped
  dedupdb move notes/ notes-dropped --keys-from drop.keys  Move what was marked in a report

ASIDE is new or empty and on the same file system. Before the first file is moved,
ASIDE/.dedupdb-moved lists them all. --undo takes ASIDE, or this list, and moves the files back,
also after a run that was killed.

Prints a line for each file: FROM, TO, the key of the document that it resembles, JACCARD, and
`exact copy` or `same words`.

Left in place are records, files that changed since the run began or resemble one that changed,
files that a symbolic link in the folder leads to, files whose names are not UTF-8, and texts
without words. A file that cannot be read is named; the others are moved. One command at a time
moves files of a folder.

Exit codes: 0 done, 2 something could not be read or moved, 75 another process is moving files in
this folder, 130 interrupted.

Details: docs/reference/move.md, docs/reference/dedup.md (--keep and others),
docs/reference/reading.md")]
#[command(mut_args(apart_from_undo))]
pub(crate) struct MoveArgs {
    /// Folder to look through
    #[arg(required_unless_present = "undo", value_name = "FOLDER", value_parser = parse::path())]
    pub(crate) folder: Option<PathBuf>,

    /// Folder to move near-duplicates to
    #[arg(required_unless_present = "undo", value_name = "ASIDE", value_parser = parse::path())]
    pub(crate) aside: Option<PathBuf>,

    /// Move back what was moved to this folder
    #[arg(long, value_name = "ASIDE")]
    pub(crate) undo: Option<PathBuf>,

    /// Print what would be moved, and move nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

/// Refuses beside --undo what says how to read and judge.
fn apart_from_undo(arg: Arg) -> Arg {
    if ["undo", "dry_run"].contains(&arg.get_id().as_str()) {
        arg
    } else {
        arg.conflicts_with("undo")
    }
}
