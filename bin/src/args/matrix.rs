//! Arguments of `matrix`.

use std::path::PathBuf;

use super::SigningArgs;
use crate::args::files::FilesArgs;
use crate::parse;

/// Write the signatures of texts as a table, for other programs
///
/// Each row is a document, in the order of the input. Each column is a permutation, and holds the
/// smallest permuted shingle of each document as an unsigned 32-bit integer. No store is used.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb matrix articles/ -o signatures.csv
  dedupdb matrix articles/ --permutations 600 -o signatures.npy --keys keys.txt
  python3 -c 'import numpy; print(numpy.load(\"signatures.npy\").shape)'

The first column of a .csv file is the document's key. A .npy file is a NumPy array (format 1.0) of
type <u4 and shape (documents, permutations); the file of --keys has the key of each row.

Two documents agree in a column with a probability equal to their Jaccard similarity. A document
without shingles, such as an empty file, has 4294967295 in every column. Such documents have equal
rows, although they resemble no other text.

Both files appear when they are complete. Nothing is written if no document could be read, or if,
with --strict, one of them could not.

Exit codes: 0 done, 2 something could not be read, or an error, 130 interrupted.

Details in the documentation: reference/reading.md")]
pub(crate) struct MatrixArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// File to write
    #[arg(short, long, value_name = "FILE.csv|npy")]
    pub(crate) output: PathBuf,

    /// File for the documents' keys, one per line, in the order of the rows
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) signing: SigningArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}
