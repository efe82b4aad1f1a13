//! Arguments of `show`.

use crate::args::escaped::EscapedArgs;
use crate::parse;

/// Show what is stored about a document
///
/// Prints its content number, the hash of its text, its size and times, and the keys of its exact
/// copies.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb show articles/old.txt
  dedupdb --json show articles/old.txt | jq .copies

Exit codes: 0 shown, 2 no document has the key, or an error.")]
pub(crate) struct ShowArgs {
    /// Key of the document
    #[arg(value_name = "KEY", value_parser = parse::name())]
    pub(crate) key: String,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,
}
