//! Checking and inserting in one step, from many threads.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::store::compare::{Match, Published};
use crate::store::find::Naming;
use crate::store::handle::Store;
use crate::store::lock::lock;
use crate::store::offer::{Change, Input, Lead, Outcome, Prepared, Request, Turn, Verdict};

impl Store {
    /// Stores a text unless a stored document with another key is a near-duplicate of it.
    ///
    /// May be called from many threads at once: the verdicts are as if the calls had come one
    /// after another, and each is durable when its call returns. Calls that come together share
    /// one commit. A key that has another text is given the new one, unless that is a duplicate.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, Verdict};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let text = "seven swans were swimming on the lake when the snow began to fall at last";
    /// assert_eq!(store.insert_unless_duplicate("page/1", text)?, Verdict::Inserted);
    /// let copy = format!("{text} ...");
    /// match store.insert_unless_duplicate("page/2", &copy)? {
    ///     Verdict::Duplicate(earlier) => assert_eq!(earlier.key, "page/1"),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Documents of a run that was interrupted count as stored: see
    /// [`Writer::forget_run`](crate::Writer::forget_run). One that is given again with the same text
    /// is of no run from then on.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`], [`Error::InvalidText`], [`Error::ReadOnly`], [`Error::WriterHeld`] if
    /// this thread holds the [`Writer`](crate::Writer), or why the commit failed, which every caller
    /// that shares it is told.
    pub fn insert_unless_duplicate(&self, key: &str, text: &str) -> Result<Verdict> {
        self.slot()?.check_not_held_here()?;
        let last = self.last_commit();
        let snapshot = &*last.snapshot;
        let mut prepared = last.prepare(Input::new(key, text))?;
        let named = prepared.row;
        match named.filter(|row| prepared.copies.contains(&row.content)) {
            Some(row) if !snapshot.tables.meta.runs.is_open(row.run) => {
                return Ok(Verdict::Unchanged);
            }
            // It stays whatever becomes of the run, which only the writer can see to.
            Some(_) => {}
            None => {
                if let Some(earlier) = self.find_earlier(&last, &mut prepared)? {
                    return Ok(Verdict::Duplicate(earlier));
                }
            }
        }
        let request = self.shared.queue.join(prepared);
        loop {
            match request.wait() {
                Turn::Done(verdict) => return verdict,
                Turn::Leading | Turn::Waiting => self.lead(),
            }
        }
    }

    /// The best match of an input among what is in the last commit, which is durable, so that a match
    /// there is a verdict. All matches are kept, because one that no other document names now may be
    /// named once it is this call's turn.
    fn find_earlier(&self, last: &Published, prepared: &mut Prepared) -> Result<Option<Match>> {
        let snapshot = &*last.snapshot;
        let sketch = prepared.take_sketch(&last.sketcher)?;
        let probe = sketch.probe(&prepared.hash);
        prepared.matches = self.search(snapshot).matches(probe, 0..snapshot.len)?;
        let best = Naming {
            limit: 1,
            except: Some(&prepared.input.key),
        };
        let earlier = best.name(snapshot, &mut prepared.matches.clone())?.pop();
        prepared.sketch = Some(sketch);
        prepared.checked = snapshot.len;
        Ok(earlier)
    }

    /// Serves everyone in line, the caller among them.
    fn lead(&self) {
        let requests = self.shared.queue.take();
        let mut lead = Lead {
            queue: &self.shared.queue,
            requests,
        };
        let verdicts = self.serve(&lead.requests);
        lead.answer(&verdicts);
    }

    /// Finds the verdicts of all requests, with one commit.
    fn serve(&self, requests: &[Arc<Request>]) -> Result<Vec<Result<Verdict>>> {
        let mut writer = self.writer()?;
        writer.unique(true);
        writer.evidence(true);
        let mut prepared = Vec::with_capacity(requests.len());
        for request in requests {
            let waiting = lock(&request.prepared).take();
            prepared.push(waiting.ok_or(Error::Poisoned).and_then(|mut waiting| {
                waiting.locate(&writer.committed.snapshot)?;
                Ok(waiting)
            }));
        }
        let outcomes = writer.add_prepared(prepared)?;
        writer.commit()?;
        let verdicts = outcomes.into_iter().map(|outcome| outcome.map(verdict));
        Ok(verdicts.collect())
    }
}

fn verdict(outcome: Outcome) -> Verdict {
    match (outcome.change, outcome.earlier) {
        (Change::KeptOut, Some(earlier)) => Verdict::Duplicate(earlier),
        (Change::Unchanged, _) => Verdict::Unchanged,
        _ => Verdict::Inserted,
    }
}
