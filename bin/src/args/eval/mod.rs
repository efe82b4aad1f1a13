//! Arguments of `eval`, one file per experiment.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod time;

use std::path::PathBuf;

use dedupdb::sketching::Shingling;

use crate::inputs::Inputs;
use crate::left_out::Telling;
use crate::parse;

pub(crate) use accuracy::Accuracy;
pub(crate) use bands::Bands;
pub(crate) use recall::Recall;
pub(crate) use shingles::Shingles;
pub(crate) use time::Time;

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
pub(crate) struct Eval {
    #[command(subcommand)]
    pub(crate) experiment: Experiment,
}

/// What is measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Experiment {
    Recall(Recall),
    Bands(Bands),
    Shingles(Shingles),
    Time(Time),
    Accuracy(Accuracy),
}

/// The texts of an experiment.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Texts {
    /// Files and folders as in add, or - for standard input
    #[arg(required = true, value_name = "CORPUS", value_parser = parse::path())]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) inputs: Inputs,

    #[command(flatten)]
    pub(crate) telling: Telling,
}

/// What texts are compared by.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Sets {
    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>, default_value_t)]
    pub(crate) shingling: Shingling,
}

/// Where the figures go beside standard output.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Results {
    /// Also write the figures to FILE: CSV, or JSON if it ends in .jsonl
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Draw the figures into FILE
    #[arg(long, value_name = "FILE.svg|png")]
    pub(crate) plot: Option<PathBuf>,
}

impl Experiment {
    /// Where the experiment's figures go.
    pub(crate) fn results(&self) -> &Results {
        match self {
            Experiment::Recall(recall) => &recall.results,
            Experiment::Bands(bands) => &bands.results,
            Experiment::Shingles(shingles) => &shingles.results,
            Experiment::Time(time) => &time.results,
            Experiment::Accuracy(accuracy) => &accuracy.results,
        }
    }

    /// The experiment's texts, unless they are those of a store.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        match self {
            Experiment::Recall(_) => None,
            Experiment::Bands(bands) => Some(&bands.texts),
            Experiment::Shingles(shingles) => Some(&shingles.texts),
            Experiment::Time(time) => Some(&time.texts),
            Experiment::Accuracy(accuracy) => Some(&accuracy.texts),
        }
    }
}
