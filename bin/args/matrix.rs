//! Arguments of `matrix`.

use std::path::PathBuf;

use super::Signing;
use crate::inputs::Inputs;
use crate::left_out::Telling;

/// Write the signatures of texts as a table, for other programs
///
/// A row is a document, in the order in which they are read; a column is a permutation, and has the
/// least permuted shingle of each document as a whole number of 32 bits. No store is used.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb matrix articles/ -o signatures.csv
  dedupdb matrix articles/ --permutations 600 -o signatures.npy --keys keys.txt
  python3 -c 'import numpy; print(numpy.load(\"signatures.npy\").shape)'

In .csv, the first column is the document's key. A .npy file is an array of NumPy's (format 1.0) of
type <u4 and shape (documents, permutations); --keys tells which row is which document.

Two documents agree in a column with the probability of their Jaccard similarity. A document without
shingles, such as an empty file, has 4294967295 everywhere: two of them have the same row, though their
similarity is 0.

Both files appear once they are whole. Nothing is written where nothing could be read, or with --strict
where something could not.

Exit codes: 0 done, 2 something could not be read, or an error, 130 interrupted.")]
pub(crate) struct Matrix {
    /// Files and folders as in add, or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// File to write
    #[arg(short, long, value_name = "FILE.csv|npy")]
    pub(crate) output: PathBuf,

    /// File for the documents' keys, one a line in the order of the rows
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) signing: Signing,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}
