//! Arguments of `eval`, one file per experiment.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod time;

use std::path::PathBuf;

use dedupdb::sketching::Shingling;

use crate::inputs::InputArgs;
use crate::left_out::LeftOutArgs;
use crate::parse;

pub(crate) use accuracy::AccuracyArgs;
pub(crate) use bands::BandsArgs;
pub(crate) use recall::RecallArgs;
pub(crate) use shingles::ShinglesArgs;
pub(crate) use time::TimeArgs;

/// Measure on your texts what is found, and what it costs
///
/// Each experiment compares measurements with the predictions for signatures and bands. --plot draws
/// both.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_long_help = "\
Examples:
  dedupdb eval recall --plot recall.svg  What does my store find?
  dedupdb eval bands articles/ --bands 5,10,20  What would other bands find?
  dedupdb eval shingles articles/ --sample 500  Which shingles suit these texts?
  dedupdb eval time articles/ --permutations 150  From how many texts on do bands pay off?
  dedupdb eval accuracy articles/ --sample 1000  How good are the estimates?

`dedupdb eval EXPERIMENT --help` says what each one measures.

--json prints, and -o writes, one object or row for each line of the table, with figures that are
not rounded.

Exit codes: 0 done, 2 error, 130 interrupted."
)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) experiment: EvalCommand,
}

/// What is measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum EvalCommand {
    Recall(RecallArgs),
    Bands(BandsArgs),
    Shingles(ShinglesArgs),
    Time(TimeArgs),
    Accuracy(AccuracyArgs),
}

/// The texts of an experiment.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EvalTextArgs {
    /// Files and folders as in add, or - for standard input
    #[arg(required = true, value_name = "CORPUS", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,

    #[command(flatten)]
    pub(crate) telling: LeftOutArgs,
}

/// What texts are compared by.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EvalShingleArgs {
    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>, default_value_t)]
    pub(crate) shingling: Shingling,
}

/// Where the figures go beside standard output.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EvalResultArgs {
    /// Also write the figures to FILE: CSV, or JSON if it ends in .jsonl
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Draw the figures into FILE
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

impl EvalCommand {
    /// Where the experiment's figures go.
    pub(crate) fn results(&self) -> &EvalResultArgs {
        match self {
            EvalCommand::Recall(recall) => &recall.results,
            EvalCommand::Bands(bands) => &bands.results,
            EvalCommand::Shingles(shingles) => &shingles.results,
            EvalCommand::Time(time) => &time.results,
            EvalCommand::Accuracy(accuracy) => &accuracy.results,
        }
    }

    /// The experiment's texts, unless they are those of a store.
    pub(crate) fn texts(&self) -> Option<&EvalTextArgs> {
        match self {
            EvalCommand::Recall(_) => None,
            EvalCommand::Bands(bands) => Some(&bands.texts),
            EvalCommand::Shingles(shingles) => Some(&shingles.texts),
            EvalCommand::Time(time) => Some(&time.texts),
            EvalCommand::Accuracy(accuracy) => Some(&accuracy.texts),
        }
    }
}
