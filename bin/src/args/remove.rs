//! Arguments of `remove`.

use std::path::PathBuf;

use crate::args::escaped::EscapedArgs;
use crate::duration::{self, AgeArg};
use crate::parse;

/// Remove documents
///
/// Removes documents by key, or all that meet every given condition. Files on disk stay.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb remove articles/old.txt  One document
  dedupdb remove --keys-from drop.keys  Documents marked in a report
  dedupdb remove --prefix articles/2019/  All whose keys begin with this
  dedupdb remove --missing  Documents whose files were deleted
  dedupdb remove --older-than 90d --dry-run  List them first
  dedupdb remove --older-than 2w --prefix https://news.example/
  dedupdb remove --unseen-for 90d  What no crawl or `add` has met for 90 days

A document must meet all of --prefix, --missing, --older-than and --unseen-for that are given.
--dry-run lists the keys and changes nothing.

--older-than compares the time at which the text was added under its key, which `show` prints.
Adding the same text again does not change it. --unseen-for compares the day when the document was
last added, also if its text was the same or was kept out; `show` prints that day, in UTC. Units are
s, min, h, d, w and y (365 days).

--keys-from reads the lists that a page of `report` saves and that `list -0` prints. Lines are taken
as they are, or with --escaped as `list` prints them.

--missing looks for files from the current folder, so run it where you ran `add`. If most files are
not found, it refuses, unless --force says that they are gone; --dry-run lists them. Files on a
drive that is not mounted count as missing. Records and texts from standard input have no file and
are never missing.

Exit codes: 0 something was removed, 1 nothing, 2 error, 75 another process is writing to the store.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct RemoveArgs {
    /// Keys of documents
    #[arg(
        required_unless_present_any = ["keys_from", "prefix", "missing", "older_than", "unseen_for"],
        conflicts_with_all = ["prefix", "missing", "older_than", "unseen_for"],
        value_name = "KEY",
        value_parser = parse::name()
    )]
    pub(crate) keys: Vec<String>,

    /// Documents whose keys are in FILE, separated by NUL bytes; if FILE has none, one key per line; - is
    /// standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prefix", "missing", "older_than", "unseen_for"])]
    pub(crate) keys_from: Option<PathBuf>,

    /// Documents whose keys begin with PREFIX
    #[arg(long, value_name = "PREFIX", value_parser = parse::prefix())]
    pub(crate) prefix: Option<String>,

    /// Documents whose files no longer exist, seen from the current folder
    #[arg(long)]
    pub(crate) missing: bool,

    /// With --missing, remove the documents even if most of their files are not found
    #[arg(long, requires = "missing", conflicts_with_all = ["keys", "keys_from"])]
    pub(crate) force: bool,

    /// Documents that were added longer ago than AGE: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = duration::age)]
    pub(crate) older_than: Option<AgeArg>,

    /// Documents that were last added, even unchanged, longer ago than AGE, in whole days
    #[arg(long, value_name = "AGE", value_parser = duration::age)]
    pub(crate) unseen_for: Option<AgeArg>,

    /// List what would be removed and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// End each key of --dry-run with a NUL byte and print it unescaped, for xargs -0
    #[arg(short = '0', long, requires = "dry_run")]
    pub(crate) print0: bool,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,
}
