//! `tune`: shows possible shapes of bands, and what each finds and costs.

use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::{
    Error, Store,
    upkeep::{ComparedShape, Sample, Tuning},
};
use dedupdb_corpus::publish::check_no_store;
use dedupdb_lab::eval::{ExperimentReport, tuning_report};

use crate::args::{Args, TuneArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::output::Output;
use crate::picture;
use crate::watch::{ProgressWatch, StepUnit};

/// The similarities at which the S-curves are shown.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The similarities at which the sample's pairs are counted.
const COUNTED: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// The measurements.
struct TuneMeasurements {
    tuning: Tuning,
    sample: Option<Sample>,
    /// The number of contents in the store when it was sampled.
    measured: u64,
    shapes: Vec<ComparedShape>,
}

/// Runs `tune`.
pub(crate) fn run(
    args: &Args,
    tune: &TuneArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if let Some(path) = &tune.plot {
        picture::check_name(path)?;
        check_no_store(path, &[])?;
    }
    let store = store(args, tune)?;
    let watch = store
        .as_ref()
        .map(|store| ProgressWatch::new(console, "sampled", StepUnit::Step, store.progress()));
    let tuned = TuneMeasurements::new(store.as_ref(), tune)?;
    drop(watch);
    let sample = tuned.sample.as_ref().map(|sample| (sample, tuned.measured));
    let report = tuning_report(&tuned.tuning, &tuned.shapes, sample);
    let report = report.of_corpus(&match &store {
        Some(store) => store.folder().display().to_string(),
        None => "without a store".to_owned(),
    });
    if output.is_json() {
        output.object(&tuned.object(&report))?;
    } else {
        for line in report.lines(output.width()) {
            output.line(line)?;
        }
    }
    if let Some(path) = &tune.plot {
        picture::write(&report.picture, path)?;
        console.note(&format!("drew {}", path.display()));
    }
    Ok(Exit::Found)
}

/// The store, which may be missing if the arguments give all parameters.
fn store(args: &Args, tune: &TuneArgs) -> Result<Option<Store>> {
    match crate::store::open_to_read(args) {
        Err(error)
            if tune.permutations.is_some()
                && matches!(error.downcast_ref(), Some(Error::NotAStore { .. })) =>
        {
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

impl TuneMeasurements {
    fn new(store: Option<&Store>, tune: &TuneArgs) -> Result<TuneMeasurements> {
        let mut tuning = Tuning::of(&store.map_or_else(Arc::default, Store::schema));
        tuning.threshold = tune.threshold.unwrap_or(tuning.threshold);
        tuning.permutations = tune.permutations.unwrap_or(tuning.permutations);
        tuning.recall = tune.recall;
        // Refuse impossible parameters before reading the store.
        tuning.shapes(None)?;
        let mut sample = store.map(Store::sample).transpose()?;
        let measured = sample.as_ref().map_or(0, Sample::contents);
        if let Some(contents) = tune.contents {
            if sample.is_none() {
                bail!("--contents needs a store whose contents can be measured");
            }
            sample = sample.map(|sample| sample.grown_to(contents));
        }
        let current = store.map(|store| store.schema().bands());
        let shapes = tuning.compare(current, sample.as_ref())?;
        Ok(TuneMeasurements {
            tuning,
            sample,
            measured,
            shapes,
        })
    }

    fn object<'a>(&'a self, report: &'a ExperimentReport) -> json::TuneJson<'a> {
        let sample = self.sample.as_ref();
        let sample = sample.map(|sample| json::SampleJson::new(sample, self.measured, &COUNTED));
        let shapes = report.rows.iter().zip(&self.shapes);
        json::TuneJson::new(&self.tuning, sample, shapes, &CURVE)
    }
}
