//! Arguments of `completions`.

use clap_complete::Shell;

/// Print a script that completes commands and options in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb completions bash > ~/.local/share/bash-completion/completions/dedupdb
  dedupdb completions zsh > ~/.zfunc/_dedupdb  A folder in $fpath
  dedupdb completions fish > ~/.config/fish/completions/dedupdb.fish

The script is for this version. Print it again after an update.

Exit codes: 0 done, 2 error.")]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}
