//! Arguments of `add`.

use std::path::PathBuf;

use crate::inputs::Inputs;
use crate::left_out::Telling;
use crate::parse;

/// Store files and records, new and changed ones
///
/// Goes through folders to the bottom. The key of a file's document is its path as given, so run
/// this in the same folder each time.
///
/// Files of records hold many documents. A .jsonl file has an object a line, with its key in the
/// field "id" and its text in "text"; .csv, .tsv and .parquet files have columns of these names, or
/// a .tsv file has lines of a key, a tab and a text; a .warc file has pages, whose keys are their
/// addresses. Of an .html file the text is stored. All may be compressed, as .gz or .zst.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb add articles/ notes.txt                  files and folders
  dedupdb add --matches articles/ > pairs.tsv      near-duplicates as they are met
  dedupdb add --unique pages.jsonl                 keep the first of each kind only
  dedupdb add --dry-run articles/                  what would be added, and what is it like?
  curl -s https://example.org | dedupdb add - --key https://example.org
  dedupdb add crawl.jsonl.zst --text-field page.body --id-field page.url
  dedupdb add posts.csv --text-field body --id-field 1
  dedupdb add CC-MAIN-2026.warc.wet.gz --max-document 1MiB
  dedupdb add --format jsonl <(zcat a.gz b.gz)    a pipe is read once
  zcat old/*.gz | dedupdb add - --format jsonl --encoding latin1

Files of the size and time that they were stored with are not read again (--checksum reads them).
Documents whose files are gone stay until `dedupdb remove --missing`.

A file is one document, whatever its names. Symbolic links below a PATH are not followed without
--follow; a PATH that is one is. Of several names (hard links, links that are followed, a folder
mounted twice) the first counts, in the order of the paths and sorted by name, and names that are links
come last. A file that is stored under another path already is counted as that, and is no exact copy.

Left out and counted: binary files (those with a NUL byte, and PDF documents and others that are known
by how they begin), texts of more than --max-document, symbolic links and other names of a file,
devices, sockets, pipes in a folder, and folders of stores and of version control (.git and others; a
file .git that leads to one, too), and what --include, --exclude or --gitignore leave out. Name such a folder or a pipe to read it. -v names what is left out, --skipped FILE lists it. Of broken
records the first ten are reported with their file and number, the others counted, and the rest goes
on. Within a run the first text of an id is stored; a record with that id and another text is left
out, counted as repeated and an error. With --id-scope file ids hold in their file only. The ids of a
run take about 40 bytes of memory each. Text is UTF-8, or UTF-16 or UTF-32 with
a byte order mark, or what it looks like; the summary counts what was decoded how. Bytes that are no
characters are replaced by U+FFFD. A name of - is standard input; a file of that name is ./-.

--pre COMMAND reads each file, or those of --pre-glob, through a program: the output of `COMMAND PATH`, whose
standard input is the file, is the document, and the file's path is its key. For PDF that is a script with the line
pdftotext - - . The program is ended after --pre-time, with what it started; what it says of an error is told.

--dry-run reads, compares and counts as an add would, and leaves what is stored as it is; where
there is no store, it makes none. Beside a store it keeps what it has met in memory, up to half of
--memory, about 300,000 documents at 512MiB. What does not fit is not looked at: it says so, and
exits with 2.

The summary counts a document as exact copy or near-duplicate by the most similar one of all that were
stored before it. With --unique, as in dedup, those are only the ones that were kept: a copy of what
was kept out is then a near-duplicate of what it was kept out for.

--matches prints KEY, EARLIER_KEY and JACCARD with tabs between them, and the summary on standard
error. An interrupted run (Ctrl-C) keeps what it has, and the same command goes on from there.

Exit codes: 0 done, 2 something could not be read or stored, 130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct Add {
    /// Files and folders, or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Key of the text on standard input
    #[arg(long, value_name = "KEY", value_parser = parse::key)]
    pub(crate) key: Option<String>,

    /// List each near-duplicate and exact copy with the most similar earlier document
    #[arg(long)]
    pub(crate) matches: bool,

    /// Keep out near-duplicates and copies of what is stored
    #[arg(long)]
    pub(crate) unique: bool,

    /// Say what would be added, updated or kept out, and store nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Read files even if size and time are as stored
    #[arg(long)]
    pub(crate) checksum: bool,

    /// Memory to take, about, 384MiB at least: more means fewer and larger commits, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Show on standard error where the time went: each stage, and on Linux each thread
    #[arg(long)]
    pub(crate) timings: bool,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}
