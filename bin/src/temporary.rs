//! Files read into a temporary store.

use std::path::PathBuf;

use anyhow::Result;
use dedupdb::{Progress, Schema};
use dedupdb_corpus::{Add, AddEvent, EndReason, Options, ReadCounts, TemporaryStore};

use crate::args::Args;
use crate::console::Console;
use crate::inputs::sources;
use crate::left_out::LeftOutReporter;
use crate::progress::ReadingBar;
use crate::{store, tally};

/// Makes a store of the documents in `paths`, and returns it with what was read.
///
/// Returns `None` if the user asked to stop.
pub(crate) fn of_paths(
    args: &Args,
    paths: &[PathBuf],
    (schema, options): (&Schema, Options),
    left_out: &mut LeftOutReporter,
    progress: &Progress,
    console: &Console,
) -> Result<Option<(TemporaryStore, ReadCounts)>> {
    let store = store::temporary(args, schema)?;
    let (plan, planned) = (options.clone(), paths.to_vec());
    let progress = progress.part();
    let plan = move || plan.disk_bytes(sources(&planned, None));
    let mut bar = ReadingBar::new(console, plan, &progress);
    let mut failed = None;
    let added =
        Add::new(sources(paths, None))
            .reading(options)
            .run(&store.watched(&progress), |event| {
                let told = match event {
                    AddEvent::Skipped(skipped) => left_out.tell(skipped),
                    _ => Ok(()),
                };
                progress.stop_on(told, &mut failed);
            });
    bar.finish();
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
