//! How many of its true pairs a store finds.

use anyhow::{Result, bail};
use dedupdb::{Error, Progress, Store};
use dedupdb_lab::eval::{self as experiments, RecallQuery};

use super::ExperimentOutcome;
use super::corpus::check_work;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{ProgressWatch, StepUnit};

/// The maximum number of pairs to go through, which takes some minutes.
const MOST_PAIRS: u64 = 50_000_000;

/// The maximum number of distinct texts that are all joined.
const MOST_TEXTS: u64 = 1_000_000;

/// The maximum number of comparisons of a sample with all texts.
const MOST: u64 = 500_000_000;

/// Runs the experiment.
pub(crate) fn run(
    args: &Args,
    asked: &eval::RecallArgs,
    console: &Console,
) -> Result<ExperimentOutcome> {
    let store = crate::store::open_to_read(args)?;
    let texts = store.stats()?.contents;
    // No more than there are texts.
    let most = usize::try_from(texts).unwrap_or(usize::MAX);
    let sample = asked.sample.map(|sample| sample.min(most));
    check_cost(&store, texts, sample)?;
    let mut query = RecallQuery::new().most_pairs(MOST_PAIRS);
    if let Some(threshold) = asked.threshold {
        query = query.threshold(threshold);
    }
    if let Some(sample) = asked.sample {
        query = query.sample(sample, asked.seed);
    }
    let progress = Progress::new();
    let _watch = if sample.is_some() {
        ProgressWatch::new(console, "compared", StepUnit::Document, &progress)
    } else {
        let parts = ["candidates compared, 1 of 2", "joined exactly, 2 of 2"];
        ProgressWatch::of_parts(console, parts, StepUnit::Step, &progress)
    };
    let found = match experiments::recall(&store, &query, &progress) {
        Err(Error::InvalidQuery {
            parameter: "most pairs",
            ..
        }) => bail!(
            "there are more than {}, which take long to compare; choose some texts with --sample N",
            counted(MOST_PAIRS, "pair", "pairs")
        ),
        found => found?,
    };
    Ok(ExperimentOutcome::new(found.report(&store.schema()), false))
}

fn check_cost(store: &Store, texts: u64, sample: Option<usize>) -> Result<()> {
    if !store.schema().keeps_shingles() {
        return Err(dedupdb::Error::NoShingles.into());
    }
    let has = counted(texts, "text", "texts");
    let Some(sample) = sample else {
        if texts > MOST_TEXTS {
            bail!(
                "joining {has} exactly would take long (more than {} are not joined); choose some with \
                 --sample N",
                grouped(MOST_TEXTS)
            );
        }
        return Ok(());
    };
    let comparisons = (sample as u64).saturating_mul(texts);
    let work = format!(
        "{} against {has} are {} comparisons",
        grouped(sample as u64),
        grouped(comparisons)
    );
    check_work(&work, comparisons, MOST, "--sample")
}
