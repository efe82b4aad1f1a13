//! Which documents are kept: the store's writer decides, one batch after the other.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::corpus::{Item, Opened, Origin, Repeated, Sketched, Skipped};
use crate::dedup::done::Done;
use crate::dedup::error::{Error, Result};
use crate::dedup::event::{Dropped, Event, Observer};
use crate::dedup::fit::Fit;
use crate::dedup::lineage::Lineage;
use crate::dedup::removed::Removed;
use crate::{
    Writer,
    write::{Outcome, Uncommitted},
};

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
    /// None if nobody asks for it.
    pub(crate) lineage: Option<Lineage>,
    pub(crate) met: Met<'a>,
}

/// What was met, to be counted and told.
pub(crate) struct Met<'a> {
    pub(crate) done: Done,
    pub(crate) watch: Observer<'a>,
    pub(crate) fit: Fit,
}

impl Met<'_> {
    /// Counts and tells something left out.
    fn skip(&mut self, skipped: &Skipped) -> Result<()> {
        self.done.reading.skipped(skipped.reason);
        self.watch.tell(Event::Skipped(skipped))
    }

    /// Counts and tells a document whose id came before with another text.
    fn repeated(&mut self, place: &str, repeated: &Repeated) -> Result<()> {
        self.done.reading.repeated();
        self.watch.tell(Event::Repeated { place, repeated })
    }

    /// Takes note of what was read.
    ///
    /// # Errors
    ///
    /// It does not fit into what is to be written.
    pub(crate) fn item<D: AsRef<Origin>>(&mut self, item: &Item<D>) -> Result<()> {
        match item {
            Item::Document(document) => {
                let origin = document.as_ref();
                if origin.record.is_none() {
                    self.fit.document(&origin.place())?;
                }
                self.done.reading.document(origin);
                match &origin.repeated {
                    Some(repeated) => self.repeated(&origin.place(), repeated),
                    None => Ok(()),
                }
            }
            Item::Opened(opened) => self.fit.records(opened),
            Item::Skipped(skipped) => self.skip(skipped),
            Item::Unchanged => Ok(()),
        }
    }
}

impl Judge<'_> {
    /// Judges all documents and hands them on. They were met before if `are_met`.
    ///
    /// # Errors
    ///
    /// Those of reading, of the store, of the observer, and of whoever takes what was judged.
    pub(crate) fn judge_all<E: Into<Error>>(
        &mut self,
        batches: &Receiver<Result<Sketched, E>>,
        are_met: bool,
        take: &mut dyn FnMut(Judged) -> Result<()>,
    ) -> Result<()> {
        loop {
            match batches.recv_timeout(TICK) {
                Ok(sketched) => self.judge(sketched.map_err(Into::into)?, are_met, take)?,
                Err(RecvTimeoutError::Timeout) => self.met.watch.tick()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
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
            for item in &sketched.items {
                self.met.item(item)?;
            }
        }
        let items = sketched.items.len() as u64;
        let mut outcomes = self.writer.admit_batch(sketched.documents)?.into_iter();
        for item in sketched.items {
            match item {
                Item::Document(origin) => {
                    let what = "a document was not judged";
                    let outcome = outcomes.next().ok_or(Error::Defect { what })?;
                    take(self.note(origin, outcome)?)?;
                }
                Item::Opened(opened) => take(Judged::Opened(opened))?,
                Item::Unchanged | Item::Skipped(_) => {}
            }
        }
        if are_met {
            self.met.watch.tick()
        } else {
            self.met.watch.advance(items, sketched.bytes)
        }
    }

    fn note(&mut self, origin: Origin, outcome: crate::Result<Outcome>) -> Result<Judged> {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.met.skip(&origin.refused(&error))?;
                return Ok(Judged::Dropped);
            }
        };
        self.met.done.outcome(&outcome);
        let Some(earlier) = outcome.duplicate_of() else {
            if let Some(lineage) = &mut self.lineage {
                let key = outcome.second_key.as_ref().unwrap_or(&origin.key);
                lineage.keep(key, &origin);
            }
            return Ok(Judged::Kept(origin));
        };
        let stored_before = !outcome.earlier_is_of_this_writer;
        let lineage = self.lineage.as_ref().filter(|_| !stored_before);
        let (earlier_source, earlier_record) =
            lineage.map_or((None, None), |lineage| lineage.of(&earlier.key));
        let dropped = Dropped {
            key: &origin.key,
            source: &origin.source,
            record: origin.record,
            earlier,
            earlier_source,
            earlier_record,
            stored_before,
        };
        if let Some(removed) = &mut self.removed {
            removed.add(&dropped)?;
        }
        self.met.watch.tell(Event::Dropped(&dropped))?;
        Ok(Judged::Dropped)
    }
}
