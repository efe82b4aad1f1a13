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
  dedupdb pairs --threshold 95% --fold-copies  The most similar ones, each distinct text once
  dedupdb pairs --between 2025/ 2026/  Only pairs across two folders or crawls
  dedupdb pairs | sort -t$'\\t' -k3,3rn | head  The most similar ones first
  dedupdb pairs --containment 0.8  Texts that are mostly in another one, however long that is
  dedupdb pairs --passages --from essays/ | head  Which two share the longest passage?

Each line has KEY_A, KEY_B and JACCARD, separated by tabs, and for equal texts `exact copy` or `same
words`. JACCARD is exact, or, if the store keeps no shingles, an estimate, such as ~0.8125±0.0345.
Keys are escaped, as \\n and \\\\, except with --json.

Without --exhaustive, a pair is found if it shares a bucket: at the threshold with the recall that
`init` printed. Use --exhaustive if no pair may be missed, and below the store's threshold; it takes
more memory and time.

With --containment, the columns are CONTAINED, CONTAINER, CONTAINMENT and JACCARD. Every pair is
found; the store must keep shingles.

With --passages, the columns are KEY_A, KEY_B, LONGEST, the words of the longest passage that both
have, COVERAGE_A and COVERAGE_B, the shares of each text that are in passages of the other one, or -
if the text is not in --from. A store keeps no texts: --from names the files that have them, as they
were named for `add`.

Exit codes: 0 there are pairs, 1 there are none, 2 error.

Details in the documentation: reference/searching.md, reference/reading.md")]
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

    /// Memory for --exhaustive and --containment, at least 384MiB, besides 30 bytes a text: less takes longer
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
