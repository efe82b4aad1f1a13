//! `eval`: experiments on the user's own texts.

use std::path::PathBuf;

use anyhow::Result;

use crate::args::Args;
use crate::args::eval::{EvalArgs, EvalCommand};
use crate::console::Console;
use crate::eval::{self, accuracy, bands, recall, shingles, time};
use crate::exit::Exit;
use crate::interrupt::SignalExit;
use crate::number::counted;
use crate::output::Output;

/// Runs `eval`.
pub(crate) fn run(
    args: &Args,
    eval: &EvalArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let results = eval.experiment.results();
    let store = std::slice::from_ref(&args.store);
    let inputs = eval.experiment.texts().map_or(store, |texts| &texts.paths);
    eval::check_names(results, inputs)?;
    let ending = SignalExit::catch(console, "stopped; nothing is written")?;
    let report = match &eval.experiment {
        EvalCommand::Recall(recall) => recall::run(args, recall, console)?,
        EvalCommand::Bands(bands) => bands::run(args, bands, console)?,
        EvalCommand::Shingles(shingles) => shingles::run(args, shingles, console)?,
        EvalCommand::Time(time) => time::run(args, time, console)?,
        EvalCommand::Accuracy(accuracy) => accuracy::run(args, accuracy, console)?,
    };
    // The rest takes no time.
    ending.disarm();
    let report = report.of_corpus(&named(inputs));
    report.give(results, console, output)?;
    Ok(Exit::failed(report.failed))
}

/// The inputs on one line.
fn named(inputs: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let names = inputs.iter().take(SHOWN);
    let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
    match inputs.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!(
            "{} and {}",
            names.join(", "),
            counted(more as u64, "other", "others")
        ),
    }
}
