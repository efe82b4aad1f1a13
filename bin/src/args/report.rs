//! Arguments of `report`.

use std::path::PathBuf;

use dedupdb::sketching::Shingling;

use crate::args::LinkageArg;
use crate::args::containment::ContainmentArgs;
use crate::args::files::FilesArgs;
use crate::ignored::IgnoreArgs;
use crate::parse;

/// Write an HTML page of clusters, or of a text and its sources
///
/// Writes one file that any browser shows without a network. It has the parameters, the predicted recall,
/// counts, charts and the clusters, the largest first, with texts side by side. With --sources, it has one
/// text with the passages marked that other documents have, too, and these documents.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb report -o report.html  The documents of the store
  dedupdb report notes/ -o notes.html  Files, without a store
  dedupdb report --sources essay.txt -o essay.html  Which stored documents share passages with it?
  dedupdb remove --keys-from drop.keys  Remove what was marked on the page

A store keeps no texts. They are read again from the files that the keys name, from the current
folder, so run it where you ran `add` and with the same options for inputs. If keys are ids, name
their files with --texts-from.

The page saves the keys that you marked, for --keys-from of `remove`, `move` and `dedup`. The page
itself changes no file and no store. Files that are gone or have changed since they were added are
marked, and do not count as copies.

With --containment, each text is below the largest text that has that share of it. With --passages,
documents are also linked if they share a passage that fewer than 5 others have. With --sources, the
page shows one text, with the passages marked that other documents have. Both take --ignore.

An existing report is replaced. Any other file is replaced only with --force.

Exit codes: 0 there are clusters or passages, 1 there are none, 2 error, 130 interrupted.

Details in the documentation: reference/report.md, reference/reading.md")]
#[expect(clippy::struct_excessive_bools, reason = "flags are what was typed")]
pub(crate) struct ReportArgs {
    /// Files and folders to compare, instead of the documents of the store
    #[arg(value_name = "PATH", value_parser = parse::path(), conflicts_with = "sources")]
    pub(crate) paths: Vec<PathBuf>,

    /// Show what this text shares with stored documents: a file of one document, or - for standard input
    #[arg(long, value_name = "TEXT", group = "of_passages", value_parser = parse::path(), conflicts_with_all = OF_CLUSTERS)]
    pub(crate) sources: Option<PathBuf>,

    /// With --sources, compare with these files and folders, through a temporary store, and with no other store
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "sources", value_parser = parse::path())]
    pub(crate) against: Vec<PathBuf>,

    /// With --against, kind of shingle: word:K, code:K, char:K, char-nospace:K or byte:K [default: word:5]
    #[arg(long, value_name = "KIND", requires = "against", value_parser = parse::parameter::<Shingling>)]
    pub(crate) shingling: Option<Shingling>,

    /// Also link documents that share a passage, word for word, whatever else they have
    #[arg(long, group = "of_passages", conflicts_with_all = ["containment", "linkage", "no_text"])]
    pub(crate) passages: bool,

    /// With --sources or --passages, shortest passage, in words [default: the one that the store was made for;
    /// without a store, 20]
    #[arg(long, value_name = "WORDS", requires = "of_passages")]
    pub(crate) at_least: Option<u32>,

    /// With --sources, join passages between which the text has at most N other words
    #[arg(long, value_name = "N", requires = "sources", default_value = "0")]
    pub(crate) gap: u32,

    /// With --sources or --passages, compare all documents, however many share a part of a text
    #[arg(long, requires = "of_passages")]
    pub(crate) all: bool,

    /// File to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) output: PathBuf,

    /// Maximum size of the page
    #[arg(long, value_name = "SIZE", value_parser = parse::page, default_value = "20MB")]
    pub(crate) bytes: u64,

    /// Leave texts out
    #[arg(long)]
    pub(crate) no_text: bool,

    /// File or folder with texts whose keys name no file; may be repeated
    #[arg(long, value_name = "PATH", conflicts_with = "no_text", value_parser = parse::path())]
    pub(crate) texts_from: Vec<PathBuf>,

    /// Minimum Jaccard similarity of linked documents, instead of the store's or 0.8: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, conflicts_with = "containment")]
    pub(crate) threshold: Option<f64>,

    /// What makes a cluster
    #[arg(long, value_enum, default_value_t = LinkageArg::Connected, conflicts_with = "containment")]
    pub(crate) linkage: LinkageArg,

    #[command(flatten)]
    pub(crate) contained: ContainmentArgs,

    /// List only clusters of at least N documents
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) min_size: usize,

    /// Replace OUTPUT, even if it is not a report
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// The options about clusters.
const OF_CLUSTERS: [&str; 5] = ["no_text", "threshold", "linkage", "containment", "min_size"];
