//! Arguments of `remove`.

use crate::args::escaped::Escaped;
use crate::duration::{self, Age};
use crate::parse;

/// Remove documents
///
/// By their keys, or all that fit every condition given. Files on disk are not touched.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb remove articles/old.txt                     one document
  dedupdb remove --prefix articles/2019/              all whose keys begin so
  dedupdb remove --missing                            documents whose files were deleted
  dedupdb remove --older-than 90d --dry-run           which are they?
  dedupdb remove --older-than 2w --prefix https://news.example/

A document must fit all of --prefix, --missing and --older-than that are given. --dry-run lists
the keys and changes nothing.

--older-than goes by the time at which the text was added under its key, which `show` tells.
Adding the same text again does not make a document younger. Units are s, min, h, d, w and y
(365 days).

--missing looks for files from the current folder, so run it where add was run; it refuses if not
one file is found. Records and texts from standard input have no file and are never missing.

Exit codes: 0 something was removed, 1 nothing, 2 error.")]
pub(crate) struct Remove {
    /// Keys of documents
    #[arg(
        required_unless_present_any = ["prefix", "missing", "older_than"],
        conflicts_with_all = ["prefix", "missing", "older_than"],
        value_name = "KEY",
        value_parser = parse::key
    )]
    pub(crate) keys: Vec<String>,

    /// Documents whose keys begin so
    #[arg(long, value_name = "PREFIX", value_parser = parse::prefix)]
    pub(crate) prefix: Option<String>,

    /// Documents that came from files that no longer exist
    #[arg(long)]
    pub(crate) missing: bool,

    /// Documents that were added longer ago than this: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = duration::age)]
    pub(crate) older_than: Option<Age>,

    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// End each key of --dry-run with a NUL byte, and print it as it is: for xargs -0
    #[arg(short = '0', long, requires = "dry_run")]
    pub(crate) print0: bool,

    #[command(flatten)]
    pub(crate) escaped: Escaped,
}
