//! The `dedupdb` command line.

mod ahead;
mod args;
mod cmd;
mod console;
mod dedup;
mod diff;
mod document;
mod duration;
mod eval;
mod exit;
mod ingest;
mod inputs;
mod interrupt;
mod key;
mod marked;
mod npy;
mod number;
mod outbox;
mod output;
mod parse;
mod plot;
mod preset;
mod progress;
mod reader;
mod reading;
mod rebuilding;
mod seen;
mod side;
mod skip;
mod store;
mod table;
mod tally;
mod timings;
mod uncommitted;
mod walk;
mod watch;

use std::process::ExitCode;

use args::Args;
use console::Console;
use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    let args = match Args::typed() {
        Ok(args) => args,
        Err(error) => return explain(&error).code(),
    };
    let console = Console::new(args.quiet);
    let mut output = Output::new(args.json);
    let done = cmd::run(&args, &console, &mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    let exit = done.unwrap_or_else(|error| {
        if output::is_broken_pipe(&error) {
            return Exit::Found;
        }
        console.error(&format!("{error:#}"));
        Exit::Failed
    });
    exit.code()
}

/// Prints help, the version, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> Exit {
    let failed = error.use_stderr();
    // Nobody is left to tell when this fails too.
    match error.print() {
        Ok(()) | Err(_) if failed => Exit::Failed,
        Ok(()) | Err(_) => Exit::Found,
    }
}
