//! The commands, one file per command.

mod add;
#[cfg(unix)]
mod aside;
mod backup;
mod check;
mod clusters;
mod common;
mod compact;
mod completions;
mod decontaminate;
mod dedup;
mod eval;
mod explain;
mod init;
mod jaccard;
mod judging;
mod list;
mod load;
mod man;
mod map;
mod matrix;
mod merge;
mod pairs;
mod passage_pairs;
mod passages;
mod query;
mod reduce;
mod reindex;
mod remove;
mod rename;
mod report;
mod report_sources;
mod salvage;
mod serve;
mod show;
pub(crate) mod stats;
mod tune;

use anyhow::Result;

use crate::args::{Args, Command};
use crate::console::Console;
use crate::exit::Exit;
use crate::output::Output;

/// Runs the command that the arguments name.
pub(crate) fn run(args: &Args, console: &Console, output: &mut Output) -> Result<Exit> {
    match &args.command {
        Command::Init(init) => init::run(args, init, output),
        Command::Add(add) => add::run(args, add, console, output),
        Command::Query(query) => query::run(args, query, console, output),
        Command::Passages(passages) => passages::run(args, passages, console, output),
        Command::Common(common) => common::run(args, common, console, output),
        Command::Remove(remove) => remove::run(args, remove, console, output),
        Command::Rename(rename) => rename::run(args, rename, console, output),
        Command::List(list) => list::run(args, list, console, output),
        Command::Pairs(pairs) => pairs::run(args, pairs, console, output),
        Command::Clusters(clusters) => clusters::run(args, clusters, console, output),
        Command::Explain(explain) => explain::run(args, explain, console, output),
        Command::Report(report) => report::run(args, report, console, output),
        Command::Jaccard(jaccard) => jaccard::run(args, jaccard, output),
        Command::Matrix(matrix) => matrix::run(args, matrix, console, output),
        Command::Show(show) => show::run(args, show, console, output),
        Command::Stats(stats) => stats::run(args, stats, console, output),
        Command::Check => check::run(args, console, output),
        Command::Tune(tune) => tune::run(args, tune, console, output),
        Command::Reindex(reindex) => reindex::run(args, reindex, console, output),
        Command::Merge(merge) => merge::run(args, merge, console, output),
        Command::Serve(_) => serve::run(args, console, output),
        Command::Load(load) => load::run(args, load, console, output),
        Command::Dedup(dedup) => dedup::run(args, dedup, console, output),
        Command::Decontaminate(asked) => decontaminate::run(args, asked, console, output),
        #[cfg(unix)]
        Command::Move(asked) => aside::run(args, asked, console, output),
        Command::Eval(eval) => eval::run(args, eval, console, output),
        Command::Map(map) => map::run(args, map, console, output),
        Command::Reduce(reduce) => reduce::run(reduce, console, output),
        Command::Compact(compact) => compact::run(args, compact, console, output),
        Command::Salvage(salvage) => salvage::run(args, salvage, console, output),
        Command::Backup(backup) => backup::run(args, backup, console, output),
        Command::Completions(completions) => completions::run(completions, output),
        Command::Man(man) => man::run(man, output),
    }
}
