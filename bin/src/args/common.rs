//! Arguments of `common`.

use std::path::PathBuf;

use crate::inputs::InputArgs;
use crate::parse;

/// List the passages that most stored documents have
///
/// Navigation, licences, signatures, the template of a form: what stands in many documents and says
/// nothing about where they come from.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb common  The twenty passages that most documents have
  dedupdb common --limit 100 --at-least 50 --from crawl.jsonl
  dedupdb --json common > common.jsonl && dedupdb pairs --ignore common.jsonl  Pairs that share more
    than that

Each line has four to six columns, separated by tabs: DOCUMENTS, WORDS, TEXT and one to three KEYS.
DOCUMENTS is the number of documents that have all groups of K words (shingles) of the passage, WORDS
its length, TEXT its beginning, and KEYS are those of the first documents with it. In JSON, `text` is
all of it. The most common ones come first, then the longest.

A passage begins with as many words of one text as --at-least says, and goes on as far as at least half of
the documents that have these go along. If half of it is in one that comes before, it is left out.

Every passage that is in more documents than two fingerprints are apart (16 with --passage 20 and shingles of
5 words) can be found; one in fewer documents is found by chance.

A store keeps no texts. They are read again from the files that it names, or from those of --from.

The store must find passages (`init --passage`).

Exit codes: 0 there are some, 1 there are none, 2 error.

Details in the documentation: reference/reading.md")]
pub(crate) struct CommonArgs {
    /// Files and folders with the stored texts, if they are not where the store says
    #[arg(long, value_name = "PATH", num_args = 1.., value_parser = parse::path())]
    pub(crate) from: Vec<PathBuf>,

    /// Shortest passage, in words [default: the one that the store was made for]
    #[arg(long, value_name = "WORDS")]
    pub(crate) at_least: Option<u32>,

    /// Leave out passages that are in fewer than N documents: two or three may have copied one
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) min_documents: u64,

    /// List at most N passages
    #[arg(long, value_name = "N", default_value = "20", value_parser = parse::at_least_one)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}
