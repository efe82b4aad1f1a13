//! Arguments of `dedup`.

use std::path::PathBuf;

use clap::ValueEnum;
use dedupdb_corpus::dedup::{KeepBy, Unit};

use crate::args::JudgingArgs;
use crate::args::containment::ContainmentArgs;
use crate::file_list::FileListArgs;
use crate::parse;

/// Write a corpus without its near-duplicates
///
/// Keeps one of several similar documents, and writes what it keeps byte for byte, in the order of
/// the input. With --store, it also drops documents that resemble a stored one and adds the new
/// ones to the store. Without --store or its variable, it uses no store.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb dedup pages.jsonl -o clean.jsonl
  dedupdb dedup articles/ -o unique/ --keep longest --removed removed.tsv
  dedupdb dedup today/*.jsonl.zst -o today-new.jsonl.zst --store history

OUTPUT appears complete, or not at all. It is one of these:
  a file of records  If INPUT is one such file or -, or if OUTPUT ends in .jsonl, .json, .csv,
    .tsv, .warc, .mbox or .parquet
  a folder  If INPUT is a folder, a text or several files, or if OUTPUT ends in a slash
  a list  With --list: the paths of the kept files, one per line
  standard output  If OUTPUT is -

Binary files, broken records and the like are left out and counted, as by `add`. Do not delete files
because they are missing from the output; `dedupdb move` moves near-duplicates of a folder aside.

With --store, do not repeat a run that succeeded: its documents are stored, and the output would be
empty.

Each line of --removed has KEY, the key of the document that it resembles, JACCARD, the file and
number of both, and `exact copy`, `same words` or `contained`.

Exit codes: 0 done, 2 something could not be read or stored, 75 another process is writing to the
store, 130 interrupted.

Details in the documentation: reference/dedup.md, reference/reading.md")]
pub(crate) struct DedupArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// File or folder to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT", required = true)]
    pub(crate) output: Option<PathBuf>,

    /// Write all documents, with the verdict on each in fields or columns whose names begin with COLUMN
    #[arg(long, value_name = "COLUMN", value_parser = parse::field, conflicts_with = "list")]
    pub(crate) mark: Option<String>,

    /// Write the paths of the kept files instead of the files
    #[arg(long)]
    pub(crate) list: bool,

    /// End each path of --list with a NUL byte and write it unescaped, for xargs -0
    #[arg(short = '0', long, requires = "list")]
    pub(crate) print0: bool,

    /// File that lists what was dropped or cut and why; JSON with --json or if FILE ends in .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,

    /// Replace OUTPUT and the file of --removed; a folder becomes OUTPUT.old
    #[arg(long)]
    pub(crate) force: bool,

    /// Of similar records, keep the one with the largest FIELD, or with -FIELD the smallest: score,-date
    #[arg(long, value_name = "FIELD", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse::keep_by,
        conflicts_with_all = ["against", "containment", "cut_passages", "keys_from", "list", "unit"])]
    pub(crate) keep_by: Vec<KeepBy>,

    /// Of similar records, keep one whose FIELD has the first of these values, or else the second; decides
    /// before --keep-by; may be repeated
    #[arg(long, value_name = "FIELD=VALUE,...", value_parser = parse::prefer,
        conflicts_with_all = ["against", "containment", "cut_passages", "keys_from", "list", "unit"])]
    pub(crate) prefer: Vec<KeepBy>,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// Judge paragraphs (lines between blank ones) or lines instead of whole texts, and cut the later copies
    #[arg(long, groups = ["units", "parts"], conflicts_with_all = [
        "against", "containment", "keep", "keys_from", "list", "mark", "protect",
    ])]
    pub(crate) unit: Option<UnitArg>,

    /// With --unit, leave units of fewer words where they are
    #[arg(long, value_name = "N", default_value = "13", requires = "units")]
    pub(crate) min_words: usize,

    /// Cut each run of WORDS or more words that stands before, word for word, 8 or more
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(8..), groups = ["passages", "parts"], conflicts_with_all = [
        "against", "containment", "ignore", "keep", "keys_from", "list", "mark", "permutations", "protect",
        "shingling", "threshold", "unit",
    ])]
    pub(crate) cut_passages: Option<u32>,

    /// With --cut-passages, cut only runs of WORDS words that stand at N or more places, the first copy included
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(2..),
        requires = "passages")]
    pub(crate) min_count: u32,

    /// With --unit or --cut-passages, drop documents that lost more of their characters: 0.8 or 80%
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = parse::share, requires = "parts")]
    pub(crate) drop_above: f64,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,

    #[command(flatten)]
    pub(crate) listed: FileListArgs,
}

/// The parts of texts that are judged.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UnitArg {
    /// Lines between blank ones
    Paragraph,
    /// Lines
    Line,
}

impl From<UnitArg> for Unit {
    fn from(unit: UnitArg) -> Unit {
        match unit {
            UnitArg::Paragraph => Unit::Paragraph,
            UnitArg::Line => Unit::Line,
        }
    }
}
