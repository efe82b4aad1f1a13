//! How far estimates are from exact similarities.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use dedupdb::Progress;
use dedupdb::sketching::{Family, ShingleSet, Signer, SlotWidth};
use dedupdb_lab::eval::{self as experiments, AccuracyQuery, KindAccuracy, draw, pairs};

use super::ExperimentOutcome;
use super::corpus::{ExperimentTexts, check_work};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::inputs::STDIN;
use crate::number::{counted, grouped};
use crate::watch::{ProgressWatch, StepUnit};

/// The maximum number of pairs whose exact similarities are kept, at eight bytes each.
const MOST: u64 = 20_000_000;

/// Runs the experiment.
pub(crate) fn run(
    args: &Args,
    asked: &eval::AccuracyArgs,
    console: &Console,
) -> Result<ExperimentOutcome> {
    // Refuse impossible parameters before reading anything.
    for &permutations in &asked.permutations {
        Signer::new(Family::default(), 0, permutations, SlotWidth::Bits32)?;
    }
    check_kinds(asked)?;
    let query = AccuracyQuery::new()
        .families(asked.family.clone())
        .permutations(asked.permutations.clone())
        .epsilons(asked.epsilon.clone())
        .runs(asked.runs);
    let progress = Progress::new();
    let (mut kinds, mut failed) = (Vec::new(), false);
    for &shingling in &asked.shingling {
        let corpus = ExperimentTexts::read(args, &asked.texts, shingling, console)?;
        let drawn = draw(&corpus.keys, asked.sample.unwrap_or(corpus.len()), 0);
        let sets: Vec<&ShingleSet> = drawn.iter().map(|&text| &corpus.sets[text]).collect();
        check_cost(sets.len())?;
        let _watch = ProgressWatch::new(console, "compared", StepUnit::Step, &progress);
        let rows = experiments::accuracy(&sets, &query, &progress)?;
        kinds.push(KindAccuracy::new(shingling, sets.len(), rows));
        failed |= corpus.failed;
    }
    let report = experiments::accuracy_report(&kinds, asked.runs);
    Ok(ExperimentOutcome::new(report, failed))
}

/// Refuses inputs that can be read only once if they would be read several times.
fn check_kinds(asked: &eval::AccuracyArgs) -> Result<()> {
    if asked.shingling.len() < 2 {
        return Ok(());
    }
    for path in &asked.texts.paths {
        if path == Path::new(STDIN) {
            bail!(
                "standard input (-) can be read only once, and --shingling asks for several kinds: give one, \
                 or a file"
            );
        }
        if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            bail!(
                "{}: this can be read only once, and --shingling asks for several kinds: give \
                 one, or a file",
                path.display()
            );
        }
    }
    Ok(())
}

fn check_cost(texts: usize) -> Result<()> {
    if texts < 2 {
        bail!("a pair needs two texts: ask for more with --sample N");
    }
    let work = format!(
        "{} are {} pairs",
        counted(texts as u64, "text", "texts"),
        grouped(pairs(texts))
    );
    check_work(&work, pairs(texts), MOST, "--sample")
}
