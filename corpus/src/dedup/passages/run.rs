//! A run that cuts passages.

use std::fs::File;
use std::io;

use rayon::prelude::*;

use super::cutter::{CutPassages, HashedWords, PassageCutter};
use super::list::PassageLine;
use crate::dedup::dedup_run::keep_unread;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::line_list::LineList;
use crate::dedup::outputs::Outputs;
use crate::dedup::settings::Dedup;
use crate::dedup::sink::OutputSink;
use crate::dedup::summary::PassageCounts;
use crate::read::batches::send_batches;
use crate::{Item, ItemBatch, SourcedText, count_items};
use dedupdb::sketching::Shingler;

/// A batch, with the words of each of its documents.
type WordBatch = (ItemBatch, Vec<HashedWords>);

/// The run so far.
struct PassageRun<'r> {
    cutter: PassageCutter,
    /// The list of what is cut, if there is one.
    list: Option<LineList>,
    sink: &'r mut OutputSink,
    counts: PassageCounts,
}

/// Cuts passages from one document after another, and writes what is left of them.
///
/// # Errors
///
/// Those of reading, of the observer, of the system and of the output; too much memory or disk is needed.
pub(in crate::dedup) fn by_passage(
    judge: &mut DedupJudge<'_>,
    batches: BatchReceiver,
    (dedup, passage): (&Dedup, usize),
    outputs: &Outputs,
    sink: &mut OutputSink,
) -> Result<()> {
    judge.reporter.fit.changes_texts = true;
    let work = outputs.work();
    let folder = work.folder().to_owned();
    // The words of what is kept are in a file, and for the list also the keys of its documents.
    let open = |name: &str| {
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true);
        let file: io::Result<File> = options.open(work.path(name));
        file.map_err(|error| Error::temporary(&folder, error))
    };
    let most = (dedup.memory, dedup.temporary_limit.unwrap_or(u64::MAX));
    let share = dedup.units.most_lost;
    let mut cutter = PassageCutter::new(open("words")?, folder.clone(), passage, share, most)?;
    let list = outputs.removed().zip(dedup.removed.as_deref());
    let list = list.map(|(partial, name)| {
        LineList::begin::<PassageLine<'_>>(partial, name, dedup.removed_is_json)
    });
    if list.is_some() {
        cutter = cutter.with_origins(open("keys")?);
    }
    let mut run = PassageRun {
        cutter,
        list: list.transpose()?,
        sink,
        counts: PassageCounts::default(),
    };
    let hashed = words_ahead(batches, run.cutter.words().clone())?;
    judge.for_each_batch(&hashed, |judge, (batch, words): WordBatch| {
        let (items, mut words) = (count_items(&batch.items), words.into_iter());
        for item in &batch.items {
            judge.reporter.item(item)?;
            match item {
                Item::Opened(opened) => run.sink.open(opened)?,
                Item::Skipped(skipped) => keep_unread(run.sink, skipped)?,
                Item::Unchanged(_) => {}
                Item::Document(document) => {
                    let what = "a document has no words";
                    let words = words.next().ok_or(Error::Defect { what })?;
                    let is_kept = run.cut(document, &words)?;
                    judge.reporter.summary.kept += u64::from(is_kept);
                }
            }
        }
        judge.reporter.observer.advance(items, batch.bytes)
    })?;
    judge.reporter.summary.passages = Some(run.counts);
    run.list.map_or(Ok(()), LineList::finish)
}

/// Hashes the words of batches on a separate thread as they arrive.
fn words_ahead(
    batches: BatchReceiver,
    words: Shingler,
) -> Result<std::sync::mpsc::Receiver<std::result::Result<WordBatch, crate::Error>>> {
    let hash = move |batch: ItemBatch| -> std::result::Result<WordBatch, crate::Error> {
        let documents = batch.items.par_iter().filter_map(Item::document);
        let hashed = documents.map(|document| HashedWords::of(document.text(), &words));
        let hashed = hashed.collect::<dedupdb::Result<Vec<_>>>()?;
        Ok((batch, hashed))
    };
    Ok(send_batches("hashing", 0, move |sender| {
        for batch in batches {
            if sender.send(batch.and_then(&hash)).is_err() {
                return;
            }
        }
    })?)
}

impl PassageRun<'_> {
    /// Writes a document without its passages that stood before. Returns whether it is kept.
    fn cut(&mut self, document: &SourcedText, words: &HashedWords) -> Result<bool> {
        let origin = document.as_ref();
        let cut = self.cutter.cut(document.text(), words, Some(origin))?;
        self.list(document, &cut)?;
        if cut.is_dropped {
            self.counts.dropped += 1;
            if document.record.is_some() {
                self.sink.pass()?;
            }
            return Ok(false);
        }
        self.counts.changed += u64::from(cut.text.is_some());
        self.counts.passages += cut.passages.len() as u64;
        let words = cut
            .passages
            .iter()
            .map(|passage| passage.words.len() as u64);
        self.counts.words += words.sum::<u64>();
        self.sink.keep(document, None, cut.text.as_deref())?;
        Ok(true)
    }

    /// Lists what is cut from a document.
    fn list(&mut self, document: &SourcedText, cut: &CutPassages) -> Result<()> {
        let Some(list) = &mut self.list else {
            return Ok(());
        };
        for (passage, bytes) in cut.passages.iter().zip(&cut.parts) {
            let what = "it is not known where a passage stood before";
            let earlier = self.cutter.earlier(passage, document.as_ref())?;
            let earlier = earlier.ok_or(Error::Defect { what })?;
            let line = PassageLine::of(document, passage, bytes, &earlier, cut.is_dropped);
            list.add(&line)?;
        }
        Ok(())
    }
}
