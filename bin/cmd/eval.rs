//! `eval`: experiments on texts of one's own.

use anyhow::Result;

use crate::args::Args;
use crate::args::eval::{Eval, Experiment};
use crate::console::Console;
use crate::eval::{self, bands};
use crate::exit::Exit;
use crate::output::Output;

/// Runs `eval`.
pub(crate) fn run(
    args: &Args,
    eval: &Eval,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let results = eval.experiment.results();
    eval::check_names(results)?;
    let report = match &eval.experiment {
        Experiment::Bands(bands) => bands::run(args, bands, console)?,
    };
    report.give(results, console, output)?;
    Ok(if report.failed {
        Exit::Failed
    } else {
        Exit::Found
    })
}
