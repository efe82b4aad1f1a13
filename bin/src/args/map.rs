//! Arguments of `map`.

use std::path::PathBuf;

use super::SketchingArgs;
use crate::args::files::FilesArgs;
use crate::parse;

/// Write a line for each bucket of each document, for `reduce`
///
/// `map` and `reduce` find similar documents without a store: as mapper and reducer of Hadoop
/// Streaming, in Spark, or on both sides of `sort`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb map < pages.jsonl | sort | dedupdb reduce > pairs.tsv
  dedupdb map articles/ pages.jsonl.zst | LC_ALL=C sort -S 50% | dedupdb reduce
  dedupdb map --format tsv < key-tab-text | sort | dedupdb reduce
  dedupdb map --format shingles --shingling ids < sets | sort | dedupdb reduce --shingling ids

Give `reduce` the same parameters; it reports a difference. The pairs are those of `dedupdb pairs`
in a store with these parameters.

Each line has a KEY, a tab and a value. KEY is a band and its hash, such as 07:1a2b3c4d. Use any
sort that puts equal keys next to each other; LC_ALL=C is the fastest. The value has the document's
id, a check of the parameters, the shingles in base64, and a checksum. A text of N shingles takes
about 54 + 4.4 N bytes plus its id, for each band: fewer bands move less data. The summary on
standard error says how much it was.

Without PATH, it reads standard input, as JSONL unless --format says otherwise. Then each record
must have an id, because several mappers may each read a standard input of their own. An id stands
for one document: if a second text has the same id, it is left out, counted as repeated, and an
error.

With --format shingles, each line has an id and the document's shingles: integers from 0 to
18446744073709551615, separated by blanks or tabs.

Exit codes: 0 done, 2 something could not be read, 130 interrupted.

Details in the documentation: reference/reading.md")]
pub(crate) struct MapArgs {
    /// Files and folders as in add [default: standard input]
    #[arg(value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Parameters, which reduce needs as well")]
    pub(crate) sketching: SketchingArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}
