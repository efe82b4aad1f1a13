//! `eval`: experiments on texts of one's own.

use anyhow::Result;

use crate::args::Args;
use crate::args::eval::{Eval, Experiment};
use crate::console::Console;
use crate::eval::{self, accuracy, bands, recall, shingles, time};
use crate::exit::Exit;
use crate::interrupt::Ending;
use crate::output::Output;

/// Runs `eval`.
pub(crate) fn run(
    args: &Args,
    eval: &Eval,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let results = eval.experiment.results();
    let store = std::slice::from_ref(&args.store);
    let inputs = eval.experiment.texts().map_or(store, |texts| &texts.paths);
    eval::check_names(results, inputs)?;
    let ending = Ending::catch(console, "stopped; nothing is written")?;
    let report = match &eval.experiment {
        Experiment::Recall(recall) => recall::run(args, recall, console)?,
        Experiment::Bands(bands) => bands::run(args, bands, console)?,
        Experiment::Shingles(shingles) => shingles::run(args, shingles, console)?,
        Experiment::Time(time) => time::run(args, time, console)?,
        Experiment::Accuracy(accuracy) => accuracy::run(args, accuracy, console)?,
    };
    // What is left takes no time.
    ending.disarm();
    let names = inputs.iter().map(|path| path.display().to_string());
    let report = report.of_corpus(&names.collect::<Vec<_>>().join(", "));
    report.give(results, console, output)?;
    Ok(Exit::failed(report.failed))
}
