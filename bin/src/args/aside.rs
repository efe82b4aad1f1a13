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
  dedupdb move notes/ notes-dropped > moved.tsv
  dedupdb move --undo notes-dropped
  dedupdb move notes/ notes-dropped --keys-from drop.keys  Move what was marked in a report
  dedupdb move notes/ notes-dropped --protect 'originals/'
  dedupdb move inbox/ inbox-known --against archive/

ASIDE is new or empty and on the same file system. A new one gets the permissions of FOLDER.

Prints a line for each file: FROM, TO, the key of the document that it resembles, JACCARD, and `exact
copy` or `same words`. All files are moved even if the reader of this list stops early.

Before the first file is moved, ASIDE/.dedupdb-moved lists them all. --undo takes ASIDE, or this list,
and moves the files back, also after a run that was killed. It refuses a list that was edited. If a
file that is there cannot be moved back, the list stays, and the same command continues.

Left in place are records, files that changed since the run began or resemble one that changed, files
that a symbolic link in the folder leads to, files whose names are not UTF-8, and texts without words.
A file that cannot be read is named, and the command exits with 2; the others are moved. Records that
cannot be read are only counted, since they stay anyway.

--keep, --protect, --keys-from, --against and the options for inputs are those of `dedup`, with one
difference: without --keep, the file that says more stays (more distinct shingles, without words that
were decoded wrongly), then one with fewer names that tell a copy, then the longer text, the shorter
name and the shorter path. A name that begins with a dot, ends in ~, bak, old, copy or Kopie, or is that
of a folder such as old, backup, node_modules, build, tmp or Trash, tells a copy. No file moves because
a record says the same.

With --against STORE, a file moves because of a record only if the file of that still has it, and of files
that resemble each other and are all stored, one stays. Files that were moved before are left out, and FOLDER and --against must not be among them.

One command at a time moves files of a folder, of a folder in it, or of one that contains it.

Exit codes: 0 done, 2 something could not be read or moved, 75 another process is moving files in this
folder, 130 interrupted.")]
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
