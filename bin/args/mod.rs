//! The command line's arguments, one file a verb.

mod add;
mod backup;
mod dedup;
mod init;
mod list;
mod pairs;
mod query;
mod remove;
mod show;
mod tune;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use add::Add;
pub(crate) use backup::Backup;
pub(crate) use dedup::{Dedup, Keep, Parameters};
pub(crate) use init::Init;
pub(crate) use list::List;
pub(crate) use pairs::Pairs;
pub(crate) use query::Query;
pub(crate) use remove::Remove;
pub(crate) use show::Show;
pub(crate) use tune::Tune;

/// Finds near-duplicate texts, and keeps them findable.
///
/// A store is a folder that remembers every text added to it. Ask it which texts are like a given
/// one, now or in later runs: similarity is the share of word groups (shingles) that two texts
/// have in common, their Jaccard similarity, and every answer is checked exactly.
#[derive(Debug, Parser)]
#[command(name = "dedupdb", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder of the store
    #[arg(
        long,
        global = true,
        env = "DEDUPDB_STORE",
        value_name = "DIR",
        default_value = "./.dedupdb"
    )]
    pub(crate) store: PathBuf,

    /// Whether the folder was named, on the command line or in the environment.
    #[arg(skip)]
    pub(crate) store_given: bool,

    /// Print results as JSON, one object a line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print results and errors only: no notes, summary or progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Threads to work with; 0 for one a core
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) threads: usize,

    /// Wait so long for a store that another process has open
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) wait: u64,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  dedupdb add articles/                  store the files of a folder
  dedupdb query new.txt                  which stored texts are like this one?
  dedupdb add --matches articles/        store, and list near-duplicates as they are met

Exit codes: 0 found or done, 1 nothing found, 2 error.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Add(Add),
    Query(Query),
    Remove(Remove),
    List(List),
    Pairs(Pairs),
    Show(Show),
    /// Tell what the store holds, its parameters and its size
    #[command(after_help = "\
Examples:
  dedupdb stats
  dedupdb --json stats | jq .documents

A bucket holds the contents whose signatures agree in one band. Large ones make queries slow.")]
    Stats,
    /// Read the whole store and compare it with its checksums
    #[command(after_help = "\
Examples:
  dedupdb check
  dedupdb check --store backup && echo sound

Prints a line for each problem. Exit codes: 0 sound, 2 damaged.")]
    Check,
    Tune(Tune),
    Backup(Backup),
    Dedup(Dedup),
}

impl Args {
    /// The arguments as they were typed.
    ///
    /// # Errors
    ///
    /// Help, the version, or what is wrong with them.
    pub(crate) fn typed() -> Result<Args, clap::Error> {
        let matches = Args::command().try_get_matches()?;
        let mut args = Args::from_arg_matches(&matches)?;
        args.store_given = matches.value_source("store") != Some(ValueSource::DefaultValue);
        Ok(args)
    }
}
