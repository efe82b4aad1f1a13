//! Arguments of `add`.

use std::path::PathBuf;

use crate::file_list::FileListArgs;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse;

/// Store new and changed files and records
///
/// Goes through folders recursively. The key of a file is its path as given, so run this from the
/// same folder each time.
///
/// Files of records hold many documents. Each line of a .jsonl file is an object with a key in the
/// field "id" and a text in "text", and so is each element of an array in a .json file; .csv, .tsv
/// and .parquet files have columns of these names. A .tsv file without a header has lines of a key,
/// a tab and a text. A .warc file has pages, whose keys are their addresses. An .html file is read
/// without its tags. All files may be compressed as .gz, .zst, .xz or .bz2.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb add articles/ notes.txt  Add files and folders
  dedupdb add --matches articles/ > pairs.tsv  List near-duplicates as they are found
  dedupdb add --unique pages.jsonl  Keep only the first of several similar documents
  dedupdb add --unique --containment 0.8 pages.jsonl  Keep out excerpts and pages with the same text, too
  dedupdb add --dry-run articles/  Show what would be added
  curl -s https://example.org | dedupdb add - --key https://example.org --format html
  dedupdb add crawl.jsonl.zst --text-field page.body --id-field page.url
  dedupdb add posts.csv --text-field body --id-field 1
  dedupdb add CC-MAIN-2026.warc.wet.gz --max-document 1MiB
  dedupdb add --format jsonl <(zcat a.gz b.gz)  Read a pipe
  zcat old/*.gz | dedupdb add - --format jsonl --encoding latin1

A file whose size and time have not changed is not read again, unless --checksum is given. It counts
as unchanged, and so does a record that has come before with the same id and text. Documents whose
files were deleted stay until `dedupdb remove --missing`.

A file is one document, however many names it has. Symbolic links below a PATH are not followed
without --follow; a PATH that is a link is followed. Of several names for a file (hard links,
followed links, a folder mounted twice), the first one counts: in the order of the paths, sorted by
name, links last. A file that is stored under another path stays there, with its text of now, and
is counted as `other name`.

These are left out and counted:
  binary files  Files with a NUL byte, and PDF and other formats that are known by their first
    bytes
  large texts  Those larger than --max-document
  links and devices  Symbolic links, other names of a file, devices, sockets, and pipes in a
    folder
  some folders  Stores, and those of version control (.git and others). Name such a folder to read
    it
  job files  What Spark and Hadoop keep beside their files: _SUCCESS, .NAME.crc, _temporary,
    _delta_log
  put aside  Files that move put aside. Name their folder to read them
  excluded names  Those that --include, --exclude or --gitignore leave out

A PATH that is itself such a binary file, large text or device is an error: the other PATHs are
added, and the exit code is 2.

-v names everything that is left out, and --skipped FILE lists it. The first ten broken records are
reported with their file and number, and the others are counted; reading continues. If several
records of a file lack the field with the text, only the first one is reported.

If an id comes again with another text, in one file or from another file, the earlier text stays,
and the other record is left out, counted as repeated, and an error. So is a file, or a record
without an id, whose key is the id of an earlier record. With --id-scope all, an id names the same
document in all files, and a later file replaces its text, as a daily export wants. With --id-scope
file, ids belong to their file, and keys are PATH#ID. The store remembers what was said. Until then,
a record with the id and the text of another file counts as unchanged, and a note says so. Texts from
standard input belong to no file, and their ids are taken as they are. The ids of a run take about 40
bytes of memory each. A record whose id is PATH#NUMBER of an earlier record of its file replaces its
text and counts as updated.

Text may be UTF-8, or UTF-16 or UTF-32 with a byte order mark; other encodings are detected. The
summary counts texts per encoding. Invalid bytes are replaced by U+FFFD. In a file's key, each byte
of its name that is not UTF-8 is U+FFFD and two hexadecimal digits. The path - is standard input;
./- is a file of this name.

--pre COMMAND reads each file, or each that matches --pre-glob, through a program. It runs `COMMAND
PATH` with the file as standard input and takes the output as the document; the key is the file's
path. For PDF, use a script with the line `pdftotext - -`. After --pre-time, the program is
ended, with everything that it started in its process group. Its error output becomes part of the message. A file in
which it finds no text is left out, with a message.

--dry-run reads, compares and counts as `add` does, but stores nothing and creates no store. It
keeps new documents in memory, up to half of --memory: about 300,000 documents at 512MiB. If more
come, it says so, ignores them, and exits with 2.

The summary compares each document with all documents stored before it, and counts it by the most
similar one as an exact copy or a near-duplicate. With --unique, as in `dedup`, it compares with
those that were kept: a copy of a document that was kept out then counts as a near-duplicate. If a
stored document has a new text that resembles another one, --unique keeps the old text, and counts
the new one as kept out. The summary does not count documents with the same words, because a search
that only counts ends at the first match; --matches marks them.

With --containment 0.8, up to a fifth of a document that is kept out may be in no stored one, so a
short article in a long template is kept out because of another one: take the template away first, or
ask for more, such as 0.95. Documents of fewer than 20 words are kept out only as with --unique. A
document that contains stored ones is stored, and --matches lists the most similar of these. The
store must find passages, as by default.

With --matches, lines with KEY, EARLIER_KEY, JACCARD and, as in `pairs`, `exact copy` or `same words`,
separated by tabs, go to standard output, and the summary to standard error. With --containment, the
columns are KEY, EARLIER_KEY, JACCARD, CONTAINMENT, CONTAINMENT_OF_MATCH, and `kept out` or `stored`.
If a run is interrupted (Ctrl-C), the store keeps what was committed; the same command continues.

Exit codes: 0 done, 2 something could not be read or stored, 75 another process is writing to the
store, 130 interrupted.")]
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
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) listed: FileListArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}
