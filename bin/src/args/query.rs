//! Arguments of `query`.

use crate::args::containment::ContainmentArgs;
use crate::args::escaped::EscapedArgs;
use crate::args::files::FilesArgs;
use std::path::PathBuf;

use crate::ignored::IgnoreArgs;
use crate::parse;

/// Find the stored documents that resemble a text
///
/// Prints the most similar ones first. A file or record is not among its own matches, whatever the
/// path by which it was stored.
#[derive(Debug, clap::Args)]
#[command(override_usage = "\
dedupdb query [OPTIONS] <PATH>...
       dedupdb query [OPTIONS] --key <KEY>...")]
#[command(after_long_help = "\
Examples:
  dedupdb query draft.txt  Which stored documents resemble this file?
  dedupdb query --threshold 90% --limit 5 drafts/  At most five matches of at least 0.9 for each file
  dedupdb query --containment 0.8 draft.txt  Which stored documents are in this file, or have it?
  dedupdb query --quiet draft.txt > /dev/null || echo nothing similar
  dedupdb --json query pages.jsonl | jq -r 'select(.jaccard > 0.95).key'

Each line has QUERY, KEY and JACCARD, separated by tabs, and for equal texts `exact copy` or `same
words`. JACCARD is exact, or, if the store keeps no shingles, an estimate, such as ~0.8125±0.0345.
Keys are escaped, as \\n and \\\\, except with --json.

With --containment, matches are the documents of which at least that share is in the text, or that
have that share of it. Each line then ends with two more columns: the share of the query that the
match has, and the reverse. The store must find passages (`init --passage`).

With --nearest, matches are the K most similar of the documents that share a bucket with the text;
of those with a similarity of 0.5, 12.5% do by default. --exhaustive misses none.

Exit codes: 0 something was found, 1 nothing, 2 a --key is not stored, or an error.

Details in the documentation: reference/searching.md, reference/reading.md")]
pub(crate) struct QueryArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present_any = ["keys", "files_from"], value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Ask about the stored document with this key; may be repeated
    #[arg(long = "key", value_name = "KEY", value_parser = parse::name())]
    pub(crate) keys: Vec<String>,

    /// Minimum Jaccard similarity, instead of the store's: 0.9 or 90%; with --nearest also 0
    #[arg(long, value_name = "SHARE", value_parser = parse::share_or_zero, conflicts_with = "containment")]
    pub(crate) threshold: Option<f64>,

    /// Print the K most similar documents for each text, whatever their similarity
    #[arg(long, value_name = "K", value_parser = parse::at_least_one, conflicts_with_all = ["containment", "limit"])]
    pub(crate) nearest: Option<usize>,

    /// Compare with every stored text, so that no match is missed
    #[arg(long)]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// Print at most the N best matches for each text
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}
