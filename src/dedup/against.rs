//! What documents are compared with alone.

use std::ops::ControlFlow;

use crate::Store;
use crate::corpus;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::Judge;
use crate::dedup::outputs::Outputs;
use crate::dedup::settings::{Against, Dedup};

/// The store that documents are compared with alone, and how many of its searches were cut short before.
pub(super) fn compared(
    against: Against,
    dedup: &Dedup,
    outputs: &Outputs,
    judge: &mut Judge<'_>,
) -> Result<(Store, u64)> {
    let store = match against {
        Against::Store(store) => store,
        Against::Corpus(sources) => {
            let folder = outputs.work().path("against");
            let store = dedup.store_options.create(folder, &dedup.schema)?;
            let add = corpus::Add::new(sources)
                .reading(dedup.options.clone())
                .memory(dedup.memory);
            let mut failed = Ok(());
            let added = add.run(&store, |event| {
                let told = match event {
                    corpus::AddEvent::Skipped(skipped) => judge.met.skip(skipped),
                    _ => judge.met.watch.tick(),
                };
                failed = told;
                if failed.is_ok() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            failed?;
            if dedup.options.strict && added.reading.has_failures() {
                return Err(Error::FirstFailure);
            }
            store
        }
    };
    let before = store.searches_cut_short();
    Ok((store, before))
}
