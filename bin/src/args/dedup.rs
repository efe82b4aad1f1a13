//! Arguments of `dedup`.

use std::path::PathBuf;

use clap::ValueEnum;
use dedupdb_corpus::dedup::{KeepBy, Unit};

use crate::args::JudgingArgs;
use crate::args::containment::ContainmentArgs;
use crate::file_list::FileListArgs;
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
  dedupdb dedup pages.jsonl -o clean.jsonl --keep-by score,-date --prefer source=wiki,books
  dedupdb dedup pages.jsonl -o clean.jsonl --containment 0.8
  dedupdb dedup pages.jsonl -o clean.jsonl --unit paragraph
  dedupdb dedup pages.jsonl -o clean.jsonl --cut-passages 50
  dedupdb dedup train.jsonl -o clean.jsonl --against benchmark.jsonl
  zcat posts.csv.gz | dedupdb dedup - --format csv -o - > clean.csv

OUTPUT is one of these:
  a file of records  If the input is one file of records or standard input, or if OUTPUT ends in
    .jsonl, .json, .csv, .tsv, .warc or .parquet. Then all inputs have that format, and tables have the
    same header or columns, which are written once
  a folder  If the input is a folder, several files or a text, or if OUTPUT ends in a slash. Files
    keep their paths, below the one folder or as given
  a list  With --list: the paths of the kept files, one per line, escaped, or unescaped with -0
  standard output  If OUTPUT is -

OUTPUT appears complete and durable, or not at all. Records are copied as they are, and rows of Parquet
keep all their columns. What `add` leaves out, such as broken records and binary files, is left out here
and counted. An INPUT that is itself a file that cannot be read ends the run, and nothing is written,
unless --skip-unreadable is given; so does a table in a folder that cannot be read to its end. A text without words is never dropped.

Pairs are found as by `query`: at the threshold the share that `init` prints, 98% by default, and
nearly all of the more similar ones. Every dropped document was compared exactly.

--keep decides which one is kept:
  first  The first one in the input
  longest  The one that says more (more distinct shingles), then one with fewer names that tell a copy, then
      the longer text, the shorter name, the shorter path, or the first
  newest  The one whose file changed last; in one file, the last record
  3  The first one and the first two that resemble it; likewise for other numbers
  none  None of them, as a filter against contamination

--keep-by score keeps the record with the largest score, --keep-by -date the one with the smallest date,
and --keep-by score,-date, of equal scores, the one with the smallest date. --prefer source=wiki,books
comes before that: records with the source wiki, then those with books, then all others. Of records that
are equal so far, --keep decides. A field is a column or a field of JSON; dots lead into nested ones, as
in --text-field. Numbers are compared as numbers, exactly, also those in quotes and those of CSV; dates and
times such as 2024-02-29 or 2024-02-29T23:59:59+01:00 as moments; false is below true; all else as
text. In either direction, numbers come before dates, dates before true and false, and texts after these.
Records without the field come last, and the summary counts them; null, empty, NaN and infinite values
are none. A field that no record has is an error. It is for JSONL, JSON, CSV, TSV and Parquet: not with
--against, --containment, --cut-passages, --keys-from, --list or --unit.

--protect names files that are never dropped; they are judged first. --keys-from drops only documents
whose keys are in FILE, such as what you marked on the page of `report`, and at least one of several
similar documents stays. --against drops documents that resemble one elsewhere, and does not compare
the input with itself. --mark dup writes all documents, with four more fields: dup_keep, dup_cluster,
dup_representative and dup_similarity.

--ignore template.txt compares texts without the words that they have from it. A text with nothing else
is nobody's duplicate, and stays. It does not go together with --store.

--containment 0.8 also drops a text if a longer one that is kept has 80% or more of its shingles (runs
of 5 words), such as an excerpt, or a page that was cut off. The longer one of two is always kept, and
no kept text is in another kept one. Near-duplicates are dropped as without it. Texts of fewer than 20
words (--shortest) are dropped only as copies. It compares the input with itself: not with --store,
--against, --protect, --keys-from, or another --keep than longest.

--unit paragraph judges paragraphs instead of documents, which blank lines are between, and --unit line lines,
which end with a line feed.
The first copy stays, and later ones are cut from their texts, in another document or the same one.
Units of fewer than 13 words (--min-words) stay; a character of a script without spaces is a word. A document that lost more than 80% of its characters
(--drop-above), or all its words, is dropped with the rest of it; later copies of the rest stay. In the list of --removed, a key
is that of a document with @ and the number of the unit, such as a.txt@3, and in the store, too: give
units a store of their own.

--cut-passages 50 cuts each run of 50 or more words that stands before, word for word, in another document or the
same one. Case and punctuation do not count. No such run is left twice: what is compared are the parts of
documents that are kept, each by itself. A passage goes with the punctuation that touches it and the
spaces behind that. It compares the input with itself, without --store, and takes no parameters such as --threshold.
The words are on disk meanwhile, 4 bytes each, within --temp-limit; for 50 words, --memory
needs about 7% of the size of the text, or the run ends.

--unit and --cut-passages work for JSONL, JSON, CSV, TSV and Parquet, and for plain text in a folder; a text in
UTF-16 or UTF-32 becomes UTF-8. A text from which nothing is cut is copied as it is. They do not go
together with --keep, --mark, --list, --against, --protect, --keys-from and --containment.

With --store, documents that resemble a stored one are dropped, and the new ones are stored. If a run is
killed, the next one removes its documents first; the same command then gives the same output. Do not
repeat a run that succeeded: its documents are stored, and the output would be empty.

--removed writes a line for each dropped document: KEY, the key of the document that it resembles,
JACCARD, the file and number of the dropped record, the file and number of the other one, and `exact
copy`, `same words` or, if only --containment dropped it, `contained` and the share of its shingles. With
--cut-passages, it writes a line for each passage: KEY, the key of the document where it stood before,
its words, its first and last word, where it begins and ends in bytes, the first and last word of its longest part that is in
the other document, whether KEY is dropped as a whole, files and numbers as above, and its text. Do
not delete files because they are missing from the output: files that dedupdb does not read are in
neither. `dedupdb move` moves near-duplicates of a folder aside, and back.

The page docs/reference/commands.md has the details of each option.

Exit codes: 0 done, 2 something could not be read or stored, 75 another process is writing to the
store, 130 interrupted.")]
pub(crate) struct DedupArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// File or folder to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT", required = true)]
    pub(crate) output: Option<PathBuf>,

    /// Write all documents, with the verdict on each in fields or columns whose names begin with COLUMN
    #[arg(long, value_name = "COLUMN", value_parser = parse::field, conflicts_with = "list")]
    pub(crate) mark: Option<String>,

    /// Write the paths of the kept files instead of the files
    #[arg(long)]
    pub(crate) list: bool,

    /// End each path of --list with a NUL byte and write it unescaped, for xargs -0
    #[arg(short = '0', long, requires = "list")]
    pub(crate) print0: bool,

    /// File that lists what was dropped or cut and why; JSON with --json or if FILE ends in .jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,

    /// Replace OUTPUT and the file of --removed; a folder gets another name, such as OUTPUT.old
    #[arg(long)]
    pub(crate) force: bool,

    /// Of similar records, keep the one with the largest FIELD, or with -FIELD the smallest
    ///
    /// Of several fields, separated by commas, the next one decides between equal ones.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse::keep_by,
        conflicts_with_all = ["against", "containment", "cut_passages", "keys_from", "list", "unit"])]
    pub(crate) keep_by: Vec<KeepBy>,

    /// Of similar records, keep one whose FIELD has the first of these values, or else the second, and so
    /// on; decides before --keep-by; may be repeated
    #[arg(long, value_name = "FIELD=VALUE,...", value_parser = parse::prefer,
        conflicts_with_all = ["against", "containment", "cut_passages", "keys_from", "list", "unit"])]
    pub(crate) prefer: Vec<KeepBy>,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// Judge these parts of texts instead of whole ones, and cut the later copies
    #[arg(long, conflicts_with_all = [
        "against", "containment", "keep", "keys_from", "list", "mark", "protect",
    ])]
    pub(crate) unit: Option<UnitArg>,

    /// With --unit, leave units of fewer words where they are
    #[arg(long, value_name = "N", default_value = "13", requires = "unit")]
    pub(crate) min_words: usize,

    /// Cut each run of WORDS or more words that stands before, word for word, 8 or more
    #[arg(long, value_name = "WORDS", value_parser = clap::value_parser!(u32).range(8..), conflicts_with_all = [
        "against", "containment", "ignore", "keep", "keys_from", "list", "mark", "permutations", "protect",
        "shingling", "threshold", "unit",
    ])]
    pub(crate) cut_passages: Option<u32>,

    /// With --unit or --cut-passages, drop documents that lost more of their characters: 0.8 or 80%
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = parse::share)]
    pub(crate) drop_above: f64,

    #[command(flatten)]
    pub(crate) judging: JudgingArgs,

    #[command(flatten)]
    pub(crate) listed: FileListArgs,
}

/// The parts of texts that are judged.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UnitArg {
    /// Lines between blank ones
    Paragraph,
    /// Lines
    Line,
}

impl From<UnitArg> for Unit {
    fn from(unit: UnitArg) -> Unit {
        match unit {
            UnitArg::Paragraph => Unit::Paragraph,
            UnitArg::Line => Unit::Line,
        }
    }
}
