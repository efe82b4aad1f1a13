//! Arguments of `load`.

use std::path::PathBuf;

use clap::ValueHint;

use crate::left_out::LeftOutArgs;
use crate::parse;

/// Store documents from sketches that Spark made
///
/// `dedupdb.spark.sketch` makes sketches of texts and writes them as Parquet. No text is read here.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb load sketches/
  dedupdb --store all load 'sketches/part-*.parquet'

The store answers as if the texts had been added with `--id-scope all`, in the order of the files
and their rows: of two rows with one key, the later one stays. A new store gets the parameters of
the sketches. An existing one must have the same parameters, except that it need not keep shingles.
It may have another length of passages (`init --passage`) if the fingerprints of the sketches serve:
those of 20 words serve for 36, with shingles of 5 words, and those of any length for 0. A file that
is damaged or has other parameters is an error that names the file. Rows without a sketch, whose key
or text was null, are left out and counted.

If a load is stopped, run the same command to finish it.

Exit codes: 0 done, 2 something could not be read or stored, 75 another process is writing to the
store, 130 interrupted.")]
pub(crate) struct LoadArgs {
    /// Files of sketches, or folders, of which all files *.parquet are read but those that begin with . or _
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Approximate memory to use, at least 384MiB: more makes commits fewer and larger, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}
