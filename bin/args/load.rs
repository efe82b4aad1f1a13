//! Arguments of `load`.

use std::path::PathBuf;

use clap::ValueHint;

use crate::left_out::Telling;
use crate::parse;

/// Store documents by their sketches, which Spark made
///
/// Sketches are what `dedupdb.spark.sketch` makes of texts, written as Parquet. No text is read.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb load sketches/
  dedupdb --store all load 'sketches/part-*.parquet'

The store answers as if the texts had been added, in the order of the files and of their rows. A store
that is made has the parameters of the sketches. Another one must have the same; that it keeps shingles or
not is its own choice. A file that is damaged, or of other parameters, is an error that names it. Rows
without a sketch, whose key or text was null, are left out and counted.

A load that was stopped is finished by the same command.

Exit codes: 0 done, 2 something could not be read or stored, 130 interrupted.")]
pub(crate) struct Load {
    /// Files of sketches, or folders with files *.parquet
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Memory to take, about, 384MiB at least: more means fewer and larger commits, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    #[command(flatten)]
    pub(crate) telling: Telling,
}
