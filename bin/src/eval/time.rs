//! The cost of comparing all texts exactly, by signatures, and by bands.

use anyhow::Result;
use dedupdb::Progress;
use dedupdb::sketching::{Bands, ShingleSet, Signer, SlotWidth};
use dedupdb_lab::eval::{self as experiments, pairs, shuffled};

use super::ExperimentOutcome;
use super::corpus::{ExperimentTexts, check_work};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{ProgressWatch, StepUnit};

/// The share of the pairs at the threshold that LSH should find.
const RECALL: f64 = 0.98;

/// The maximum number of pairs in a part that compares all of them, which takes some minutes. The pairs that LSH
/// compares have no maximum: the number of pairs that share a band is what is measured.
const MOST: u64 = 300_000_000;

const WIDTH: SlotWidth = SlotWidth::Bits16;

/// Runs the experiment.
pub(crate) fn run(
    args: &Args,
    asked: &eval::TimeArgs,
    console: &Console,
) -> Result<ExperimentOutcome> {
    let signers: Vec<(Signer, Bands)> = asked
        .permutations
        .iter()
        .map(|&permutations| {
            let signer = Signer::new(asked.family, asked.seed, permutations, WIDTH)?;
            let bands = Bands::choose(permutations, WIDTH, asked.threshold, RECALL)?;
            Ok((signer, bands))
        })
        .collect::<Result<_>>()?;
    let corpus = ExperimentTexts::read(args, &asked.texts, asked.sets.shingling, console)?;
    let compared = asked.all_pairs.min(corpus.len());
    let work = format!(
        "all pairs of {} are {} comparisons",
        counted(compared as u64, "text", "texts"),
        grouped(pairs(compared))
    );
    check_work(&work, pairs(compared), MOST, "--all-pairs")?;
    let order = shuffled(&corpus.keys, asked.seed);
    let sets: Vec<&ShingleSet> = order.iter().map(|&place| &corpus.sets[place]).collect();
    let progress = Progress::new();
    let _watch = ProgressWatch::new(console, "measured", StepUnit::Step, &progress);
    let parts = experiments::time(&sets, &signers, asked.threshold, compared, &progress)?;
    let report = experiments::time_report(&parts, asked.sets.shingling, asked.threshold);
    Ok(ExperimentOutcome::new(report, corpus.failed))
}
