//! The command line's arguments.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use dedupdb::{Bands, Family, Shingling, SlotWidth};

use crate::age::{self, Age};
use crate::inputs::Inputs;
use crate::parse;

/// Finds near-duplicate texts, and keeps them findable.
///
/// A store is a folder that remembers every text added to it. Ask it which texts are like a given
/// one, now or in later runs: similarity is the share of word groups (shingles) that two texts
/// have in common, their Jaccard similarity, and every answer is checked exactly.
#[derive(Debug, Parser)]
#[command(name = "dedupdb", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder of the store
    #[arg(
        long,
        global = true,
        env = "DEDUPDB_STORE",
        value_name = "DIR",
        default_value = "./.dedupdb"
    )]
    pub(crate) store: PathBuf,

    /// Print results as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print results and errors only: no notes, summary or progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Threads to work with; 0 for one a core
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) threads: usize,

    /// Wait so long for a store that another process has open
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) wait: u64,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  dedupdb add articles/                  store the files of a folder
  dedupdb query new.txt                  which stored texts are like this one?
  dedupdb add --matches articles/        store, and list near-duplicates as they are met

Exit codes: 0 found or done, 1 nothing found, 2 error.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Add(Add),
    Query(Query),
    Remove(Remove),
    List(List),
    Pairs(Pairs),
    Show(Show),
    /// Tell what the store holds, its parameters and its size
    #[command(after_help = "\
Examples:
  dedupdb stats
  dedupdb --json stats | jq .documents

A bucket holds the contents whose signatures agree in one band. Large ones make queries slow.")]
    Stats,
    /// Read the whole store and compare it with its checksums
    #[command(after_help = "\
Examples:
  dedupdb check
  dedupdb check --store backup && echo sound

Prints a line for each problem. Exit codes: 0 sound, 2 damaged.")]
    Check,
    Tune(Tune),
    Backup(Backup),
}

/// Make a store with parameters of your own
///
/// Without this, add makes a store with the defaults. The parameters cannot be changed later.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb init                                     the defaults: five words, similarity 0.8
  dedupdb init --threshold 70% --recall 99%        find more, at more work a query
  dedupdb init --no-shingles                       half the space; similarities are estimates

Prints the bands that were chosen, how likely pairs of each similarity are to be found, and what
a document costs on disk.")]
pub(crate) struct Init {
    /// Least Jaccard similarity of near-duplicates: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.8")]
    pub(crate) threshold: f64,

    /// Share of the pairs at the threshold that are to be found: 0.98 or 98%
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = parse::share,
        default_value = "0.98",
        conflicts_with = "bands"
    )]
    pub(crate) recall: f64,

    /// Pieces of text that are compared: word:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND", default_value_t = Shingling::default())]
    pub(crate) shingling: Shingling,

    /// Tell capital letters from small ones
    #[arg(long)]
    pub(crate) no_lowercase: bool,

    /// Tell apart characters that Unicode NFKC makes the same
    #[arg(long)]
    pub(crate) no_nfkc: bool,

    /// Number of slots of a signature
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) permutations: u32,

    /// Bits that a slot keeps: 8, 16 or 32
    #[arg(long, value_name = "BITS", default_value_t = SlotWidth::default())]
    pub(crate) slot_bits: SlotWidth,

    /// Bands and rows by hand, such as 18x7, instead of by --recall
    #[arg(long, value_name = "BxR")]
    pub(crate) bands: Option<Bands>,

    /// Family of the permutations
    #[arg(long, value_name = "NAME", default_value_t = Family::default())]
    pub(crate) family: Family,

    /// Number that the permutations are drawn with, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,

    /// Keep no shingles: less space, but similarities are estimates
    #[arg(long)]
    pub(crate) no_shingles: bool,
}

/// Store files and records, new and changed ones
///
/// Goes through folders to the bottom. The key of a file's document is its path as given, so run
/// this in the same folder each time. Files of records hold many documents: .jsonl has an object a
/// line, with the fields "id", its key, and "text"; .csv, .tsv and .parquet have such columns, or .tsv has lines
/// of a key, a tab and a text; .warc has pages, whose keys are their addresses. Of .html the text is
/// stored. All may be compressed as .gz or .zst.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb add articles/ notes.txt
  dedupdb add --matches articles/ > pairs.tsv      near-duplicates as they are met
  dedupdb add --unique pages.jsonl                 keep the first of each kind only
  curl -s https://example.org | dedupdb add - --key https://example.org
  dedupdb add crawl.jsonl.zst --text-field page.body --id-field page.url
  dedupdb add posts.csv --text-field body --id-field 1
  dedupdb add CC-MAIN-2026.warc.wet.gz --max-document 1MiB
  zcat old/*.gz | dedupdb add - --format jsonl --encoding latin1

Files of the size and time that they were stored with are not read again (--checksum reads them).
Documents whose files are gone stay until `dedupdb remove --missing`.

Left out and counted: binary files (those with a NUL byte), texts of more than --max-document,
devices, pipes and sockets, links that lead nowhere or back, and folders of stores. A broken record
is reported with its file and number, and the rest goes on. Text is UTF-8, or UTF-16 or UTF-32 with
a byte order mark, or what it looks like; the summary counts what was decoded how. Bytes that are no
characters are replaced by U+FFFD. A name of - is standard input; a file of that name is ./-.

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

    /// Read files even if size and time are as stored
    #[arg(long)]
    pub(crate) checksum: bool,

    /// Memory to take, about: more means fewer and larger commits, which is faster
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "512MiB")]
    pub(crate) memory: u64,

    /// Show on standard error where the time went
    #[arg(long)]
    pub(crate) timings: bool,

    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

/// Find the stored documents that are like a text
///
/// Prints the most similar ones first. A file that is itself stored under its path is not among
/// its own matches.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb query draft.txt
  dedupdb query --threshold 0.9 --limit 5 drafts/ --key articles/old.txt
  curl -s https://example.org | dedupdb query -
  dedupdb --json query pages.jsonl | jq -r 'select(.jaccard > 0.95).key'

A line has four columns with tabs between them: QUERY, KEY, JACCARD, and `exact copy` or nothing.
JACCARD is exact. Where the store keeps no shingles it is an estimate with its standard error,
such as ~0.8125±0.0350.

In JSON, `containment` is the share of the query's shingles that the match has, `contained` the
share of the match's shingles that the query has, `bands` the number of buckets that they share.

Exit codes: 0 something was found, 1 nothing, 2 error.")]
pub(crate) struct Query {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "keys", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Ask about a stored document; may be given several times
    #[arg(long = "key", value_name = "KEY", value_parser = parse::key)]
    pub(crate) keys: Vec<String>,

    /// Least Jaccard similarity, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// At most so many matches for each text, the best ones
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) inputs: Inputs,
}

/// List all pairs of documents that are alike
///
/// Each pair once: copies first, then pairs in the order of the buckets that they share.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb pairs
  dedupdb pairs --threshold 95% --fold-copies
  dedupdb pairs --between 2025/ 2026/            across two folders or crawls
  dedupdb pairs | sort -k3,3rn | head            the most similar ones

A line has three columns with tabs between them: KEY_A, KEY_B, JACCARD. JACCARD is exact. Where the
store keeps no shingles it is an estimate with its standard error, such as ~0.8125±0.0350.

Exit codes: 0 there are pairs, 1 there are none, 2 error.")]
pub(crate) struct Pairs {
    /// Least Jaccard similarity, instead of the store's: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Only pairs of a key that begins with A and one that begins with B
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) between: Vec<String>,

    /// Take the documents with the same text for one, the one whose key comes first
    #[arg(long)]
    pub(crate) fold_copies: bool,
}

/// Remove documents
///
/// By their keys, or all that fit every condition given. Files on disk are not touched.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb remove articles/old.txt
  dedupdb remove --prefix articles/2019/
  dedupdb remove --missing                            documents whose files were deleted
  dedupdb remove --older-than 90d --dry-run           which are they?
  dedupdb remove --older-than 2w --prefix https://news.example/

A document must fit all of --prefix, --missing and --older-than that are given. --dry-run lists
the keys and changes nothing.

--older-than goes by the time at which the text was added under its key, which `show` tells.
Adding the same text again does not make a document younger. Units are s, min, h, d, w and y
(365 days).

--missing looks for files from the current folder, so run it where add was run; it refuses if not
one file is found. Records and texts from standard input have no file and are never missing.

Exit codes: 0 something was removed, 1 nothing, 2 error.")]
pub(crate) struct Remove {
    /// Keys of documents
    #[arg(
        required_unless_present_any = ["prefix", "missing", "older_than"],
        conflicts_with_all = ["prefix", "missing", "older_than"],
        value_name = "KEY",
        value_parser = parse::key
    )]
    pub(crate) keys: Vec<String>,

    /// Documents whose keys begin so
    #[arg(long, value_name = "PREFIX", value_parser = parse::prefix)]
    pub(crate) prefix: Option<String>,

    /// Documents that came from files that no longer exist
    #[arg(long)]
    pub(crate) missing: bool,

    /// Documents that were added longer ago than this: 90d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = age::parse)]
    pub(crate) older_than: Option<Age>,

    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// List the keys of documents, sorted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb list --prefix articles/ --long
  dedupdb --json list | jq -r .key

--long prints content number, shingles, bytes and key with tabs between them. Documents of the
same content number are exact copies. Control characters in keys are spelled out, as in \\n; use
--json where that matters.

Exit codes: 0 something was listed, 1 nothing, 2 error.")]
pub(crate) struct List {
    /// Only documents whose keys begin so
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) prefix: String,

    /// Print more than keys
    #[arg(short, long)]
    pub(crate) long: bool,
}

/// Show what is stored of a document
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb --json show articles/old.txt | jq .copies

Exit codes: 0 shown, 1 no document has the key, 2 error.")]
pub(crate) struct Show {
    /// Key of the document
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
}

/// Copy the store into a new folder
///
/// The copy is a store like any other: query it, or put it in the place of a damaged one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb backup /mnt/other/monday
  dedupdb --wait 600 backup \"backups/$(date +%F)\" && dedupdb check --store \"backups/$(date +%F)\"

DIR must not be there yet, or be empty. It appears whole or not at all: a backup that is killed
leaves only a hidden folder beside it, which the next one of that name clears away.

Exit codes: 0 done, 2 error; then there is no copy.")]
pub(crate) struct Backup {
    /// Folder to be made
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Show which shapes of bands would do, and what each finds and costs
///
/// Finds are computed; false candidates are measured on a sample of the store's own contents.
/// Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb tune                                    the store's threshold and permutations
  dedupdb tune --threshold 0.7 --recall 99%       what would it take?
  dedupdb tune --permutations 256 --plot s.svg    another budget; draw the S-curves
  dedupdb tune --contents 10000000                for what the store will have grown to
  dedupdb --json tune | jq '.shapes[] | select(.is | index(\"best\"))'

A shape of b bands of r rows finds a pair of similarity J with probability 1 - (1 - J^r)^b. Of
each number of rows the fewest bands that reach the recall are shown; `best` is the one of least
work, `current` the store's, `textbook` the one whose steepest point, (1/b)^(1/r), is nearest to
the threshold. What is best changes as a store grows: look-ups stay, false candidates grow with
the number of contents (--contents), and with them it pays to have more rows.

False candidates are an average over all draws of the permutations, ± what the sample leaves open.
With shapes of fewer than about twenty slots, a store's own draw may make several times as many or
as few.

Without a store, give --permutations; then false candidates are not measured.

Exit codes: 0 done, 2 error.")]
pub(crate) struct Tune {
    /// Least Jaccard similarity of near-duplicates, instead of the store's: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// Share of the pairs at the threshold that are to be found: 0.98 or 98%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, default_value = "0.98")]
    pub(crate) recall: f64,

    /// Slots of a signature that bands may use, instead of the store's
    #[arg(long, value_name = "N")]
    pub(crate) permutations: Option<u32>,

    /// Contents that the store will have grown to: false candidates grow with them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) contents: Option<u64>,

    /// Draw the S-curves into this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}
