//! Arguments of `decontaminate`.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::args::files::FilesArgs;
use crate::ignored::IgnoreArgs;
use crate::parse;

/// Find benchmark questions in training data, and write the data without them
///
/// Looks in the documents of INPUT for the items of a benchmark, such as its questions and answers.
/// With -o, it writes the documents that have none, byte for byte, in the order of the input.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb decontaminate train/*.parquet --against mmlu.jsonl gsm8k.jsonl --against-field question
  dedupdb decontaminate train.jsonl --against bench.jsonl -o clean.jsonl --hits hits.tsv
  dedupdb decontaminate train.jsonl --against bench.jsonl -o clean.jsonl --action cut --margin 20

A document has an item if both have 13 words in a row (--passage), or if a stretch of the document
has 40% of the item's runs of 5 words (--containment), in most of its words. Every such document is
found, with all its items. Items of fewer than 5 words cannot be checked: they are counted, and -v
names them. An item that is in more than --common documents is named: it may be a template.

Without -o and --hits, the hits go to standard output. Each line has 13 columns, separated by tabs:
DOCUMENT, BENCHMARK, ITEM, FIELD, WORDS, LONGEST, COVERAGE, SHARE, START, END, ITEM_FIRST, ITEM_LAST
and TEXT.

Exit codes: 0 done, 2 something could not be read, 130 interrupted.

Details in the documentation: reference/decontaminate.md, reference/dedup.md (OUTPUT),
reference/reading.md")]
pub(crate) struct DecontaminateArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Files and folders of the benchmark
    #[arg(long, value_name = "PATH", required = true, num_args = 1.., value_parser = parse::path())]
    pub(crate) against: Vec<PathBuf>,

    /// Field or column of the benchmark whose texts are items, of all its files or of one; may be repeated
    /// [default: that of --text-field]
    #[arg(long, value_name = "[PATH:]NAME")]
    pub(crate) against_field: Vec<String>,

    /// File or folder to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) output: Option<PathBuf>,

    /// What to do with documents that have an item [default: drop with -o, else list]
    #[arg(long)]
    pub(crate) action: Option<ActionArg>,

    /// Number of words on each side of an item that --action cut cuts with it
    #[arg(long, value_name = "WORDS", default_value = "0")]
    pub(crate) margin: u32,

    /// How the names of the fields or columns of --action mark begin [default: benchmark]
    #[arg(long, value_name = "COLUMN", value_parser = parse::field, requires = "output")]
    pub(crate) mark: Option<String>,

    /// File that lists the hits: CSV if FILE ends in .csv, JSON if it ends in .jsonl or with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) hits: Option<PathBuf>,

    /// Number of words in a row that are a hit, 5 or more
    #[arg(long, value_name = "WORDS", default_value = "13", value_parser = clap::value_parser!(u32).range(5..))]
    pub(crate) passage: u32,

    /// Share of an item's shingles in a stretch of a document that is a hit: 0.4 or 40%
    #[arg(long, value_name = "SHARE", default_value = "0.4", value_parser = parse::share)]
    pub(crate) containment: f64,

    /// Name items that are in more than N documents
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) common: u64,

    /// Replace OUTPUT and the file of --hits; a folder becomes OUTPUT.old
    #[arg(long)]
    pub(crate) force: bool,

    /// Go on without named files that exist but cannot be read, and count them
    #[arg(long)]
    pub(crate) skip_unreadable: bool,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// What becomes of documents that have an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActionArg {
    /// Write the other documents
    Drop,
    /// Write all documents without their items
    Cut,
    /// Write all documents, with the verdict on each in fields or columns
    Mark,
    /// Write no documents
    List,
}

impl DecontaminateArgs {
    /// What becomes of documents that have an item.
    pub(crate) fn action(&self) -> ActionArg {
        match (self.action, &self.mark, &self.output) {
            (Some(action), ..) => action,
            (None, Some(_), _) => ActionArg::Mark,
            (None, None, Some(_)) => ActionArg::Drop,
            (None, None, None) => ActionArg::List,
        }
    }
}
