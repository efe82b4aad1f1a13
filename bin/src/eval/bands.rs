//! What numbers of bands find, and how many of their candidates do not match.

use anyhow::{Result, bail};
use dedupdb::Progress;
use dedupdb::sketching::{Bands, Signer, SlotWidth};
use dedupdb_lab::eval::{self as experiments, draw};

use super::ExperimentOutcome;
use super::corpus::{ExperimentTexts, check_work};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{ProgressWatch, StepUnit};

/// The maximum number of comparisons, which take some minutes.
const MOST: u64 = 200_000_000;

/// From this number of comparisons on, a note announces them.
const MANY: u64 = 20_000_000;

const WIDTH: SlotWidth = SlotWidth::Bits16;

/// Runs the experiment.
pub(crate) fn run(
    args: &Args,
    asked: &eval::BandsArgs,
    console: &Console,
) -> Result<ExperimentOutcome> {
    let shapes = shapes(asked)?;
    let signer = Signer::new(asked.family, asked.seed, asked.permutations, WIDTH)?;
    let corpus = ExperimentTexts::read(args, &asked.texts, asked.sets.shingling, console)?;
    let queries = draw(&corpus.keys, asked.queries.of(corpus.len()), asked.seed);
    check_cost(queries.len(), corpus.len(), console)?;
    let progress = Progress::new();
    let watch = ProgressWatch::new(console, "compared", StepUnit::Document, &progress);
    let found = experiments::bands(
        &corpus.sets,
        &queries,
        &signer,
        &shapes,
        asked.threshold,
        &progress,
    )?;
    drop(watch);
    let report = found.report(asked.sets.shingling, asked.permutations, asked.threshold);
    Ok(ExperimentOutcome::new(report, corpus.failed))
}

fn shapes(asked: &eval::BandsArgs) -> Result<Vec<Bands>> {
    let permutations = asked.permutations;
    let shape = |&bands: &u32| match permutations.checked_div(bands) {
        None | Some(0) => bail!(
            "--bands {bands}: give a number from 1 to that of the permutations, {permutations}"
        ),
        Some(rows) => Ok(Bands::new(bands, rows, permutations)?),
    };
    asked.numbers.iter().map(shape).collect()
}

/// Refuses too many comparisons, and announces those that take long.
fn check_cost(queries: usize, texts: usize, console: &Console) -> Result<()> {
    let comparisons = queries as u64 * (texts as u64 - 1);
    let work = format!(
        "{} against {} are {} comparisons",
        counted(queries as u64, "query", "queries"),
        counted(texts as u64, "text", "texts"),
        grouped(comparisons)
    );
    check_work(&work, comparisons, MOST, "--queries")?;
    if comparisons > MANY {
        console.note(&format!("{work}, which will take some time"));
    }
    Ok(())
}
