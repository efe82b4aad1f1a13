//! A run that cuts passages.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

use rayon::prelude::*;

use super::PassageLengths;
use super::kept::{GAP, KeptWords};
use super::scan::scan;
use crate::dedup::dedup_run::keep_unread;
use crate::dedup::error::{Error, Result};
use crate::dedup::judge::{BatchReceiver, DedupJudge};
use crate::dedup::settings::Dedup;
use crate::dedup::sink::OutputSink;
use crate::dedup::summary::PassageCounts;
use crate::publish::work::WorkFolder;
use crate::ranges::without;
use crate::read::batches::send_batches;
use crate::{Item, ItemBatch, SourcedText, count_items};
use dedupdb::sketching::{Shingler, Shingling};

/// Hashes of the words of a text. None is a gap.
#[derive(Debug)]
struct HashedWords(Vec<u32>);

/// A batch, with the words of each of its documents.
type WordBatch = (ItemBatch, Vec<HashedWords>);

/// The run so far.
struct PassageRun<'r> {
    kept: KeptWords,
    lengths: PassageLengths,
    words: Shingler,
    most_lost: f64,
    /// The most bytes of memory, and on disk.
    most: (u64, u64),
    folder: PathBuf,
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
    work: &WorkFolder,
    sink: &mut OutputSink,
) -> Result<()> {
    judge.reporter.fit.changes_texts = true;
    let words = Shingler::new(Shingling::Word(1), true, true)?;
    let hashed = words_ahead(batches, words.clone())?;
    let path = work.path("words");
    let folder = work.folder().to_owned();
    let open = || {
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
    };
    let file = open().map_err(|error| Error::temporary(&folder, error))?;
    let lengths = PassageLengths::of(passage);
    let mut run = PassageRun {
        kept: KeptWords::new(file, lengths),
        lengths,
        words,
        most_lost: dedup.units.most_lost,
        most: (dedup.memory, dedup.temporary_limit.unwrap_or(u64::MAX)),
        folder,
        sink,
        counts: PassageCounts::default(),
    };
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
                    let is_kept = run.cut(document, &words.0)?;
                    judge.reporter.summary.kept += u64::from(is_kept);
                }
            }
        }
        judge.reporter.observer.advance(items, batch.bytes)
    })?;
    judge.reporter.summary.passages = Some(run.counts);
    Ok(())
}

/// Hashes the words of batches on a separate thread as they arrive.
fn words_ahead(
    batches: BatchReceiver,
    words: Shingler,
) -> Result<std::sync::mpsc::Receiver<std::result::Result<WordBatch, crate::Error>>> {
    let hash = move |batch: ItemBatch| -> std::result::Result<WordBatch, crate::Error> {
        let documents = batch.items.par_iter().filter_map(Item::document);
        let hashed = documents.map(|document| -> dedupdb::Result<HashedWords> {
            let hashes = words.in_order(document.text())?;
            let apart = |hash: u32| if hash == GAP { GAP + 1 } else { hash };
            Ok(HashedWords(hashes.into_iter().map(apart).collect()))
        });
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
    fn cut(&mut self, document: &SourcedText, words: &[u32]) -> Result<bool> {
        let cut = scan(words, &mut self.kept, self.lengths);
        let cut = cut.map_err(|error| Error::temporary(&self.folder, error))?;
        let text = document.text();
        let changed = if cut.is_empty() {
            None
        } else {
            let parts = places(text, &self.words.places(text), &cut);
            Some((without(text, &parts), lost(text, &parts)))
        };
        if let Some((left, lost)) = &changed
            && (*lost > self.most_lost || !left.contains(char::is_alphanumeric))
        {
            self.counts.dropped += 1;
            if document.record.is_some() {
                self.sink.pass()?;
            }
            return Ok(false);
        }
        self.counts.changed += u64::from(changed.is_some());
        self.counts.passages += cut.len() as u64;
        self.counts.words += cut.iter().map(|range| range.len() as u64).sum::<u64>();
        let left = changed.as_ref().map(|(left, _)| &**left);
        self.sink.keep(document, None, left)?;
        self.check_room(words.len())?;
        let mut start = 0;
        let ends = cut.iter().map(|range| (range.start, range.end));
        for (end, next) in ends.chain([(words.len(), words.len())]) {
            let pushed = self.kept.push(&words[start..end]);
            pushed.map_err(|error| Error::temporary(&self.folder, error))?;
            start = next;
        }
        Ok(true)
    }

    /// Refuses words for which there is no room.
    fn check_room(&self, words: usize) -> Result<()> {
        let (memory, disk) = self.kept.bytes_with(words);
        let (most_memory, most_disk) = self.most;
        if memory > most_memory {
            return Err(Error::PassageMemory { limit: most_memory });
        }
        if disk > most_disk {
            return Err(Error::TemporaryLimit {
                folder: self.folder.clone(),
                limit: most_disk,
            });
        }
        Ok(())
    }
}

/// Returns the parts of a text with these words that are cut: each with the punctuation and the spaces behind it.
fn places(text: &str, words: &[Range<usize>], cut: &[Range<usize>]) -> Vec<Range<usize>> {
    let part = |range: &Range<usize>| {
        let start = words.get(range.start).map_or(text.len(), |word| word.start);
        let end = words.get(range.end - 1).map_or(text.len(), |word| word.end);
        let next = words.get(range.end).map_or(text.len(), |word| word.start);
        let between = &text[end..next];
        let line = between.find(['\n', '\r']).unwrap_or(between.len());
        let mark = between.find(char::is_whitespace).unwrap_or(between.len());
        // An opening quotation mark belongs to the next word.
        let rest = between[mark..line].trim_start();
        start..end + line - rest.len()
    };
    cut.iter().map(part).collect()
}

/// Returns the share of the characters of a text that these parts have.
fn lost(text: &str, parts: &[Range<usize>]) -> f64 {
    let count = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let cut: usize = parts.iter().map(|part| count(&text[part.clone()])).sum();
    cut as f64 / count(text).max(1) as f64
}
