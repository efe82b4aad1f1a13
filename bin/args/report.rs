//! Arguments of `report`.

use std::path::PathBuf;

use crate::args::Linkage;
use crate::inputs::Inputs;
use crate::left_out::Telling;
use crate::parse;

/// Write a page to look through the clusters and decide
///
/// One file of HTML that any browser opens without a network: parameters and predicted recall, counts, sizes and
/// similarities, and the clusters, the largest first, with the texts side by side.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb report -o report.html                       of the store
  dedupdb report notes/ -o notes.html                 of files, without a store
  dedupdb report -o report.html --texts-from crawl.jsonl.zst
  dedupdb report -o report.html --min-size 3 --bytes 50MB
  dedupdb remove --keys-from drop.keys                what was ticked on the page

With PATHs, a temporary store is made of them, at --threshold. No store is used then, not even the one in the
current folder.

A store keeps no texts. They are read again from the files that the keys name, PATH or PATH#NUMBER, from this folder,
so run it where add was run, and with the same options for inputs. Keys that are ids name no file: --texts-from says
where their texts are. A text is shown if its hash is the stored one; `no text at hand` stands for others. Of each text
32 KiB are shown.

Half of --bytes at most go to the lists of documents, the rest to texts. The smallest clusters are left out where there
is no room, and the page and standard error say how many. Counts and charts are of all clusters.

The page exports a list of the keys that were ticked, each with a NUL byte behind it, for `dedupdb remove --keys-from`
and `xargs -0 rm --`. Nothing on the page changes a file or the store.

A report that is there already is replaced; any other file only with --force.

Exit codes: 0 there are clusters, 1 there are none, 2 error, 130 interrupted.")]
pub(crate) struct Report {
    /// Files and folders to compare, instead of the store's documents
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// File to write, or - for standard output
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) output: PathBuf,

    /// Size that the page may have
    #[arg(long, value_name = "SIZE", value_parser = parse::page, default_value = "20MB")]
    pub(crate) bytes: u64,

    /// Leave texts out
    #[arg(long)]
    pub(crate) no_text: bool,

    /// File or folder to search for texts whose keys name no file; may come again
    #[arg(long, value_name = "PATH", conflicts_with = "no_text")]
    pub(crate) texts_from: Vec<PathBuf>,

    /// Least Jaccard similarity of documents that are linked, instead of the store's or 0.8: 0.9 or 90%
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    pub(crate) threshold: Option<f64>,

    /// What makes a cluster
    #[arg(long, value_enum, default_value_t = Linkage::Connected)]
    pub(crate) linkage: Linkage,

    /// Only clusters of so many documents or more
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) min_size: usize,

    /// Replace OUTPUT, whatever file it is
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}
