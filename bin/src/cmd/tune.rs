//! `tune`: shows possible shapes of bands, and what each finds and costs.

use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::{
    Error, Store,
    upkeep::{Compared, Sample, Tuning},
};
use dedupdb_corpus::publish::check_no_store;
use dedupdb_lab::eval::{Report, tuning_report};

use crate::args::{Args, Tune};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::output::Output;
use crate::picture;
use crate::watch::{Unit, Watch};

/// The similarities at which the S-curves are shown.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The similarities at which the sample's pairs are counted.
const COUNTED: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// The measurements.
struct Tuned {
    tuning: Tuning,
    sample: Option<Sample>,
    /// The number of contents in the store when it was sampled.
    measured: u64,
    shapes: Vec<Compared>,
}

/// Runs `tune`.
pub(crate) fn run(
    args: &Args,
    tune: &Tune,
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
        .map(|store| Watch::new(console, "sampled", Unit::Step, store.progress()));
    let tuned = Tuned::new(store.as_ref(), tune)?;
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
fn store(args: &Args, tune: &Tune) -> Result<Option<Store>> {
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

impl Tuned {
    fn new(store: Option<&Store>, tune: &Tune) -> Result<Tuned> {
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
        Ok(Tuned {
            tuning,
            sample,
            measured,
            shapes,
        })
    }

    fn object<'a>(&'a self, report: &'a Report) -> json::Tuned<'a> {
        let sample = self.sample.as_ref();
        let sample = sample.map(|sample| json::Sample::new(sample, self.measured, &COUNTED));
        let shapes = report.rows.iter().zip(&self.shapes);
        json::Tuned::new(&self.tuning, sample, shapes, &CURVE)
    }
}
