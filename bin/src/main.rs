//! The `dedupdb` command line.

mod allocator;
mod args;
mod closed_input;
mod cmd;
mod console;
mod dedup_summary;
mod document_source;
mod duration;
mod each;
mod eval;
mod exit;
mod file_list;
mod ignored;
mod inputs;
mod interrupt;
mod json;
mod keys;
mod left_out;
mod marked_diff;
mod number;
mod output;
mod parse;
mod picture;
mod piped_input;
mod prefetch;
mod processor;
mod progress;
mod ranked_pairs;
mod read_counts;
mod rebuilding;
mod serve;
mod store;
mod tally;
mod temporary;
mod text_side;
mod threads;
mod timings;
mod watch;

use std::env::args_os;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::anyhow;
use args::Args;
use console::Console;
use exit::Exit;
use output::Output;

fn main() -> ! {
    run().end()
}

fn run() -> Exit {
    allocator::keep_for_a_moment();
    hush_guarded();
    interrupt::outlive_file_limit();
    let mut args = match Args::typed() {
        Ok(args) => args,
        Err(error) => return explain(&error),
    };
    let console = Console::new(args.quiet);
    let mut output = Output::new(args.json);
    let run = || -> anyhow::Result<Exit> {
        let (threads, note) = threads::start(args.threads)?;
        args.threads = threads;
        args.command.add_listed_files()?;
        let exit = cmd::run(&args, &console, &mut output)?;
        output.flush()?;
        // If a command fails for the same reason, its error says so.
        if let Some(note) = note {
            console.note(&note);
        }
        Ok(exit)
    };
    let done = catch_unwind(AssertUnwindSafe(run));
    let done = done.unwrap_or_else(|_| Err(anyhow!("stopped by a panic, which is a bug")));
    ended(done, &console, args.json)
}

/// Returns how a command ended, and prints the error that ended it. If only the reader of its output is gone, that is
/// no error, but errors that were printed before still count.
fn ended(done: anyhow::Result<Exit>, console: &Console, as_json: bool) -> Exit {
    done.unwrap_or_else(|error| {
        if output::is_broken_pipe(&error) {
            return Exit::failed(console.has_failed());
        }
        let (kind, message) = (store::kind(&error), store::message(&error));
        let path = error.downcast_ref().and_then(dedupdb::Error::path);
        let failure = json::FailureJson::new(kind, &message, path);
        match json::line(&failure).ok().filter(|_| as_json) {
            Some(line) => console.failure(&line),
            None => console.error(&message),
        }
        if kind == store::BUSY {
            Exit::Busy
        } else {
            Exit::Failed
        }
    })
}

/// Suppresses the message of a panic in parquet: with a damaged page, it becomes an error that is reported.
fn hush_guarded() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_guarded = |file: &str| {
            let mut parts = file.split(['/', '\\']);
            parts.any(|part| part.starts_with("parquet-"))
        };
        if !panic.location().is_some_and(|at| is_guarded(at.file())) {
            told(panic);
        }
    }));
}

/// Prints help, the version, or what is wrong with the arguments.
fn explain(error: &clap::Error) -> Exit {
    let console = Console::new(false);
    // The arguments are not known, but for this one.
    if error.use_stderr() && args_os().any(|argument| argument == "--json") {
        let message = error.to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message).trim();
        let failure = json::FailureJson::new("usage", message, None);
        if let Ok(line) = json::line(&failure) {
            console.failure(&line);
            return Exit::Failed;
        }
    }
    let printed = error.print();
    if error.use_stderr() {
        // An error that cannot be printed cannot be reported either.
        return Exit::Failed;
    }
    let printed = printed.map_err(|error| output::named(&error).into());
    ended(printed.map(|()| Exit::Found), &console, false)
}
