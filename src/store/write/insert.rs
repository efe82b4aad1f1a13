//! Checking and inserting in one step, from many threads.

use std::sync::Arc;

use super::judge::{Finding, Judge, Policy};
use super::pending::Pending;
use crate::error::{Error, Result};
use crate::store::compare::Published;
use crate::store::handle::Store;
use crate::store::lock::lock;
use crate::store::offer::{Body, Change, Input, Lead, Outcome, Prepared, Relation, Request, Turn};

impl Store {
    /// Stores a text, or [its shingles](crate::write::Body), unless a stored document with another key is a
    /// near-duplicate of it.
    ///
    /// Many threads may call it: the outcomes are those of one call after another, and each is durable when its call
    /// returns. Simultaneous calls share one commit. A new text replaces the earlier text of its key, unless it is a
    /// duplicate. The outcome of a duplicate names a document with the same text or, if there is none, the most similar
    /// one.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, write::Change};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let text = "seven swans were swimming on the lake when the snow began to fall at last";
    /// let outcome = store.insert_unless_duplicate("page/1", text)?;
    /// assert_eq!(outcome.change, Change::Added);
    /// let copy = format!("{text} ...");
    /// let outcome = store.insert_unless_duplicate("page/2", &copy)?;
    /// assert_eq!(outcome.change, Change::KeptOut);
    /// assert_eq!(outcome.duplicate_of().unwrap().key, "page/1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If the new text resembles another document, a key that is already stored keeps its old text, which still answers
    /// queries. [Remove](crate::Writer::remove) the key to drop the old text.
    ///
    /// Documents of an interrupted run count as stored; see [`Writer::forget_run`](crate::Writer::forget_run).
    /// Storing one of them again with the same text takes it out of the run.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`], [`Error::InvalidText`], [`Error::InvalidShingles`], [`Error::ReadOnly`],
    /// [`Error::WriterHeld`] if this thread holds the [`Writer`](crate::Writer) or another one does not use it
    /// ([`Options::idle_writer`](crate::Options::idle_writer)), or the reason why the commit failed, which every caller
    /// that shares the commit gets.
    pub fn insert_unless_duplicate(
        &self,
        key: impl Into<String>,
        body: impl Into<Body>,
    ) -> Result<Outcome> {
        self.insert(Input::new(key, body))
    }

    fn insert(&self, input: Input) -> Result<Outcome> {
        self.slot()?.check_not_held_here()?;
        let last = self.last_commit();
        let mut prepared = last.prepare(input)?;
        if let Some(outcome) = self.settled_by(&last, &mut prepared)? {
            return Ok(outcome);
        }
        let request = self.shared.queue.join(prepared);
        loop {
            match request.wait() {
                Turn::Done(outcome) => return outcome,
                Turn::Leading | Turn::Waiting => self.lead(),
            }
        }
    }

    /// The outcome of an input that changes nothing compared with the last commit of all processes. That commit is
    /// durable, so there is nothing to wait for. All matches are kept, because one that no other document names now may be named by the time
    /// of this call's turn.
    fn settled_by(&self, last: &Published, prepared: &mut Prepared) -> Result<Option<Outcome>> {
        let mut judge = Judge {
            store: self,
            committed: last,
            pending: &Pending::new(last.snapshot.len),
            appended: None,
            evidence: false,
            asks: false,
        };
        let runs = last.snapshot.tables.meta.runs;
        let (change, relation, earlier) = match judge.judge(prepared, Policy::AddUnique)?.finding {
            // A document of an open run must be taken out of the run, which only the writer can do.
            Finding::Unchanged(row) if !runs.is_open(row.run) => {
                (Change::Unchanged, Relation::Novel, None)
            }
            Finding::Refused => (Change::Refused, Relation::Novel, None),
            Finding::Duplicate(relation, earlier) => {
                (Change::KeptOut, relation, Some(earlier.found))
            }
            Finding::Unchanged(_) | Finding::Copy(..) | Finding::Wordless | Finding::New => {
                return Ok(None);
            }
        };
        if !last.snapshot.tables.are_last()? {
            // Another process may have removed what it is a duplicate of.
            return Ok(None);
        }
        Ok(Some(Outcome {
            change,
            relation,
            earlier,
            earlier_is_of_this_writer: false,
            second_key: None,
            other_file: None,
        }))
    }

    /// Serves all callers in line, including this one.
    fn lead(&self) {
        let requests = self.shared.queue.take();
        let mut lead = Lead {
            queue: &self.shared.queue,
            requests,
        };
        let outcomes = self.serve(&lead.requests);
        lead.answer(&outcomes);
    }

    /// Settles all requests, with one commit.
    fn serve(&self, requests: &[Arc<Request>]) -> Result<Vec<Result<Outcome>>> {
        let mut writer = self.writer()?;
        writer.announces = false;
        writer.take_turn()?;
        let mut prepared = Vec::with_capacity(requests.len());
        for request in requests {
            let waiting = lock(&request.prepared).take();
            prepared.push(waiting.ok_or(Error::Poisoned).and_then(|mut waiting| {
                waiting.locate(&writer.committed.snapshot)?;
                Ok(waiting)
            }));
        }
        let outcomes = writer.settle_all(prepared, Policy::AddUnique)?;
        writer.commit()?;
        // All callers that share the commit share the writer, so it is not the caller's own.
        let of_nobody = |outcome: Outcome| Outcome {
            earlier_is_of_this_writer: false,
            ..outcome
        };
        Ok(outcomes
            .into_iter()
            .map(|outcome| outcome.map(of_nobody))
            .collect())
    }
}
