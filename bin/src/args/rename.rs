//! Arguments of `rename`.

use crate::args::escaped::EscapedArgs;
use crate::parse;

/// Give a document another key
///
/// Everything else that is stored about it stays. Files on disk keep their names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb rename http://news.example/swans https://news.example/swans
  mv draft.txt final.txt && dedupdb rename draft.txt final.txt

An earlier document NEW is replaced, as by mv. If it had the same text, the earlier time of adding
stays.

Exit codes: 0 renamed, 1 no document has the key OLD, 2 error, 75 another process is writing to the
store.")]
pub(crate) struct RenameArgs {
    /// Key of the document
    #[arg(value_name = "OLD", value_parser = parse::name())]
    pub(crate) old: String,

    /// Its new key
    #[arg(value_name = "NEW", value_parser = parse::name())]
    pub(crate) new: String,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,
}
