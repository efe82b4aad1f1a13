//! `compact`: frees space.

use anyhow::Result;
use dedupdb::{Store, upkeep::Rebuild};

use crate::args::{Args, CompactArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::number::bytes;
use crate::output::Output;
use crate::rebuilding;

/// Runs `compact`.
pub(crate) fn run(
    args: &Args,
    compact: &CompactArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let store = crate::store::open_to_write(args)?;
    rebuilding::make_way(&store, &Rebuild::compact(), console)?;
    let before = size(&store)?;
    let begun = store.unfinished_rebuild()?;
    let resumes = begun.is_some_and(|begun| begun.compacts && !begun.is_running);
    if resumes {
        console.note("resumed the compact that was stopped");
    }
    // What was removed since a compact began is left to the next one.
    for _ in 0..=usize::from(resumes) {
        let rebuild = Rebuild::compact().memory(compact.memory);
        if let Err(stopped) = rebuilding::run(&store, rebuild, console)? {
            return Ok(stopped);
        }
    }
    let after = size(&store)?;
    if before < after {
        console.note("there was no space to free; the index has its tables and filters now, for faster queries");
    } else if before == after {
        console.note("there was no space to free");
    }
    if output.is_json() {
        output.object(&json::CompactJson {
            bytes_before: before,
            bytes: after,
        })?;
    } else if !args.quiet {
        output.line(format!("{} before, {} now", bytes(before), bytes(after)))?;
    }
    Ok(Exit::Found)
}

fn size(store: &Store) -> Result<u64> {
    let stats = store.stats()?;
    Ok(stats.files.iter().map(|(_, bytes)| bytes).sum())
}
