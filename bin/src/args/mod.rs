//! The command line's arguments, one file per command.

mod add;
pub(crate) mod after;
#[cfg(unix)]
mod aside;
mod backup;
mod brief;
mod clusters;
mod common;
mod compact;
mod completions;
mod containment;
mod decontaminate;
mod dedup;
mod escaped;
pub(crate) mod eval;
mod explain;
mod files;
mod full;
mod groups;
mod init;
mod jaccard;
mod judging;
mod list;
mod load;
mod man;
mod map;
mod matrix;
mod merge;
mod mistaken;
mod pairs;
mod passages;
mod query;
mod reduce;
mod reindex;
mod remove;
mod rename;
mod report;
mod salvage;
mod serve;
mod show;
mod signing;
mod stats;
mod storeless;
mod tips;
mod tune;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};

pub(crate) use add::AddArgs;
#[cfg(unix)]
pub(crate) use aside::MoveArgs;
pub(crate) use backup::BackupArgs;
pub(crate) use clusters::{ClustersArgs, LinkageArg};
pub(crate) use common::CommonArgs;
pub(crate) use compact::CompactArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use decontaminate::{ActionArg, DecontaminateArgs};
pub(crate) use dedup::DedupArgs;
pub(crate) use escaped::EscapedArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use init::{InitArgs, SketchingArgs};
pub(crate) use jaccard::JaccardArgs;
pub(crate) use judging::{ComparisonArgs, JudgingArgs};
pub(crate) use list::ListArgs;
pub(crate) use load::LoadArgs;
pub(crate) use man::ManArgs;
pub(crate) use map::MapArgs;
pub(crate) use matrix::MatrixArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use pairs::PairsArgs;
pub(crate) use passages::PassagesArgs;
pub(crate) use query::QueryArgs;
pub(crate) use reduce::ReduceArgs;
pub(crate) use reindex::ReindexArgs;
pub(crate) use remove::RemoveArgs;
pub(crate) use rename::RenameArgs;
pub(crate) use report::ReportArgs;
pub(crate) use salvage::SalvageArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use show::ShowArgs;
pub(crate) use signing::SigningArgs;
pub(crate) use stats::StatsArgs;
pub(crate) use tune::TuneArgs;

use crate::duration;
use crate::file_list;
use crate::parse::{self, CountOrAll};

/// Finds near-duplicates of texts that it has seen before.
///
/// A store is a folder that remembers every text added to it. Ask it, now or years later, which of them
/// resemble a given text. The similarity of two texts is their Jaccard similarity: the share of their word
/// groups (shingles) that both have. Every answer is checked exactly.
#[derive(Debug, Parser)]
#[command(name = "dedupdb", version, max_term_width = 100, after_help = EXAMPLES)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Args {
    /// Folder of the store
    #[arg(
        long,
        global = true,
        env = "DEDUPDB_STORE",
        value_name = "DIR",
        default_value = STORE,
        value_hint = ValueHint::DirPath
    )]
    pub(crate) store: PathBuf,

    /// Whether the folder was named, on the command line or in the environment.
    #[arg(skip)]
    pub(crate) store_given: bool,

    /// Print results as JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print results and errors only: no notes, summary or progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Number of threads; more than 256 count as 256 [default: one for each core]
    #[arg(
        long,
        alias = "jobs",
        global = true,
        value_name = "N",
        default_value = "0",
        hide_default_value = true
    )]
    pub(crate) threads: usize,

    /// Wait this long, such as 30s or 2min, while another process writes to the store or moves files of
    /// the folder [default: 5s]
    #[arg(
        long,
        global = true,
        value_name = "TIME",
        value_parser = duration::wait,
        default_value = "5s",
        hide_default_value = true
    )]
    pub(crate) wait: Duration,

    /// Stop a search after N non-matching candidates, and say so; or all, to never stop [default:
    /// 4000]
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = parse::some_or_all,
        default_value = "4000",
        hide_default_value = true
    )]
    pub(crate) false_candidates: CountOrAll,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The default store.
pub(crate) const STORE: &str = "./.dedupdb";

const EXAMPLES: &str = "\
Examples:
  dedupdb add articles/  Store the files of a folder
  dedupdb query new.txt  Which stored texts resemble this one?
  dedupdb add --matches articles/  Store them, and list near-duplicates as they are found

`dedupdb COMMAND --help` has more examples and describes the output.

Exit codes: 0 found or done, 1 nothing found, 2 error, 75 another process is writing to the store, 130
interrupted (143 by SIGTERM, 129 by SIGHUP).";

/// The commands, by what people want.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Add(AddArgs),
    Query(QueryArgs),
    Passages(PassagesArgs),
    Pairs(Box<PairsArgs>),
    Clusters(ClustersArgs),
    Common(CommonArgs),
    Report(Box<ReportArgs>),
    Explain(ExplainArgs),
    Jaccard(JaccardArgs),
    #[command(alias = "dedupe")]
    Dedup(Box<DedupArgs>),
    Decontaminate(Box<DecontaminateArgs>),
    #[cfg(unix)]
    Move(Box<MoveArgs>),
    #[command(alias = "rm")]
    Remove(RemoveArgs),
    Rename(RenameArgs),
    #[command(alias = "ls")]
    List(ListArgs),
    Show(ShowArgs),
    Init(InitArgs),
    Stats(StatsArgs),
    /// Read the whole store and verify it
    #[command(after_help = "\
Examples:
  dedupdb check
  dedupdb check --store backup && echo sound

Verifies all checksums, computes signatures and postings again, and compares documents with their
contents. A content is a distinct text; a posting says that it is in a bucket. Recent contents, at
most 32,768, have no postings in tables yet: opening a store computes these from the signatures. The
summary says how many such contents there are.

Prints a line for each problem. Other processes may use the store meanwhile; to write, they wait
until the checksums of its index are compared.

Exit codes: 0 sound, 2 damaged, or an error, 75 another process is writing to the store.")]
    Check,
    Backup(BackupArgs),
    Reindex(Box<ReindexArgs>),
    Compact(CompactArgs),
    Merge(MergeArgs),
    Salvage(SalvageArgs),
    Tune(TuneArgs),
    Eval(eval::EvalArgs),
    Serve(ServeArgs),
    Load(LoadArgs),
    Matrix(MatrixArgs),
    Map(Box<MapArgs>),
    Reduce(ReduceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Command {
    /// Whether it is about a store if the environment names one.
    fn takes_store(&self) -> bool {
        match self {
            #[cfg(unix)]
            Command::Move(_) => false,
            Command::Passages(passages) => passages.against.is_empty(),
            Command::Report(report) => report.paths.is_empty() || report.sources.is_some(),
            _ => true,
        }
    }
}

impl Command {
    /// Adds the files of `--files-from` to those that were named.
    ///
    /// # Errors
    ///
    /// Those of [`file_list::add`].
    pub(crate) fn add_listed_files(&mut self) -> anyhow::Result<()> {
        match self {
            Command::Add(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Query(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Passages(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Report(args)
                if args.sources.is_some() && args.files.listed.files_from.is_some() =>
            {
                anyhow::bail!(
                    "--sources has one text, and --files-from many; leave one of them out"
                )
            }
            Command::Report(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Dedup(args) => file_list::add(&args.listed, &mut args.paths),
            Command::Decontaminate(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Matrix(args) => file_list::add(&args.files.listed, &mut args.paths),
            Command::Map(args) => file_list::add(&args.files.listed, &mut args.paths),
            _ => Ok(()),
        }
    }
}

impl Args {
    /// All commands.
    pub(crate) fn all() -> clap::Command {
        storeless::without_store(Args::command())
    }

    /// All commands, with their texts laid out for a terminal.
    fn laid_out() -> clap::Command {
        groups::grouped(brief::brief(after::laid_out(Args::all())))
    }

    /// The arguments as they were typed.
    ///
    /// # Errors
    ///
    /// If help or the version was asked for, or if an argument is wrong.
    pub(crate) fn typed() -> Result<Args, clap::Error> {
        let typed: Vec<OsString> = std::env::args_os().collect();
        let matches = Args::laid_out().try_get_matches_from(&typed);
        let matches = matches.map_err(|error| {
            mistaken::explained(full::in_columns(Args::laid_out(), &typed, error))
        })?;
        let mut args = Args::from_arg_matches(&matches)?;
        let source = matches.value_source("store");
        args.store_given = match source {
            Some(ValueSource::DefaultValue) => false,
            Some(ValueSource::EnvVariable) => args.command.takes_store(),
            _ => true,
        };
        Ok(args)
    }
}
