//! Arguments of `passages`.

use std::path::PathBuf;

use dedupdb::sketching::Shingling;

use crate::args::files::FilesArgs;
use crate::ignored::IgnoreArgs;
use crate::parse;

/// Find the passages that a text shares with stored documents, word for word
///
/// A passage is a run of words that both have, whatever stands around it: a quotation, a copied
/// paragraph, a template.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb add articles/ && dedupdb passages essay.txt  What does this text share with the articles?
  dedupdb passages essay.txt --against sources/  The same without a store
  dedupdb passages drafts/ | sort -t$'\\t' -k3,3rn | head  The longest ones of all files
  dedupdb --json passages essay.txt | jq -r '[.line, .key] | @tsv'

Each line has nine columns, separated by tabs: QUERY, KEY, WORDS, FIRST, LAST, LINE, PLACE,
DOCUMENTS and TEXT. WORDS is the length of the passage, FIRST and LAST are the numbers of its words
in the query, LINE is the line in which it begins, PLACE the number of its first word in the stored
document, or - if that is not known, DOCUMENTS the number of stored documents that have all of it,
and TEXT its beginning. The longest passages of a text come first.

Every run of as many words as `init --passage` or `reindex --passage` said is found, except where
thousands of texts share it (--all finds these, too). Shorter ones are found by chance.

--against uses no store, and takes all paths that follow it, so name the text first. Its paths are
read for each run, so make a store (`add`) for texts that you compare with often.

Exit codes: 0 something was found, 1 nothing, 2 error.

Details in the documentation: reference/searching.md, reference/reading.md")]
pub(crate) struct PassagesArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "PATH", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    /// Compare with these files and folders, through a temporary store, and with no other store
    #[arg(long, value_name = "PATH", num_args = 1.., value_parser = parse::path())]
    pub(crate) against: Vec<PathBuf>,

    /// With --against, kind of shingle: word:K, code:K, char:K, char-nospace:K or byte:K [default: word:5]
    #[arg(long, value_name = "KIND", requires = "against", value_parser = parse::parameter::<Shingling>)]
    pub(crate) shingling: Option<Shingling>,

    /// Shortest passage, in words [default: the one that the store was made for; with --against, 20]
    #[arg(long, value_name = "WORDS")]
    pub(crate) at_least: Option<u32>,

    /// Join passages between which the text has at most N other words
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) gap: u32,

    /// Print at most the N longest passages of each text
    #[arg(long, value_name = "N", value_parser = parse::at_least_one)]
    pub(crate) limit: Option<usize>,

    /// Compare all documents, however many share a part of the text
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) ignored: IgnoreArgs,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}
