//! Arguments of `list`.

use crate::args::escaped::Escaped;

/// List the keys of documents, sorted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb list --prefix articles/ --long
  dedupdb list -0 --prefix articles/ | xargs -0 ls -l        keys of files, for another program
  dedupdb --json list | jq -r .key

--long puts tabs between its columns. Documents of the same content number are exact copies.

Control characters and backslashes in keys are spelled out, as \\n and \\\\, so that a line is a key, and
--escaped takes such a key. --json and -0 give the keys as they are.

Exit codes: 0 something was listed, 1 nothing, 2 error.")]
pub(crate) struct List {
    /// Only documents whose keys begin so
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) prefix: String,

    /// Print content number, shingles and bytes before each key
    #[arg(short, long)]
    pub(crate) long: bool,

    /// End each key with a NUL byte, and print it as it is: for xargs -0
    #[arg(short = '0', long, conflicts_with = "long")]
    pub(crate) print0: bool,

    #[command(flatten)]
    pub(crate) escaped: Escaped,
}
