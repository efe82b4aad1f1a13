//! Arguments of `list`.

/// List the keys of documents, sorted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb list --prefix articles/ --long
  dedupdb --json list | jq -r .key
  dedupdb list -0 --prefix articles/ | xargs -0 ls -l

--long prints content number, shingles, bytes and key with tabs between them. Documents of the
same content number are exact copies. Control characters in keys are spelled out, as in \\n, so
that a line is a key; --json and -0 give the keys as they are.

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

    /// Print more than keys
    #[arg(short, long)]
    pub(crate) long: bool,

    /// End each key with a NUL byte, and print it as it is: for xargs -0
    #[arg(short = '0', long, conflicts_with = "long")]
    pub(crate) print0: bool,
}
