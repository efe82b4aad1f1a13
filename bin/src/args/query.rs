//! Arguments of `query`.

use crate::args::containment::ContainmentArgs;
use crate::args::escaped::EscapedArgs;
use crate::file_list::FileListArgs;
use std::path::PathBuf;

use crate::ignored::IgnoreArgs;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
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
  dedupdb query --threshold 90% --limit 5 drafts/  At most five matches of at least 0.9 for each
    file
  dedupdb query --nearest 3 draft.txt  The three most similar ones, however little they have in common
  dedupdb query --containment 0.8 draft.txt  Which stored documents are in this file, or have it?
  dedupdb query --key articles/old.txt  Which documents resemble this stored one?
  dedupdb query --quiet draft.txt > /dev/null || echo nothing similar
  curl -s https://example.org | dedupdb query - --format html
  dedupdb --json query pages.jsonl | jq -r 'select(.jaccard > 0.95).key'

Each line has three columns, separated by tabs: QUERY, KEY and JACCARD. A fourth one, `exact copy`
or `same words`, marks the same text, or another text with the same shingles, which may differ in case,
punctuation and symbols. JACCARD is exact, or, if the store keeps no shingles, an estimate with its
standard error, such as ~0.8125±0.0345. Control characters and backslashes in keys are escaped, as
\\n and \\\\; --json prints keys unescaped.

A record with id and text of another file's record is listed as its copy, under the id that both have.

With --containment, matches are the documents of which at least that share is in the text, or that
have that share of it, whatever else is in either. Each line then has five columns: QUERY, KEY,
JACCARD, CONTAINMENT, the share of the query's shingles that the match also has, and
CONTAINMENT_OF_MATCH, the reverse. The largest share comes first. The store must find passages (`init
--passage`). Matches are found by their passages: texts that are shorter than such a passage, or that
differ everywhere, may be missed; with --passage 20, one in a thousand. `pairs --containment` finds
all pairs in any store.

With --nearest K, matches are the K most similar of the documents that share a bucket with the text or, in
a store that finds passages, a fingerprint. Of documents with little in common most share neither: of those
with a similarity of 0.5, 12.5% share a bucket by default. --exhaustive compares with all stored texts and
misses none, which takes about a second for a million; documents without a common shingle are no matches.

With --ignore, such as the sheet that a class was given, all stored texts are compared, and none is
missed; the store need not find passages. A text with nothing else has no matches, not even its copies.

In JSON, `containment` is the share of the query's shingles that the match also has,
`containment_of_match` the share of the match's shingles that the query also has, and `bands` the
number of buckets that they share.

If nothing is found, a note on standard error says so, unless --quiet is given.

Exit codes: 0 something was found, 1 nothing, 2 a --key is not stored, or an error.")]
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
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) listed: FileListArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}
