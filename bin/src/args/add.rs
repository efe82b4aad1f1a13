//! Arguments of `add`.

use std::path::PathBuf;

use crate::args::files::FilesArgs;
use crate::parse;

/// Store new and changed files and records
///
/// Goes through folders recursively. The key of a file is its path as given, so run this from the
/// same folder each time. Files whose size and time have not changed are not read again.
///
/// Files of records hold many documents. Each line of a .jsonl file is an object with a key in the
/// field "id" and a text in "text"; so is each element of an array in a .json file. Files in .csv, .tsv
/// and .parquet have columns of these names. HTML, mail and web archives (.warc) are read, too. All
/// files may be compressed as .gz, .zst, .xz or .bz2.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb add articles/ notes.txt  Add files and folders
  dedupdb add --unique pages.jsonl  Keep only the first of several similar documents
  dedupdb add crawl.jsonl.zst --text-field page.body --id-field page.url
  curl -s https://example.org | dedupdb add - --key https://example.org --format html

Documents whose files were deleted stay until `dedupdb remove --missing`. Binary files, texts larger
than --max-document, symbolic links, stores and folders such as .git are left out and counted. If an
id comes again with another text, the earlier text stays, and the other record is an error, unless
--id-scope is given.

The summary counts each document by the most similar one of those stored before it, as an exact copy
or a near-duplicate. With --matches, each line has KEY, EARLIER_KEY, JACCARD and, for equal texts,
`exact copy` or `same words`, separated by tabs. If a run is interrupted (Ctrl-C), the store keeps
what was committed; the same command continues.

Exit codes: 0 done, 2 something could not be read or stored, 75 another process is writing to the
store, 130 interrupted.

Details in the documentation: reference/add.md, reference/reading.md")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct AddArgs {
    /// Files and folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Key of the text on standard input
    #[arg(long, value_name = "KEY", value_parser = parse::name())]
    pub(crate) key: Option<String>,

    /// Print each near-duplicate and exact copy with the most similar earlier document
    #[arg(long)]
    pub(crate) matches: bool,

    /// Keep out near-duplicates and exact copies of stored documents
    #[arg(long)]
    pub(crate) unique: bool,

    /// With --unique, also keep out a document if a stored one has this share of its shingles or more: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, requires = "unique")]
    pub(crate) containment: Option<f64>,

    /// Show what would be added, updated or kept out, and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Read files even if their size and time have not changed
    #[arg(long)]
    pub(crate) checksum: bool,

    /// Approximate memory to use, at least 384MiB: more makes commits fewer and larger, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Print on standard error where the time went: each stage, and on Linux each thread
    #[arg(long)]
    pub(crate) timings: bool,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}
