//! Judges which documents are kept. The store's writer decides, batch by batch.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use crate::dedup::attachments::Attachments;
use crate::dedup::dropped_list::DroppedListWriter;
use crate::dedup::error::{Error, Result};
use crate::dedup::event::{DedupEvent, DroppedDocument, Observer, SpareReason};
use crate::dedup::fit_check::FitCheck;
use crate::dedup::lineage::Lineage;
use crate::dedup::mark::DocumentMark;
use crate::dedup::protection::{DropPermission, Protection};
use crate::dedup::settings::Dedup;
use crate::dedup::summary::DedupSummary;
use crate::dedup::surviving_copy::{self, RecordFiles, SurvivingCopy};
use crate::{
    Item, ItemBatch, Origin, RepeatedId, SketchedBatch, Skipped, UnreadRecord, count_items,
    for_each_batch, is_itself, short_hash,
};
use dedupdb::write::{Change, Outcome, Relation, Uncommitted};
use dedupdb::{Match, Query, Store, Writer};

/// The batches of the input.
pub(crate) type BatchReceiver = Receiver<std::result::Result<ItemBatch, crate::Error>>;

/// An item of the input, with the verdict if it is a document. A document that the store refuses is skipped.
pub(crate) type JudgedItem = Item<(Origin, DocumentVerdict)>;

/// The verdict on a document.
#[derive(Debug)]
pub(crate) struct DocumentVerdict {
    pub(crate) is_kept: bool,
    /// The key under which it is stored, if it is stored.
    pub(crate) stored: Option<String>,
    /// Its mark, if marks are wanted.
    pub(crate) mark: Option<DocumentMark>,
    /// The text that it is kept with, if parts of its own are cut.
    pub(crate) text: Option<String>,
}

/// The state of judging documents.
pub(crate) struct DedupJudge<'a> {
    pub(crate) writer: Writer,
    pub(crate) uncommitted: Uncommitted,
    pub(crate) removed: Option<DroppedListWriter>,
    /// `None` unless it is requested.
    pub(crate) lineage: Option<Lineage>,
    /// The same for the documents that were read for comparison.
    pub(crate) counterparts: Option<Lineage>,
    /// The resolved folder, if files are moved from it.
    pub(crate) moved_from: Option<PathBuf>,
    /// The contents of the files of records, if files are moved because of these.
    pub(crate) record_files: RecordFiles,
    /// The number of duplicates to keep beside a kept document.
    pub(crate) beside: u32,
    /// The number of duplicates met so far, by the hash of the key under which the kept document is stored.
    pub(crate) besides: HashMap<u64, u32>,
    /// What the documents of a group have besides their texts.
    pub(crate) attachments: Attachments,
    /// Whether each document gets a mark.
    pub(crate) is_marking: bool,
    pub(crate) protection: Protection,
    /// Whether the documents being judged are protected.
    pub(crate) is_protecting: bool,
    /// Whether it is known that the documents being judged resemble no kept one.
    pub(crate) is_settled: bool,
    pub(crate) reporter: JudgeReporter<'a>,
}

/// Counts and reports what is met.
pub(crate) struct JudgeReporter<'a> {
    pub(crate) summary: DedupSummary,
    /// The number of kept documents that the store had before.
    pub(crate) known: u64,
    pub(crate) observer: Observer<'a>,
    pub(crate) fit: FitCheck,
}

impl JudgeReporter<'_> {
    /// Counts and reports a skipped file or record.
    ///
    /// # Errors
    ///
    /// It is an input that was named and cannot be read; those of the observer.
    pub(crate) fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.summary.reading.skipped(skipped);
        self.observer.tell(DedupEvent::Skipped(skipped))?;
        if skipped.named && skipped.is_failure() && !self.fit.skips_unreadable {
            let place = skipped.place.clone();
            return Err(Error::Unreadable { place });
        }
        Ok(())
    }

    /// Counts and reports a document whose id came before with another text.
    fn repeated(&mut self, place: &str, repeated: &RepeatedId) -> Result<()> {
        self.summary.reading.repeated();
        self.observer.tell(DedupEvent::Repeated { place, repeated })
    }

    /// Counts and reports a document that is not dropped although its key is listed.
    fn spare(&mut self, key: &str, why: SpareReason) -> Result<()> {
        self.summary.spared += 1;
        self.observer.tell(DedupEvent::Spared { key, why })
    }

    /// Checks, counts and reports an item that was read.
    ///
    /// # Errors
    ///
    /// It does not fit into the output; those of the observer.
    pub(crate) fn item<D: AsRef<Origin>>(&mut self, item: &Item<D>) -> Result<()> {
        match item {
            Item::Document(document) => {
                let origin = document.as_ref();
                if origin.record.is_none() {
                    self.fit.document(origin)?;
                } else {
                    self.fit.record(origin)?;
                }
                self.summary.reading.document(origin);
                match &origin.repeated {
                    Some(repeated) => self.repeated(&origin.place(), repeated),
                    None => Ok(()),
                }
            }
            Item::Opened(opened) => {
                self.fit.records(opened)?;
                if let Some(field) = self.fit.field_of_folder(opened) {
                    self.summary.folder_field.get_or_insert(field);
                }
                Ok(())
            }
            Item::Skipped(skipped) => {
                self.fit.unread(skipped)?;
                self.skip(skipped)
            }
            Item::Unchanged(_) => Ok(()),
        }
    }
}

impl DedupJudge<'_> {
    /// Judges all documents and passes them to `take`. If `are_met`, they have been counted before.
    ///
    /// # Errors
    ///
    /// Those of reading, of the store, of the observer, and of `take`.
    pub(crate) fn judge_all<E>(
        &mut self,
        batches: &Receiver<std::result::Result<SketchedBatch, E>>,
        are_met: bool,
        take: &mut dyn FnMut(JudgedItem) -> Result<()>,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        self.for_each_batch(batches, |judge, sketched| {
            judge.judge(sketched, are_met, take)
        })
    }

    /// Calls `take` with each batch as it arrives. Meanwhile, calls the observer and commits what is due.
    ///
    /// # Errors
    ///
    /// Those of the batches, of the store, of the observer, and of `take`.
    pub(crate) fn for_each_batch<B, E>(
        &mut self,
        batches: &Receiver<std::result::Result<B, E>>,
        mut take: impl FnMut(&mut Self, B) -> Result<()>,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        let never: Option<Infallible> = for_each_batch(batches, |batch| -> Result<_> {
            match batch {
                Some(batch) => take(self, batch)?,
                None => self.reporter.observer.go_on()?,
            }
            if self.uncommitted.is_due(&self.writer) {
                self.commit()?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match never {
            None => Ok(()),
        }
    }

    /// Commits the documents judged so far.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        self.uncommitted.committed();
        Ok(())
    }

    fn judge(
        &mut self,
        sketched: SketchedBatch,
        are_met: bool,
        take: &mut dyn FnMut(JudgedItem) -> Result<()>,
    ) -> Result<()> {
        if !are_met {
            for item in &sketched.items {
                self.reporter.item(item)?;
            }
        }
        let items = count_items(&sketched.items);
        // Protected and settled documents stay whatever they resemble, so only copies are looked for.
        let outcomes = if self.is_protecting || self.is_settled {
            self.writer.admit_distinct(sketched.documents)?
        } else {
            self.writer.admit_batch(sketched.documents)?
        };
        let (mut outcomes, store) = (outcomes.into_iter(), self.writer.store().clone());
        for item in sketched.items {
            match item {
                Item::Document(origin) => {
                    let what = "a document was not judged";
                    let outcome = outcomes.next().ok_or(Error::Defect { what })?;
                    take(self.note(origin, outcome, self.is_protecting, &store, None)?)?;
                }
                Item::Opened(opened) => take(Item::Opened(opened))?,
                Item::Skipped(skipped) => take(Item::Skipped(skipped))?,
                Item::Unchanged(_) => {}
            }
        }
        if are_met {
            self.reporter.observer.go_on()
        } else {
            self.reporter.observer.advance(items, sketched.bytes)
        }
    }

    /// Determines which documents must not be dropped.
    ///
    /// # Errors
    ///
    /// Those of the observer; a pattern protects nothing.
    pub(crate) fn protect(&mut self, dedup: &Dedup, inputs: &[PathBuf]) -> Result<()> {
        self.protection = Protection::of(dedup, inputs);
        let mut tick = || self.reporter.observer.go_on();
        self.protection.look(dedup, inputs, &mut tick)
    }

    /// Returns whether a document that was read must not be dropped. Call this once per document.
    ///
    /// # Errors
    ///
    /// Those of the observer.
    pub(crate) fn guard(&mut self, origin: &Origin) -> Result<bool> {
        let guard = self.protection.guard(origin);
        if guard == DropPermission::Contradicted {
            self.reporter.spare(&origin.key, SpareReason::Protected)?;
        }
        Ok(guard != DropPermission::None)
    }

    /// After all documents are read, reports the listed keys that none of them had.
    ///
    /// # Errors
    ///
    /// Those of the observer; a pattern protects no document.
    pub(crate) fn check_protection(&mut self) -> Result<()> {
        for (key, why) in self.protection.unknown() {
            self.reporter.spare(key, why)?;
        }
        self.protection.check()
    }

    /// Judges a document by the outcome of offering it.
    ///
    /// # Errors
    ///
    /// Those of the store, of the system and of the observer.
    pub(crate) fn note(
        &mut self,
        origin: Origin,
        outcome: dedupdb::Result<Outcome>,
        is_protected: bool,
        store: &Store,
        standing: Option<SurvivingCopy>,
    ) -> Result<JudgedItem> {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return self.refuse(origin, &error),
        };
        let Some(earlier) = outcome.duplicate_of() else {
            return self.keep(origin, &outcome, is_protected);
        };
        let stored_before = !outcome.earlier_is_of_this_writer;
        // A duplicate stays if it is protected, has an attachment that no other of its group has, or is one of the few
        // to keep.
        let has_more = self.has_more(&origin, &earlier.key);
        let is_kept = is_protected || has_more || !stored_before && self.is_beside(&earlier.key);
        if has_more && !is_protected && self.protection.has_keys() {
            self.reporter.spare(&origin.key, SpareReason::Attachments)?;
        }
        let mark = self.is_marking.then(|| DocumentMark {
            is_kept,
            number: cluster(&earlier.key),
            key: earlier.key.clone(),
            share: earlier.jaccard.unwrap_or(earlier.estimate.jaccard),
        });
        let verdict = DocumentVerdict {
            is_kept,
            stored: None,
            mark,
            text: None,
        };
        if is_kept {
            self.reporter.summary.kept += 1;
            self.reporter.known += u64::from(stored_before);
            return Ok(Item::Document((origin, verdict)));
        }
        // It is dropped. What stands for it is looked for only if files are moved.
        let is_contained = outcome.relation == Relation::Contained;
        let counts = &mut self.reporter.summary;
        counts.dropped_one(earlier, stored_before, is_contained);
        let before = stored_before.then_some(earlier);
        let standing = self.surviving_copy(&origin, before, store, standing)?;
        self.reporter.summary.of_itself +=
            u64::from(matches!(standing, Some(SurvivingCopy::Itself)));
        // The other document was read in this run, read for comparison, or stored before.
        let lineage = if stored_before {
            self.counterparts.as_ref()
        } else {
            self.lineage.as_ref()
        };
        let (earlier_source, earlier_record) =
            lineage.map_or((None, None), |lineage| lineage.of(&earlier.key));
        let file = lineage.and_then(|lineage| lineage.file(&earlier.key));
        let dropped = DroppedDocument {
            key: &origin.key,
            source: &origin.source,
            record: origin.record,
            earlier,
            earlier_source,
            earlier_record,
            stored_before,
            is_contained,
            is_extracted: origin.is_extracted,
            is_earlier_protected: lineage.is_some_and(|it| it.is_protected(&earlier.key)),
            surviving_copy: standing.as_ref(),
            files: [origin.read, file],
        };
        report_dropped(&mut self.removed, &mut self.reporter, &dropped)?;
        Ok(Item::Document((origin, verdict)))
    }

    /// Counts a document that resembles no kept one.
    fn keep(
        &mut self,
        origin: Origin,
        outcome: &Outcome,
        is_protected: bool,
    ) -> Result<JudgedItem> {
        self.reporter.summary.kept += 1;
        self.reporter.known += u64::from(outcome.change == Change::Unchanged);
        let key = outcome.second_key.as_ref().unwrap_or(&origin.key);
        // From now on its attachments are known.
        self.has_more(&origin, key);
        if let Some(lineage) = &mut self.lineage {
            lineage.keep(key, &origin);
            // Otherwise it is one that is not in the list of those to drop.
            if is_protected && !self.protection.has_keys() {
                lineage.protect(key);
            }
        }
        if !is_protected && self.protection.has_keys() {
            self.reporter.spare(&origin.key, SpareReason::Alone)?;
        }
        let mark = self.is_marking.then(|| DocumentMark {
            is_kept: true,
            number: cluster(key),
            key: key.clone(),
            share: 1.0,
        });
        let verdict = DocumentVerdict {
            is_kept: true,
            stored: Some(key.clone()),
            mark,
            text: None,
        };
        Ok(Item::Document((origin, verdict)))
    }

    /// Returns the folder that files are moved from, unless they are compared with documents that were read.
    fn stored_root(&self) -> Option<&Path> {
        let root = self.moved_from.as_deref();
        root.filter(|_| self.counterparts.is_none())
    }

    /// Returns what stands for a document, if it was stored `before`, as far as it is looked at: what was `chosen`, or, of
    /// documents that are not moved, only whether it is the one that was read.
    fn surviving_copy(
        &self,
        origin: &Origin,
        before: Option<&Match>,
        store: &Store,
        chosen: Option<SurvivingCopy>,
    ) -> Result<Option<SurvivingCopy>> {
        let Some(earlier) = before else {
            return Ok(None);
        };
        Ok(match (chosen, self.stored_root()) {
            (None, Some(root)) => Some(surviving_copy::of(
                origin,
                earlier,
                store,
                root,
                &self.record_files,
            )?),
            (None, None) => is_itself(origin, &earlier.key, |_| earlier.exact_copy, store)?
                .then_some(SurvivingCopy::Itself),
            (chosen, _) => chosen,
        })
    }

    /// Leaves out a document that the store refuses.
    fn refuse(&mut self, origin: Origin, error: &dedupdb::Error) -> Result<JudgedItem> {
        let mut skipped = origin.refused(error);
        self.reporter.skip(&skipped)?;
        let verbatim = origin.verbatim;
        let unread = (origin.record).map(|nth| Box::new(UnreadRecord { nth, verbatim }));
        skipped.record = unread;
        Ok(Item::Skipped(skipped))
    }

    /// Whether a document has something besides its text that no document has which resembles the one stored as `key`.
    fn has_more(&mut self, origin: &Origin, key: &str) -> bool {
        let attachments = origin.attachments.as_deref();
        attachments.is_some_and(|hash| self.attachments.are_new(key, hash))
    }

    /// Whether a document that resembles the one stored as `key` is one of the few to keep beside it.
    fn is_beside(&mut self, key: &str) -> bool {
        if self.beside == 0 {
            return false;
        }
        let count = self.besides.entry(short_hash(key)).or_default();
        *count += 1;
        *count <= self.beside
    }

    /// Drops a document that was counted as kept.
    ///
    /// # Errors
    ///
    /// Those of the system and of the observer.
    pub(crate) fn drop_late(&mut self, dropped: &DroppedDocument<'_>) -> Result<()> {
        let done = &mut self.reporter.summary;
        done.kept = done.kept.saturating_sub(1);
        done.dropped_one(dropped.earlier, dropped.stored_before, dropped.is_contained);
        report_dropped(&mut self.removed, &mut self.reporter, dropped)
    }

    /// Judges documents only by comparison with the store, and passes them to `take`.
    ///
    /// # Errors
    ///
    /// Those of reading, of the store, of the observer, and of `take`.
    pub(crate) fn judge_against(
        &mut self,
        batches: &BatchReceiver,
        store: &Store,
        take: &mut dyn FnMut(JudgedItem) -> Result<()>,
    ) -> Result<()> {
        let shingler = store.shingler()?;
        self.for_each_batch(batches, |judge, batch| {
            let (items, bytes) = (count_items(&batch.items), batch.bytes);
            // The texts of a batch are queried together, on all threads.
            let documents = batch.items.iter().filter_map(Item::document);
            let queries = documents.map(|it| Query::of(it.subject()).limit(1).copies_first());
            let queries: Vec<Query<'_>> = queries.collect();
            let answers = store.query_all(&queries)?;
            let mut answers = answers.into_iter();
            for item in batch.items {
                judge.reporter.item(&item)?;
                if let Item::Skipped(skipped) = &item {
                    judge.protection.leave_out(skipped);
                }
                match item {
                    Item::Document(document) => {
                        let what = "a document was not judged";
                        let answer = answers.next().ok_or(Error::Defect { what })?;
                        let found = answer.map(|found| found.into_iter().next());
                        let answer = match found {
                            // A text without words says nothing, so its copies stay.
                            Ok(Some(found)) if found.exact_copy => {
                                let is_wordless = shingler.shingles(document.text())?.is_empty();
                                Ok(Some(found).filter(|_| !is_wordless))
                            }
                            found => found,
                        };
                        // If files are moved, a match is preferred whose file still exists.
                        let mut standing = None;
                        let answer = match (answer, judge.stored_root()) {
                            (Ok(Some(found)), Some(root)) => {
                                let records = &judge.record_files;
                                let chosen =
                                    surviving_copy::chosen(&document, found, store, root, records)?;
                                standing = Some(chosen.1);
                                Ok(Some(chosen.0))
                            }
                            (answer, _) => answer,
                        };
                        let is_protected = judge.guard(&document)?;
                        let outcome = answer.map(Outcome::against);
                        let origin = document.into_origin();
                        take(judge.note(origin, outcome, is_protected, store, standing)?)?;
                    }
                    Item::Opened(opened) => take(Item::Opened(opened))?,
                    Item::Skipped(skipped) => take(Item::Skipped(skipped))?,
                    Item::Unchanged(_) => {}
                }
            }
            judge.reporter.observer.advance(items, bytes)
        })
    }
}

/// Reports a dropped document.
fn report_dropped(
    removed: &mut Option<DroppedListWriter>,
    reporter: &mut JudgeReporter<'_>,
    dropped: &DroppedDocument<'_>,
) -> Result<()> {
    if let Some(removed) = removed {
        removed.add(dropped)?;
    }
    reporter.observer.tell(DedupEvent::Dropped(dropped))
}

/// Returns the cluster number of the document that is stored as `key`. It is below 2^53, so that all JSON readers
/// preserve it.
fn cluster(key: &str) -> u64 {
    short_hash(key) >> 11
}
