//! Which documents are kept: the store's writer decides, one batch after the other.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use dedupdb::corpus::{Entry, Item, Opened, Origin, Sketched, Skipped, place};
use dedupdb::{Admission, Writer};

use crate::console::Console;
use crate::dedup::fit::Fit;
use crate::dedup::lineage::Lineage;
use crate::dedup::removed::{Dropped, Removed};
use crate::dedup::summary::Summary;
use crate::interrupt::Interrupt;
use crate::left_out::LeftOut;
use crate::progress::Progress;
use crate::uncommitted::Uncommitted;

/// How long to wait for a batch before looking after the rest.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// What is known of one document or file after the other.
#[derive(Debug)]
pub(crate) enum Judged {
    /// A file of records begins.
    Opened(Opened),
    Kept(Origin),
    Dropped,
}

/// A judgement that is under way.
pub(crate) struct Judge<'a> {
    pub(crate) writer: Writer,
    pub(crate) uncommitted: Uncommitted,
    pub(crate) removed: Option<Removed>,
    pub(crate) lineage: Lineage,
    pub(crate) met: Met<'a>,
}

/// What was met, to be told.
pub(crate) struct Met<'a> {
    pub(crate) console: &'a Console,
    pub(crate) summary: Summary,
    pub(crate) left_out: LeftOut,
    pub(crate) progress: Progress,
    pub(crate) fit: Fit,
}

impl Met<'_> {
    /// Counts and tells something left out.
    ///
    /// # Errors
    ///
    /// The list of those left out cannot be written.
    pub(crate) fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.summary.reading.skipped(skipped.reason);
        self.left_out.tell(skipped)
    }

    /// Counts a document whose id came before with another text, and tells of the first.
    fn repeated(&mut self, place: &str, detail: &str) {
        if self.summary.reading.repeated() {
            self.console.error(&format!("{place}: {detail}"));
        }
    }

    /// Takes note of what was read and is judged later.
    ///
    /// # Errors
    ///
    /// It does not fit into what is to be written.
    pub(crate) fn item(&mut self, item: &Item) -> Result<()> {
        match item {
            Item::Document(document) => {
                if document.line.is_none() {
                    self.fit.document(&document.place())?;
                }
                let bytes = document.size.unwrap_or(document.text.len() as u64);
                let reading = &mut self.summary.reading;
                reading.read(bytes, document.replaced, document.lossy_key);
                reading.record(document.line, document.has_id);
                reading.decoded(document.encoding);
                if let Some(detail) = &document.repeated {
                    self.repeated(&document.place(), detail);
                }
            }
            Item::Opened(opened) => self.fit.records(opened)?,
            Item::Skipped(skipped) => self.skip(skipped)?,
            Item::Unchanged => {}
        }
        Ok(())
    }

    /// Takes note of what was read and is judged now.
    fn entry(&mut self, entry: &Entry) -> Result<()> {
        match entry {
            Entry::Document(origin) => {
                if origin.line.is_none() {
                    self.fit.document(&origin.source.display().to_string())?;
                }
                let reading = &mut self.summary.reading;
                reading.read(origin.bytes, origin.replaced, origin.lossy_key);
                reading.record(origin.line, origin.has_id);
                reading.decoded(origin.encoding);
                if let Some(detail) = &origin.repeated {
                    self.repeated(&place(&origin.source, origin.line), detail);
                }
            }
            Entry::Opened(opened) => self.fit.records(opened)?,
            Entry::Skipped(skipped) => self.skip(skipped)?,
            Entry::Unchanged => {}
        }
        Ok(())
    }
}

impl Judge<'_> {
    /// Judges all documents and hands them on. They were met before if `are_met`. Says whether it
    /// was interrupted.
    ///
    /// # Errors
    ///
    /// Those of reading, of the store, and of whoever takes what was judged.
    pub(crate) fn judge_all<E: Into<anyhow::Error>>(
        &mut self,
        batches: &Receiver<Result<Sketched, E>>,
        interrupt: &Interrupt,
        are_met: bool,
        take: &mut dyn FnMut(Judged) -> Result<()>,
    ) -> Result<bool> {
        loop {
            if interrupt.is_raised() {
                return Ok(true);
            }
            match batches.recv_timeout(TICK) {
                Ok(sketched) => self.judge(sketched.map_err(Into::into)?, are_met, take)?,
                Err(RecvTimeoutError::Timeout) => self.met.progress.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
            if self.uncommitted.is_due(self.writer.uncommitted_bytes()) {
                self.commit()?;
            }
        }
    }

    /// Makes what was judged durable.
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
        sketched: Sketched,
        are_met: bool,
        take: &mut dyn FnMut(Judged) -> Result<()>,
    ) -> Result<()> {
        if !are_met {
            for entry in &sketched.entries {
                self.met.entry(entry)?;
            }
        }
        let entries = sketched.entries.len() as u64;
        let mut admissions = self.writer.admit_batch(sketched.documents)?.into_iter();
        for entry in sketched.entries {
            match entry {
                Entry::Document(origin) => {
                    let admission = admissions.next().context("a document was not judged")?;
                    take(self.note(origin, admission)?)?;
                }
                Entry::Opened(opened) => take(Judged::Opened(opened))?,
                Entry::Unchanged | Entry::Skipped(_) => {}
            }
        }
        if are_met {
            self.met.progress.tick();
        } else {
            self.met.progress.advance(entries, sketched.bytes);
        }
        Ok(())
    }

    fn note(&mut self, origin: Origin, admission: dedupdb::Result<Admission>) -> Result<Judged> {
        let admission = match admission {
            Ok(admission) => admission,
            Err(error) => {
                self.met.skip(&origin.refused(&error))?;
                return Ok(Judged::Dropped);
            }
        };
        self.met.summary.admission(&admission);
        let (earlier, is_stored) = match admission {
            Admission::New { key } => {
                if self.removed.is_some() {
                    self.lineage.keep(&key, &origin);
                }
                return Ok(Judged::Kept(origin));
            }
            Admission::Duplicate {
                earlier,
                is_of_this_writer,
            } => (earlier, !is_of_this_writer),
        };
        if let Some(removed) = &mut self.removed {
            let is_here = !is_stored;
            let dropped = Dropped {
                origin: &origin,
                place: if is_here {
                    self.lineage.of(&earlier.key)
                } else {
                    (None, None)
                },
                earlier: &earlier,
                is_stored,
            };
            let listed = removed.add(&dropped);
            listed.with_context(|| removed.partial().display().to_string())?;
        }
        Ok(Judged::Dropped)
    }
}
