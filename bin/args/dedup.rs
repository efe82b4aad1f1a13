//! Arguments of `dedup`.

use std::path::PathBuf;

use dedupdb::dedup::Keep;
use dedupdb::sketching::Shingling;

use crate::inputs::Inputs;
use crate::left_out::Telling;
use crate::parse;

/// Write a corpus without its near-duplicates
///
/// Of documents that are alike one is kept, and what is kept is written byte for byte and in the
/// order of the input. With --store, documents like one that is stored are dropped too, and what is
/// new is added to the store; without, no store is used, not even the one in the current folder.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb dedup pages.jsonl -o clean.jsonl
  dedupdb dedup today/*.jsonl.zst -o today-new.jsonl.zst --store history
  dedupdb dedup crawl/*.parquet -o clean/
  dedupdb dedup articles/ -o unique/ --keep longest --removed removed.tsv
  dedupdb dedup articles/ -o files-to-keep --list
  zcat posts.csv.gz | dedupdb dedup - --format csv -o - > clean.csv

What OUTPUT is:
  a file of records   for one file of records or standard input, or if OUTPUT is called .jsonl, .csv,
                      .tsv, .warc or .parquet: then all inputs are of that format, and tables have the
                      same header or columns, which are written once
  a folder            for a folder, several files, a text, or if OUTPUT ends in a slash: files keep their paths (below the one
                      folder, or as given), and each file of records has its kept records. Files of
                      which nothing is kept are not there, but files of records are
  a list              with --list: the paths of the kept files, one a line, with control characters
                      and backslashes spelled out as \\n and \\\\; with -0 as they are. A file of several
                      names (hard links) is there by its first
  standard output     for -

Records are kept as they are: lines of JSONL, rows of CSV and TSV, records of WARC; blank lines
are left out. Rows of Parquet keep all their columns, nested ones too: the output has the schema, the
metadata and the compression of the input, and a group of rows for each of its groups. A column that is
damaged ends the run. In a file that is called .jsonl, and on standard output, rows of Parquet become lines with
all their columns: lists are arrays, structures and maps are objects, times are as in ISO 8601, and bytes that
are no text are in base64. A byte order mark is left out, and a file in UTF-16 or in the encoding of --encoding is
written in UTF-8. Compressed records are written plain unless OUTPUT, or the file in the folder, is
called .gz or .zst. What add leaves out, such as broken records and binary files, is left out here and
counted: a folder of output does not have them.

Pairs are found as by query: at the threshold the share that init prints, 98% by default, and nearly
all of those that are more alike. What is dropped was compared exactly.

Which one is kept:
  --keep first    the first in the input
  --keep longest  the one with the most bytes of text; of the same length the first
  --keep newest   the one whose file changed last; in a file, the last record
  --keep 3        the first, and the first two that are like it, as crawlers want it for templates
  --keep none     no one: what is like any other document goes, as filters against contamination want it
Documents are judged in this order, and dropped if they are like one that was kept. The input is read
once; for longest, newest and none its texts and records are kept in a temporary folder meanwhile.

The summary counts a dropped document as exact copy or near-duplicate of the one that is kept: a copy of
a near-duplicate is a near-duplicate. add, which keeps all, counts it as an exact copy.

--against drops what is like a document of another store, which is only read, or of files and folders, which
are read as the input is. Documents of the input are not compared with each other, and nothing is stored.

--mark dup writes all documents, in their order, with dup_keep (true or false), dup_cluster (a number that
follows from the representative's key), dup_representative (the key of the document for whose sake it would
be dropped, else its own) and dup_similarity (1 to itself). They come last in lines of JSONL, rows of CSV and of
TSV with a header, and Parquet, of which metadata that lists the columns is left out.

What is stored (--store or DEDUPDB_STORE) comes before all of these and is never replaced. A document
that is stored is a duplicate under whatever key, its own too: nothing of earlier days is written
again. A text whose key has another text is stored as KEY#HASH.

--force replaces a file, or a folder that dedupdb wrote: a list in it, .dedupdb-output, says which files
those are. If one of them was changed, or another one was put there, it is named and nothing is replaced.
Links and stores are never replaced, and nothing is replaced by an output without documents: that is an
error, and what is there stays. The former output goes when the new one has its place; a
run that is killed in between leaves one of them there, or the next run puts the former one back.

OUTPUT appears whole, once all is durable, or not at all. A run that is killed or stopped leaves its
documents in the store; the next dedup forgets them first and says so. So the same command gives the
same output, unless it is told that candidates were passed over (--false-candidates all has none of
that), and any other command is judged against documents that were added or written. If OUTPUT is
there although its run was killed, repeat the command with --force. A run that ended is not to be
repeated: its documents are stored, and its output would be empty. What went to standard output
before a crash comes again. A folder beside OUTPUT, .OUTPUT.dedup, has what is temporary, for which a
store is made if none is given.

--removed has a line for each dropped document, in the order in which they were judged, with tabs:
KEY, the key of the first kept or stored document that it is like, JACCARD, the file and the number
of the document's record, and the same of the other one, which are empty if it was stored before.
This takes about 40 bytes of memory for each kept document.
A symbolic link or another name of a file is never listed there for the file's sake, so without
--store the exact copies in it (exact_copy in JSON) can be deleted and no text is lost (of web pages,
links and pictures are not text). Do not delete what is not in the list: what was left out (binary
files, say; --skipped FILE lists it) is in neither.
With --store, a document is dropped as well for one that was published before: what is listed may be
the only copy on disk, or be that document itself.

A record whose id came before with another text is kept like any other, counted as repeated, and an
error, because readers of OUTPUT cannot tell the two apart; --id-scope file says that ids hold in
their file only. The ids take about 40 bytes of memory each.

Exit codes: 0 done, 2 something could not be read or stored, 130 interrupted.")]
pub(crate) struct Dedup {
    /// Files and folders as in add, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) paths: Vec<PathBuf>,

    /// File or folder to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) output: PathBuf,

    /// Which of the documents that are alike is kept: first, longest, newest, the first so many, or none
    #[arg(long, value_name = "WHICH", value_parser = parse::keep, default_value = "first")]
    pub(crate) keep: Keep,

    /// Write all documents, each with what would become of it, in columns or fields whose names begin with
    /// COLUMN
    #[arg(long, value_name = "COLUMN", value_parser = parse::field, conflicts_with = "list")]
    pub(crate) mark: Option<String>,

    /// Drop what is like a document there, in a store or in files and folders, and compare nothing else
    #[arg(long, value_name = "STORE|PATH", conflicts_with = "keep")]
    pub(crate) against: Option<PathBuf>,

    /// Write the paths of the kept files instead of the files
    #[arg(long)]
    pub(crate) list: bool,

    /// End each path of --list with a NUL byte, and write it as it is: for xargs -0
    #[arg(short = '0', long, requires = "list")]
    pub(crate) print0: bool,

    /// File for what was dropped and why; JSON if it is called .jsonl or with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,

    /// Replace OUTPUT and the file of --removed: files, and folders that dedupdb wrote
    #[arg(long)]
    pub(crate) force: bool,

    /// Memory to take, about, 384MiB at least: more means fewer and larger commits, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::memory, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Room for the temporary texts and records of --keep longest and newest [default: nine tenths of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) temp_limit: Option<u64>,

    #[command(flatten)]
    pub(crate) parameters: Parameters,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// Parameters of the comparison; an existing store has its own.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Parameters, where no store has them")]
pub(crate) struct Parameters {
    /// Least Jaccard similarity of near-duplicates, or 0.8: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Pieces of text that are compared, or word:5: word:K, char:K, char-nospace:K, byte:K, term or
    /// ids
    #[arg(long, value_name = "KIND")]
    pub(crate) shingling: Option<Shingling>,

    /// Number of slots of a signature, or 128
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,
}
