//! Arguments of `pairs`.

use std::path::PathBuf;

use clap::Arg;

use crate::args::containment::ContainmentArgs;
use crate::ignored::IgnoreArgs;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse;

/// List all pairs of similar documents
///
/// Lists each pair once: exact copies first, then the others in the order of their buckets or, with
/// --exhaustive or --containment, by the longer text. With --passages, the pair with the longest shared
/// passage comes first.
#[derive(Debug, clap::Args)]
#[command(mut_args(of_files))]
#[command(after_long_help = "\
Examples:
  dedupdb pairs  All similar pairs
  dedupdb pairs --threshold 95% --fold-copies  The most similar ones, each distinct text once
  dedupdb pairs --between 2025/ 2026/  Only pairs across two folders or crawls
  dedupdb pairs | sort -t$'\\t' -k3,3rn | head  The most similar ones first
  dedupdb pairs --exhaustive --threshold 0.4  Far below the threshold of the bands
  dedupdb pairs --containment 0.8  Texts that are mostly in another one, however long that is
  dedupdb pairs --passages --from essays/ | head  Which two share the longest passage?

Each line has three columns, separated by tabs: KEY_A, KEY_B and JACCARD. A fourth one,
`exact copy` or `same words`, marks the same text, or another text with the same shingles, which may differ
in case, punctuation and symbols. JACCARD is exact, or, if the store keeps no shingles, an estimate with its standard error, such as ~0.8125±0.0345. Control
characters and backslashes in keys are escaped, as \\n and \\\\; --json prints keys unescaped.

Without --exhaustive, a pair is found if it shares a bucket: at the threshold with the recall that
`init` printed. With it, every pair is found. Use it to measure what the bands miss, if no pair may
be missed, and below the store's threshold. It takes more memory: for each shingle in the store,
about 4 bytes at a threshold of 0.8 and 18 at 0.1, up to --memory, and 30 bytes for each text. Where
--memory is not enough, shingles are read several times, and pairs come in another order.

With --containment, each line has the columns CONTAINED, CONTAINER, CONTAINMENT and JACCARD.
CONTAINMENT is the share of the first text's distinct shingles that the second has. Every pair is
found, as with --exhaustive, in about as much memory; the store must keep shingles. The container is
the text with more shingles, whichever prefix of --between it has. Texts with fewer than N - K + 1
distinct shingles of K tokens are left out, N being --shortest; these are all texts of fewer than N
tokens, and some that repeat themselves. Exact copies are listed whatever their length.

With --ignore, texts are compared without what a template or a licence has of them, as with --exhaustive.
Of what is left nothing, or with --containment too little, is in no pair, not even with its copies.

With --passages, each line has the columns KEY_A, KEY_B, LONGEST, COVERAGE_A and COVERAGE_B. LONGEST is the
number of words of the longest passage (see `passages`) that both have; COVERAGE is the share of the
words of a text that are in passages which the other one has, or - if its text is not in --from. The
longest come first, then those of greater coverage, then by keys. A store keeps no order of words, so the
texts are read again: --from names the files that have them, as they were named for `add`. A pair is found if
one of its texts is there. Texts that are not stored, or have changed, are counted and not compared.
Pairs take 24 to 48 bytes of memory each, and each document its key and about 100. With --limit N, memory
holds the N best, and others go to a temporary file. --at-least takes other lengths than the store's; shorter
passages are found by chance. `explain KEY_A KEY_B` shows the passages of a pair.

Exit codes: 0 there are pairs, 1 there are none, 2 error.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct PairsArgs {
    /// Minimum Jaccard similarity, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, conflicts_with = "containment")]
    pub(crate) threshold: Option<f64>,

    /// List only pairs of a key that begins with A and a key that begins with B
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_parser = parse::any_prefix())]
    pub(crate) between: Vec<String>,

    /// Treat documents with the same text as one: the one whose key sorts first
    #[arg(long)]
    pub(crate) fold_copies: bool,

    /// Find every pair, by comparing shingles instead of buckets
    #[arg(long)]
    pub(crate) exhaustive: bool,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// Memory for --exhaustive and --containment, besides 30 bytes a text: less takes longer
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "1GiB")]
    pub(crate) memory: u64,

    /// Rank pairs by the longest passage that both texts have, word for word
    #[arg(long, requires = "from", conflicts_with_all = OF_SIMILARITY)]
    pub(crate) passages: bool,

    /// With --passages, files and folders with the stored texts, or - for standard input
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "passages", value_parser = parse::path())]
    pub(crate) from: Vec<PathBuf>,

    /// With --passages, shortest passage, in words [default: the one that the store was made for]
    #[arg(long, value_name = "WORDS", requires = "passages")]
    pub(crate) at_least: Option<u32>,

    /// With --passages, list only the N best pairs
    #[arg(long, value_name = "N", requires = "passages", value_parser = parse::at_least_one)]
    pub(crate) limit: Option<usize>,

    /// With --passages, compare all documents, however many share a part of a text
    #[arg(long, requires = "passages")]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}

/// The options about similar texts as a whole.
const OF_SIMILARITY: [&str; 5] = [
    "threshold",
    "exhaustive",
    "containment",
    "fold_copies",
    "memory",
];

/// Moves an option about reading files below a heading that says when files are read.
fn of_files(arg: Arg) -> Arg {
    if arg.get_help_heading() == Some("Inputs") {
        arg.help_heading("Reading files, for --from")
    } else {
        arg
    }
}
