//! Arguments of `man`.

use std::path::PathBuf;

use clap::ValueHint;

/// Print the manual, or write all its pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dedupdb man | man -l -  Read the overview
  dedupdb man query | man -l -  Read about a command
  dedupdb man --out /usr/local/share/man/man1  Install a page for each command

The pages have the text of --help.

Exit codes: 0 done, 2 error.")]
pub(crate) struct ManArgs {
    /// Command whose page to print, instead of the overview
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Option<String>,

    /// Write dedupdb.1 and a page for each command into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}
