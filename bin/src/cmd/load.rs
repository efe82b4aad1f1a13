//! `load`: stores documents from their sketches.

use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb_corpus::{AddEvent, EndReason};

use crate::args::{Args, LoadArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;
use crate::json;
use crate::left_out::{LeftOutReporter, NamingScope};
use crate::output::Output;
use crate::{store, tally};

/// Runs `load`.
pub(crate) fn run(
    args: &Args,
    load: &LoadArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    load.telling.check(&load.paths, &[])?;
    let asked = dedupdb_corpus::Load::new(&load.paths)?.memory(load.memory);
    let Some(schema) = asked.schema()? else {
        bail!("there is no sketch in these files");
    };
    let progress = interrupt::catch()?;
    let options = store::options(args);
    let opened = store::open_or_create(args, options, &schema, &progress, console)?;
    let Some(store) = opened else {
        console.error("stopped; nothing was loaded");
        return Ok(Exit::Interrupted);
    };
    let mut left_out = LeftOutReporter::begin(console, &load.telling, NamingScope::Failures)?;
    let (started, mut failed) = (Instant::now(), None);
    let loaded = asked.run(&store, |event| {
        let told = match event {
            AddEvent::Skipped(skipped) => left_out.tell(skipped),
            _ => Ok(()),
        };
        progress.stop_on(told, &mut failed);
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let loaded = loaded.map_err(store::of_corpus)?;
    left_out.finish()?;
    let elapsed = started.elapsed();
    if output.is_json() {
        output.object(&json::AddJson::new(&loaded, elapsed, false))?;
    } else if !args.quiet {
        output.line(tally::to_text(&loaded, None, &store::command(args), elapsed).trim_end())?;
    }
    output.flush()?;
    if loaded.ended == EndReason::Stopped {
        console.error("stopped; what was loaded so far is kept, and the same command continues");
        return Ok(Exit::Interrupted);
    }
    let exit = Exit::failed(loaded.reading.has_failures());
    Ok(exit.unless_stopped(&progress, console))
}
