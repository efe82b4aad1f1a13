//! Arguments of `map`.

use std::path::PathBuf;

use super::Sketching;
use crate::inputs::Inputs;
use crate::left_out::Telling;

/// Write a line for each bucket of each document, for `reduce`
///
/// This and `reduce` find the pairs of documents that are alike without a store: as mapper and
/// reducer of Hadoop Streaming, in Spark, or on both sides of `sort`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb map < pages.jsonl | sort | dedupdb reduce > pairs.tsv
  dedupdb map articles/ pages.jsonl.zst | LC_ALL=C sort -S 50% | dedupdb reduce
  dedupdb map --format tsv < key-tab-text | sort | dedupdb reduce
  dedupdb map --format shingles --shingling ids < sets | sort | dedupdb reduce --shingling ids

Give `reduce` the same parameters; it says so if they are others. The pairs are those of `dedupdb
pairs` in a store with these parameters.

A line is KEY, a tab and a value. KEY is a band and its hash, such as 07:1a2b3c4d. Any sort will do
that puts equal keys side by side; LC_ALL=C is the fastest. The value has the document's id, a mark
of the parameters, and its shingles in base64. A text of N shingles takes about 45 + 4.4 N bytes, and
its id, in each band: fewer bands ship less. How much it was is in the summary, on standard
error.

Without PATH, standard input is read, as JSONL if --format does not say otherwise. Then every record
must have an id, for other mappers read standard input, too. Ids tell documents apart: of two texts
with the same id the second is left out, counted as repeated, and an error; `reduce` finds those of
several mappers where they meet. --id-scope file makes keys PATH#ID of the ids of files. The ids take
about 40 bytes of memory each.

With --format shingles a line is an id and the document's shingles, integers from 0 to
18446744073709551615, with blanks or tabs between them.

Exit codes: 0 done, 2 something could not be read, 130 interrupted.")]
pub(crate) struct Map {
    /// Files and folders as in add [default: standard input]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten, next_help_heading = "Parameters, to be given to reduce, too")]
    pub(crate) sketching: Sketching,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}
