//! Arguments of `explain`.

use std::path::PathBuf;

use crate::args::escaped::EscapedArgs;
use crate::inputs::InputArgs;
use crate::parse;

/// Show why two documents or files match, or do not
///
/// Compares them as the store does, by similarity and by containment, and shows which passages they share and where they
/// differ.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb explain articles/old.txt articles/new.txt
  dedupdb explain https://example.org draft.txt  A stored page and a file
  dedupdb explain --full a.txt b.txt | less
  dedupdb explain page-02 page-03 --texts-from crawl.jsonl  Two records
  dedupdb --json explain a.txt b.txt | jq .bands

A and B are keys of stored documents or paths of files. A stored key comes first; ./NAME is always a
file, and - is standard input. Two files need no store; without one, the default parameters apply.

`estimate` is the similarity that the signatures suggest, with its standard error. `bands` lists the
buckets that both texts share, and the probability that a pair of this similarity shares at least
one. A query finds such a pair with this probability. If they do not match, but nearly all of one is in
the other, the verdict says which one `dedup --containment` drops.

Texts are not stored. Passages and differences are shown for files, for documents whose key is the
path of a file that still has the stored text, and for records of the files of --texts-from, which
are recognized by the hash of their text. `longest run` is the longest run of words that both texts
have, wherever it is in them, and the numbers of its first word, from 1. Each punctuation mark has a
number, too, so `passages` counts fewer words. [-This-] is only in A and
{+this+} only in B. Words are compared as they are written, with case and punctuation, which shingles
of words leave out. Colours appear on a terminal only, and not if NO_COLOR is set. At most 50,000 words of each text are
compared in this way; the output says if there are more.

Exit codes: 0 they match, 1 they do not, 2 error.

Details in the documentation: reference/reading.md")]
pub(crate) struct ExplainArgs {
    /// Key of a document, a file, or - for standard input
    #[arg(value_name = "A", value_parser = parse::name(), value_hint = clap::ValueHint::AnyPath)]
    pub(crate) a: String,

    /// The same, for the other text
    #[arg(value_name = "B", value_parser = parse::name(), value_hint = clap::ValueHint::AnyPath)]
    pub(crate) b: String,

    /// Show all shared passages and differences in full
    #[arg(long)]
    pub(crate) full: bool,

    /// File or folder that has the texts of records; may be repeated
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, value_parser = parse::path())]
    pub(crate) texts_from: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}
