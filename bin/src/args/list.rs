//! Arguments of `list`.

use crate::args::escaped::EscapedArgs;
use crate::parse;

/// List the keys of documents, sorted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb list --prefix articles/ --long
  dedupdb list -0 --prefix articles/ | xargs -0 ls -l  Pass keys that are paths to another program
  dedupdb --json list | jq -r .key

--long separates its columns by tabs. Documents with the same content number are exact copies.

Each line is one key: control characters and backslashes are escaped, as \\n and \\\\. --escaped
takes such keys. --json and -0 print keys unescaped.

Exit codes: 0 something was listed, 1 nothing, 2 error.")]
pub(crate) struct ListArgs {
    /// List only documents whose keys begin with PREFIX
    #[arg(
        long,
        value_name = "PREFIX",
        value_parser = parse::any_prefix(),
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) prefix: String,

    /// Print content number, shingles and bytes before each key
    #[arg(short, long)]
    pub(crate) long: bool,

    /// End each key with a NUL byte and print it unescaped, for xargs -0
    #[arg(short = '0', long, conflicts_with = "long")]
    pub(crate) print0: bool,

    #[command(flatten)]
    pub(crate) escaped: EscapedArgs,
}
