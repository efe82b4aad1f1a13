//! Documents that the input is only compared with.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dedup::error::{Error, Result};
use crate::dedup::event::DedupEvent;
use crate::dedup::judge::DedupJudge;
use crate::dedup::lineage::Lineage;
use crate::dedup::outputs::Outputs;
use crate::dedup::settings::{Against, Dedup};
use crate::dedup::summary::ReferenceCounts;
use crate::temporary::fleeting;
use crate::{FileIdentity, ReadCounts, Reason, Skipped, Source, expanded};
use dedupdb::Store;

/// Refuses inputs that are, contain or lie in what they are to be compared with. A document is not a duplicate of
/// itself.
///
/// # Errors
///
/// [`Error::OwnCounterpart`].
pub(crate) fn check_apart(dedup: &mut Dedup) -> Result<()> {
    let Some(Against::Corpus(sources)) = &mut dedup.against else {
        return Ok(());
    };
    *sources = expanded(std::mem::take(sources));
    let against: Vec<_> = sources.iter().filter_map(place).collect();
    for (input, read, identity) in dedup.sources.iter().filter_map(place) {
        for (other, compared, of_compared) in &against {
            let other = other.display();
            let reason = if read == *compared || identity == *of_compared {
                "this would be compared with itself and dropped; compare it with another place"
                    .to_owned()
            } else if read.starts_with(compared) {
                format!(
                    "this is inside {other}, so it would be compared with itself and dropped; compare it with a place \
                     that does not contain it"
                )
            } else if compared.starts_with(&read) {
                format!(
                    "{other} is inside, so it would be compared with itself and dropped; move it out of this folder"
                )
            } else {
                continue;
            };
            let path = input.to_owned();
            return Err(Error::OwnCounterpart { path, reason });
        }
    }
    Ok(())
}

/// Returns a source as named and resolved, with its identity. `None` if it is a stream or does not exist.
fn place(source: &Source) -> Option<(&Path, PathBuf, FileIdentity)> {
    let named = source.named()?;
    let identity = FileIdentity::of(named, &fs::metadata(named).ok()?);
    Some((named, fs::canonicalize(named).ok()?, identity))
}

/// Refuses a source that does not exist, and a file of records that could not be read to its end. A file that is one
/// document is like one record: it is reported, and the others count.
pub(crate) fn check_read(skipped: &Skipped, dedup: &Dedup) -> Result<()> {
    let path = PathBuf::from(&skipped.place);
    let is_lost = match skipped.reason {
        Reason::NotFound => true,
        // If nothing is left, that is an error of its own.
        Reason::AllBad | Reason::BadRecord => false,
        // A table of a folder may have no texts.
        Reason::Unreadable if skipped.named || !skipped.is_of_fields() => {
            !dedup.options.format_at(&path).is_document() && !dedup.skips_unreadable
        }
        _ => skipped.named && skipped.is_failure() && !dedup.skips_unreadable,
    };
    if !is_lost {
        return Ok(());
    }
    let detail = &skipped.detail;
    Err(Error::UnreadCounterpart {
        path,
        reason: format!(
            "{detail}; nothing is written, because what resembles this would be kept (leave it out, or skip \
             what is unreadable, to go on without it)"
        ),
    })
}

/// Returns the store to compare with, and the number of its searches that were cut short before.
pub(super) fn compared(
    against: Against,
    dedup: &Dedup,
    outputs: &Outputs,
    judge: &mut DedupJudge<'_>,
) -> Result<(Store, u64)> {
    let mut reading = ReadCounts::default();
    let store = match against {
        Against::Store(store) => {
            if store.stats()?.has_open_run {
                let path = store.folder().to_owned();
                return Err(Error::UnpublishedCounterpart { path });
            }
            store
        }
        Against::Corpus(sources) => {
            // These documents go into a temporary store, in which those of the input are only looked up.
            let folder = outputs.work().path("against");
            let store = fleeting(&dedup.store_options, folder, &dedup.schema)?;
            let add = crate::Add::new(sources)
                .reading(dedup.options.clone())
                .memory(dedup.memory);
            judge.counterparts = judge.lineage.is_some().then(Lineage::default);
            let mut failed = None;
            let progress = dedup.progress.part();
            let added = add.run(&store.watched(&progress), |event| match event {
                crate::AddEvent::Skipped(skipped) => {
                    let told = check_read(skipped, dedup)
                        .and_then(|()| judge.reporter.observer.tell(DedupEvent::Skipped(skipped)));
                    progress.stop_on(told, &mut failed);
                }
                crate::AddEvent::Stored { key, origin } => {
                    if let Some(lineage) = &mut judge.counterparts {
                        lineage.keep(key, origin);
                    }
                }
                _ => {}
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
            judge.reporter.observer.go_on()?;
            if dedup.options.strict && added.reading.has_failures() {
                return Err(Error::FirstFailure);
            }
            // An empty store would let every document pass.
            if store.stats()?.documents == 0 && added.reading.all_skipped() > 0 {
                return Err(Error::NothingToCompare);
            }
            reading = added.reading;
            store
        }
    };
    judge.reporter.summary.compared = Some(ReferenceCounts {
        documents: store.stats()?.documents,
        reading,
    });
    let before = store.searches_cut_short();
    Ok((store, before))
}
