//! Arguments of `move`.

use std::path::PathBuf;

use clap::Arg;

use crate::args::JudgingArgs;
use crate::parse;

/// Move near-duplicates in a folder aside, and back
///
/// Of several similar files, the one that says more stays. Another one moves to the same path below ASIDE if one that stays has
/// the same lines or, for a file named like a copy, goes on behind them; pages and messages move only if their bytes are the
/// same. With --threshold, --keep or --keys-from, similar files move even if they differ. Nothing is deleted or replaced, and
/// --undo moves everything back.
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
`exact copy`, `same words` or `other words`; look at the last ones first.

Left in place are records, files that changed since the run began or resemble one that changed,
files that a symbolic link in the folder leads to, files whose names are not UTF-8, and texts
without words. A file that cannot be read is named; the others are moved. One command at a time
moves files of a folder.

Exit codes: 0 done, 2 something could not be read or moved, 75 another process is moving files in
this folder, 130 interrupted.

Details in the documentation: reference/move.md, reference/dedup.md (--keep and others),
reference/reading.md")]
#[command(mut_args(of_move))]
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

/// The argument, refused beside --undo if it says how to read and judge; the help of those that `dedup` has, too, speaks of
/// moving.
fn of_move(arg: Arg) -> Arg {
    let arg = match arg.get_id().as_str() {
        "undo" | "dry_run" => return arg,
        "keep" => arg.help(
            "Which of several similar files stays, also of those that differ; 3 leaves the first three [default: longest]",
        ),
        "protect" => arg.help(
            "Never move files whose names match GLOB, as in .gitignore; may be repeated",
        ),
        "threshold" => arg.help(
            "Move files that resemble one that stays by this Jaccard similarity, even if they differ: 0.8 or 80%",
        ),
        "keys_from" => arg.help(
            "Move only files whose keys are in FILE, separated by NUL bytes; if FILE has none, one key per line; \
             - is standard input",
        ),
        "against" => arg.help(
            "Move files that resemble a document in this store, file or folder; do not compare FOLDER with itself",
        ),
        "follow" => arg.help("Has no effect here: no symbolic links in folders are followed"),
        "temp_limit" => arg.help(
            "Disk space for texts that are stored until the end, as with --keep longest [default: nine tenths \
             of the free space]",
        ),
        _ => arg,
    };
    arg.conflicts_with("undo")
}
