//! Arguments of `explain`.

use crate::args::escaped::Escaped;
use crate::inputs::Inputs;

/// Show why two documents or files match, or do not
///
/// Compares them as the store does, and shows what both texts have in common and where they differ.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  dedupdb explain articles/old.txt articles/new.txt
  dedupdb explain https://example.org draft.txt      a stored page and a file
  dedupdb explain --full a.txt b.txt | less
  dedupdb --json explain a.txt b.txt | jq .bands

A and B are keys of stored documents, or else files; ./NAME is a file whatever is stored, and - is
standard input. Two files need no store: where there is none, the default parameters are used.

`estimate` is what the signatures say, with its standard error. `bands` are the buckets that both
are in, and how likely it is that a pair this alike shares one: that is how often such a pair is
found at all.

Texts are not stored. The shared passages and the differences are shown for files, and for
documents whose key names a file that still has the text that was added. Of differences, [-this-]
is in A alone and {+this+} in B alone; colours come on a terminal only, and not with NO_COLOR. Of
each text the first 50,000 words are compared that way, and the output says so where there are more.

Exit codes: 0 they match, 1 they do not, 2 error.")]
pub(crate) struct Explain {
    /// Key of a document, a file, or - for standard input
    #[arg(value_name = "A")]
    pub(crate) a: String,

    /// The other one
    #[arg(value_name = "B")]
    pub(crate) b: String,

    /// Show all shared passages and differences in whole
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) escaped: Escaped,
}
