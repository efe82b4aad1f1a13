//! Arguments of `report`.

use std::path::PathBuf;

use crate::args::LinkageArg;
use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse;

/// Write an HTML page of the clusters, with texts side by side
///
/// Writes one file that any browser shows without a network. It has the parameters, the predicted recall,
/// counts, charts and the clusters, the largest first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb report -o report.html  The documents of the store
  dedupdb report notes/ -o notes.html  Files, without a store
  dedupdb report -o report.html --texts-from crawl.jsonl.zst
  dedupdb report -o report.html --min-size 3 --bytes 50MB
  dedupdb remove --keys-from drop.keys  Remove what was marked on the page
  dedupdb move notes aside --keys-from drop.keys  Move these files, without a store

With PATHs, the documents come from these files, through a temporary store, and no other store is
used, not even the one in the current folder.

A store keeps no texts. They are read again from the files that the keys name (PATH or PATH#NUMBER),
from the current folder, so run it where you ran `add` and with the same options for inputs. If keys
are ids, name their files with --texts-from. A text is shown if its hash is the stored one;
otherwise the page says `no text at hand`. The first 32 KiB of a text are shown.

At most half of --bytes is for the lists of documents, the rest is for texts. If there is no room,
the smallest clusters are left out. Of a cluster, the first 2,000 documents are listed; `clusters`
lists all. The page and standard error say how many are left out. Counts and charts cover all
clusters.

The page saves the keys that you marked, each ended by a NUL byte, for --keys-from of `dedupdb
remove` and of `dedupdb move`. The page itself changes no file and no store.

Files are looked for from the current folder. A file is marked on the page, and does not count as a
copy, if it is gone, if its size or time has changed since it was added, or if it is another name of
a listed file. Run `add` and `remove --missing` first to bring the store up to date.

An existing report is replaced. Any other file is replaced only with --force.

Exit codes: 0 there are clusters, 1 there are none, 2 error, 130 interrupted.")]
pub(crate) struct ReportArgs {
    /// Files and folders to compare, instead of the documents of the store
    #[arg(value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

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
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// What makes a cluster
    #[arg(long, value_enum, default_value_t = LinkageArg::Connected)]
    pub(crate) linkage: LinkageArg,

    /// List only clusters of at least N documents
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) min_size: usize,

    /// Replace OUTPUT, even if it is not a report
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}
