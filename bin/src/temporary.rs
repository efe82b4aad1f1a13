//! Files read into a temporary store.

use std::path::PathBuf;

use anyhow::Result;
use dedupdb::Schema;
use dedupdb_corpus::{Add, AddEvent, EndReason, Options, ReadCounts, TemporaryStore};

use crate::args::Args;
use crate::console::Console;
use crate::inputs::sources;
use crate::interrupt::Interrupt;
use crate::left_out::LeftOutReporter;
use crate::progress::ReadProgress;
use crate::{store, tally};

/// Makes a store of the documents in `paths`, and returns it with what was read.
///
/// Returns `None` if the user asked to stop.
pub(crate) fn of_paths(
    args: &Args,
    paths: &[PathBuf],
    (schema, options): (&Schema, Options),
    left_out: &mut LeftOutReporter,
    interrupt: &Interrupt,
    console: &Console,
) -> Result<Option<(TemporaryStore, ReadCounts)>> {
    let store = store::temporary(args, schema)?;
    let (plan, planned) = (options.clone(), paths.to_vec());
    let mut progress = ReadProgress::new(console, move || plan.disk_bytes(sources(&planned, None)));
    let mut failed = None;
    let added = Add::new(sources(paths, None))
        .reading(options)
        .run(&store, |event| {
            if let AddEvent::Progress { documents, bytes } = event {
                progress.reach(documents, bytes);
            }
            let told = match event {
                AddEvent::Skipped(skipped) => left_out.tell(skipped),
                _ => Ok(()),
            };
            interrupt.flow_after(told, &mut failed)
        });
    progress.finish();
    if let Some(error) = failed {
        return Err(error);
    }
    let added = added.map_err(store::of_corpus)?;
    if let Some(note) = tally::same_ids_note(&added) {
        console.note(&note);
    }
    let is_stopped = matches!(added.ended, EndReason::Stopped);
    Ok((!is_stopped).then_some((store, added.reading)))
}
