//! A run that cuts passages.

use std::fs::File;
use std::io;
use std::sync::mpsc::Receiver;

use rayon::prelude::*;

use super::EVERY_COPY;
use super::cutter::{CutPassages, HashedWords, PassageCutter};
use super::frequent::PassageCounter;
use super::list::PassageLine;
use crate::dedup::dedup_run::keep_unread;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::line_list::LineList;
use crate::dedup::outputs::Outputs;
use crate::dedup::settings::Dedup;
use crate::dedup::sink::OutputSink;
use crate::dedup::spool::Spool;
use crate::dedup::summary::PassageCounts;
use crate::read::batches::send_batches;
use crate::{Item, ItemBatch, SourcedText, count_items};
use dedupdb::sketching::Shingler;

/// A batch, with the words of each of its documents.
type WordBatch = (ItemBatch, Vec<HashedWords>);

type WordReceiver<E> = Receiver<std::result::Result<WordBatch, E>>;

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
    if dedup.min_count > EVERY_COPY {
        let spool = Spool::new(work, dedup.temporary_limit)?;
        let counter = run.cutter.counter(open("counts")?, dedup.min_count);
        let (spool, counter) = count_all(judge, &hashed, spool, counter)?;
        let mut wait = || judge.reporter.observer.go_on();
        run.cutter.cut_frequent(counter, spool.bytes(), &mut wait)?;
        let hashed = words_ahead(spool.all()?, run.cutter.words().clone())?;
        run.cut_all(judge, &hashed, true)?;
    } else {
        run.cut_all(judge, &hashed, false)?;
    }
    judge.reporter.summary.passages = Some(run.counts);
    run.list.map_or(Ok(()), LineList::finish)
}

/// Counts the passages of all documents, which go to a spool.
fn count_all(
    judge: &mut DedupJudge<'_>,
    batches: &WordReceiver<crate::Error>,
    mut spool: Spool,
    mut counter: PassageCounter,
) -> Result<(Spool, PassageCounter)> {
    judge.for_each_batch(batches, |judge, (batch, words): WordBatch| {
        for item in &batch.items {
            judge.reporter.item(item)?;
            match item {
                Item::Opened(opened) => spool.open(opened)?,
                Item::Document(document) => {
                    spool.push(document)?;
                }
                Item::Skipped(_) | Item::Unchanged(_) => {}
            }
        }
        for words in words {
            let counted = counter.push(&words.0);
            counted.map_err(|error| Error::temporary(spool.folder(), error))?;
        }
        spool.check_room(counter.written())?;
        let items = count_items(&batch.items);
        judge.reporter.observer.advance(items, batch.bytes)
    })?;
    Ok((spool, counter))
}

/// Hashes the words of batches on a separate thread as they arrive.
fn words_ahead<E: From<crate::Error> + Send + 'static>(
    batches: Receiver<std::result::Result<ItemBatch, E>>,
    words: Shingler,
) -> Result<WordReceiver<E>> {
    let hash = move |batch: ItemBatch| -> std::result::Result<WordBatch, crate::Error> {
        let documents = batch.items.par_iter().filter_map(Item::document);
        let hashed = documents.map(|document| HashedWords::of(document.text(), &words));
        let hashed = hashed.collect::<dedupdb::Result<Vec<_>>>()?;
        Ok((batch, hashed))
    };
    Ok(send_batches("hashing", 0, move |sender| {
        for batch in batches {
            let hashed = batch.and_then(|batch| Ok(hash(batch)?));
            if sender.send(hashed).is_err() {
                return;
            }
        }
    })?)
}

impl PassageRun<'_> {
    /// Cuts passages from all documents. If they `are_met`, they have been counted before.
    fn cut_all<E>(
        &mut self,
        judge: &mut DedupJudge<'_>,
        batches: &WordReceiver<E>,
        are_met: bool,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        judge.for_each_batch(batches, |judge, (batch, words): WordBatch| {
            let (items, mut words) = (count_items(&batch.items), words.into_iter());
            for item in &batch.items {
                if !are_met {
                    judge.reporter.item(item)?;
                }
                match item {
                    Item::Opened(opened) => self.sink.open(opened)?,
                    Item::Skipped(skipped) => keep_unread(self.sink, skipped)?,
                    Item::Unchanged(_) => {}
                    Item::Document(document) => {
                        let what = "a document has no words";
                        let words = words.next().ok_or(Error::Defect { what })?;
                        let is_kept = self.cut(document, &words)?;
                        judge.reporter.summary.kept += u64::from(is_kept);
                    }
                }
            }
            if are_met {
                return judge.reporter.observer.go_on();
            }
            judge.reporter.observer.advance(items, batch.bytes)
        })
    }

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
