//! Arguments of `dedup`.

use std::path::PathBuf;

use dedupdb::sketching::Shingling;
use dedupdb_corpus::Glob;
use dedupdb_corpus::dedup::Keep;

use crate::args::escaped::Escaped;
use crate::inputs::Inputs;
use crate::left_out::Telling;
use crate::parse;

/// Write a corpus without its near-duplicates
///
/// Keeps one of several similar documents, and writes what it keeps byte for byte, in the order of
/// the input. With --store, it also drops documents that resemble a stored one and adds the new
/// ones to the store. Unless --store or its variable is given, it uses no
/// store, not even one in the current folder.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb dedup pages.jsonl -o clean.jsonl
  dedupdb dedup today/*.jsonl.zst -o today-new.jsonl.zst --store history
  dedupdb dedup crawl/*.parquet -o clean/
  dedupdb dedup articles/ -o unique/ --keep longest --removed removed.tsv
  dedupdb dedup articles/ -o files-to-keep --list
  zcat posts.csv.gz | dedupdb dedup - --format csv -o - > clean.csv
  dedupdb dedup notes/ --move-to notes-dropped
  dedupdb dedup --undo notes-dropped/.dedupdb-moved
  dedupdb dedup notes/ --move-to notes-dropped --keys-from drop.keys
  dedupdb dedup notes/ --move-to notes-dropped --protect 'originals/'

OUTPUT is one of these:
  a file of records  If the input is one file of records or standard input, or if OUTPUT ends in
    .jsonl, .csv, .tsv, .warc or .parquet. Then all inputs have that format, and tables have the
    same header or columns, which are written once
  a folder  If the input is a folder, several files or a text, or if OUTPUT ends in a slash. Files
    keep their paths, below the one folder or as given. Each file of records has its kept records,
    even if there are none; other files are present if they are kept
  a list  With --list: the paths of the kept files, one per line, with control characters and
    backslashes escaped, as \\n and \\\\, or unescaped with -0. A file with several names (hard
    links) is listed by the first one
  standard output  If OUTPUT is -

Records are copied as they are: lines of JSONL, rows of CSV and TSV, records of WARC. Blank lines
are dropped. Rows of Parquet keep all their columns, nested ones included: the output has the
schema, the metadata and the compression of the input, and a group of rows for each of its groups
that keeps a row. A file that is damaged, or cannot be read, ends the run, and no file is written.
But a group that loses no row is copied byte for byte, and damage in its other columns with it.

In a .jsonl file and on standard output, rows of Parquet become lines with all their columns: lists
become arrays, structures and maps become objects, times are written as in ISO 8601, and bytes that
are not text in base64.

A byte order mark is dropped, and files in UTF-16 or in the encoding of --encoding are written in
UTF-8. Compressed records are written uncompressed, unless OUTPUT or the file in the folder ends in
.gz, .zst, .xz or .bz2. What `add` leaves out, such as broken records and binary files, is left out
here and counted; a folder of output does not contain it. But an INPUT that is itself a file that
cannot be read ends the run, and nothing is written, unless --skip-unreadable is given.

The elements of an array in a .json file are written as an array, an element per line, if OUTPUT or
the file in the folder ends in .json, and as lines otherwise.

Pairs are found as by `query`: at the threshold the share that `init` prints, 98% by default, and
nearly all of the more similar ones. Every dropped document was compared exactly.

--keep decides which one is kept:
  first  The first one in the input
  longest  The largest file, or the record with the longest text; of equal ones, a file that is not
      hidden, then the one with the shorter name, then the shorter path, or the first
  newest  The one whose file changed last; in one file, the last record
  3  The first one and the first two that resemble it; likewise for other numbers
  none  None of them, as a filter against contamination

Documents are judged in this order, and dropped if they resemble one that was kept. The input is
read once. For longest, newest and none, its texts and records are stored in a temporary folder
until the end.

The summary counts a dropped document as an exact copy or a near-duplicate of the kept one; near-duplicates
with the same words are counted among these. A text without words is never dropped. A copy
of a near-duplicate is therefore a near-duplicate; `add`, which keeps all documents, counts it as an
exact copy.

--protect names files that are never dropped. A pattern also matches a file by another name (hard link)
or by a symbolic link to it. Protected files are judged first: a document that resembles one is dropped.
Patterns begin at the folder INPUT, as those of --include. A pattern that matches no file is an error,
and nothing is done.

--keys-from drops only documents whose keys are in FILE, such as the list of what you marked on the page
of `report`, and only if they resemble a document that is kept. The others are judged before them. So
you can drop all of a list, and at least one of several similar documents stays. A file is found by any
of its paths and names. `dedup` names each listed document that it does not drop. If a listed key
belongs to no document, it drops the others and exits with 2. Give the parameters and the options for
inputs of the report here, too. --keep has no meaning then. Both options read all documents first, as
--keep longest does.

--against drops documents that resemble one in another store, which is only read, or in files and
folders, which are read like the input. Documents of the input are not compared with each other, and
nothing is stored. Files of records need the same fields as INPUT (--text-field, --id-field). If none of
the records can be read, nothing is written. An input is refused if it is one of these files or folders,
contains one, or lies in one. If the store contains the input files themselves, these match only
themselves; --move-to leaves them in place.

--mark dup writes all documents in their order, each with four more fields or columns at the end:
dup_keep (true or false), dup_cluster (a number below 2^53 that follows from the representative's
key), dup_representative (the key of the document that it resembles, or its own) and dup_similarity
(1 for the representative). A record without a text is written with nulls, or empty cells, in these
columns; a line that is no JSON object, and a row with more cells than the header, are left out.
Rows with fewer cells get empty ones. --mark works for JSONL, CSV, TSV with a header, and Parquet,
where Arrow's own list of the columns is dropped. The values are UTF-8, which in JSONL of another
encoding is written as \\u escapes; for a table in another encoding, give --encoding, and all of it
is written in UTF-8.

Stored documents (--store or DEDUPDB_STORE) come before all others and are never replaced. A stored
document counts as a duplicate under every key, including its own, so nothing is written twice. If a
key is stored with another text, the new text is stored as KEY#HASH.

--force replaces a file, or a folder that dedupdb wrote. The list .dedupdb-output in the folder says
which files those are. If a file was changed or added, it is named, and nothing is replaced. Links
and stores are never replaced, and an output without documents replaces nothing: that is an error.
The old output is deleted after the new one is in place. If a run is killed in between, one of them
is in place, or the next run restores the old one.

OUTPUT appears complete and durable, or not at all. A run that is killed or stopped leaves its
documents in the store; the next `dedup` removes them first and says so. The same command therefore
gives the same output, unless it reports that a search skipped candidates (--false-candidates all
avoids this). If OUTPUT exists although its run was killed, repeat the command with --force. If it
then says that no document was kept, the killed run had ended in the store: OUTPUT is complete and
stays, and the temporary files are removed. Do not repeat a run that succeeded: its documents are
stored, and the output would be empty. After a crash, what went to standard output before is written
again. Temporary files are in the folder .OUTPUT.dedup next to OUTPUT.

--removed writes a line for each dropped document, in the order of judgement. In a .csv file, the
fields are those of JSON (FILE.jsonl), below a header. Otherwise the columns are separated by tabs:
KEY, the key of the document that it resembles, JACCARD, the file and number of the dropped record,
the file and number of the other one, which are empty if it is of a store, and `exact copy`, or `same
words` if another text has the same shingles. A file whose name is not UTF-8 is named by its key, which is not its path. The list takes about
40 bytes of memory for each kept document, and 120 if it is a file.

Without --follow, no symbolic link is in this list, and never another name of a file. Without --store, you can delete the
exact copies in it and lose no text. Pictures and links, and with --pre all that COMMAND does not
print, are not text. If a file that --list or --removed names changed or vanished after it was read,
`dedup` names it, writes nothing (but with -o -, records are printed by then) and exits with 2. Do not delete files because they are missing from
the output: files that dedupdb does not read are in neither. With --store, a document may be dropped
because of an earlier run, and the file in the list may be the only copy on disk.

--move-to moves files instead of writing an output: a dropped file of the one folder INPUT goes to
the same path below DIR, which is new or empty and on the same file system. It prints FROM, TO, the
key of the document that it resembles, JACCARD, and `exact copy` or `same words`. A new DIR gets the
permissions of INPUT. All files are moved even if the reader of this list stops early. Before the
first file is moved, DIR/.dedupdb-moved lists them all; --undo takes this list, or DIR, and moves
them back, also after a run that was killed. No file is ever replaced. Left in place are records,
files that changed since the run began or resemble one that changed, files that a symbolic link in
the folder leads to, and files whose name is not UTF-8. --undo refuses a list that was edited. If a
file that is there cannot be moved back, the list stays, and the same command continues.

If an id occurs again with another text, `dedup` keeps both records, counts the second as repeated,
and exits with 2, because readers of OUTPUT cannot tell the two apart. The same holds for a file, or
a record without an id, whose key is the id of an earlier record. With --id-scope file, ids belong
to their file only. The ids take about 40 bytes of memory each.

Exit codes: 0 done, 2 something could not be read or stored, 130 interrupted.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct Dedup {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "undo", value_name = "INPUT", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// File or folder to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT", required_unless_present_any = ["move_to", "undo"])]
    pub(crate) output: Option<PathBuf>,

    /// Instead of writing OUTPUT, move the files that would be dropped from the folder INPUT to DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "mark", "list", "removed", "force"])]
    pub(crate) move_to: Option<PathBuf>,

    /// Move back what --move-to moved; MANIFEST is .dedupdb-moved in DIR
    #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["paths", "output", "move_to", "mark", "list", "removed", "force", "protect", "keys_from"])]
    pub(crate) undo: Option<PathBuf>,

    /// With --move-to or --undo: print what would be moved, and move nothing
    #[arg(long, conflicts_with = "output")]
    pub(crate) dry_run: bool,

    /// Which of several similar documents to keep: first, longest, newest, a number of them, or none
    /// [default: first; with --move-to, longest]
    #[arg(long, value_name = "WHICH", value_parser = parse::keep_which())]
    pub(crate) keep: Option<Keep>,

    /// Write all documents, with the verdict on each in fields or columns whose names begin with COLUMN
    #[arg(long, value_name = "COLUMN", value_parser = parse::field, conflicts_with = "list")]
    pub(crate) mark: Option<String>,

    /// Never drop documents of files whose names match GLOB, as in .gitignore; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = parse::glob)]
    pub(crate) protect: Vec<Glob>,

    /// Drop only documents whose keys are in FILE, separated by NUL bytes; if FILE has none, one key per line;
    /// - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "keep")]
    pub(crate) keys_from: Option<PathBuf>,

    /// Drop documents that resemble one in this store, file or folder; do not compare the input with itself
    #[arg(long, value_name = "STORE|PATH", conflicts_with = "keep")]
    pub(crate) against: Option<PathBuf>,

    /// Write the paths of the kept files instead of the files
    #[arg(long)]
    pub(crate) list: bool,

    /// End each path of --list with a NUL byte and write it unescaped, for xargs -0
    #[arg(short = '0', long, requires = "list")]
    pub(crate) print0: bool,

    /// File that lists what was dropped and why; JSON with --json or if FILE ends in .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,

    /// Replace OUTPUT and the file of --removed: files, and folders that dedupdb wrote
    #[arg(long)]
    pub(crate) force: bool,

    /// Go on without files that are named and cannot be read, and count them
    #[arg(long)]
    pub(crate) skip_unreadable: bool,

    /// Approximate memory to use, at least 384MiB: more makes commits fewer and larger, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Disk space for temporary texts and records of --keep longest and newest [default: nine tenths of
    /// the free space]
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) temp_limit: Option<u64>,

    #[command(flatten)]
    pub(crate) escaped: Escaped,

    #[command(flatten)]
    pub(crate) parameters: Parameters,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// Parameters of the comparison; an existing store has its own.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Parameters, unless a store has them")]
pub(crate) struct Parameters {
    /// Minimum Jaccard similarity of near-duplicates, 0.8 or 80% [default: 0.8]
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids [default: word:5]
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>)]
    pub(crate) shingling: Option<Shingling>,

    /// Number of slots of a signature [default: 128]
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,
}
