//! Checking and inserting in one step, from many threads.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::input::{Change, Input, Outcome, Verdict};
use super::lock::lock;
use super::prepared::Prepared;
use super::query::{Match, Naming};
use super::{Published, Store};
use crate::error::{Error, Result};

/// The callers that wait for a verdict.
///
/// The first that finds nobody leading leads: it takes all requests, serves them with one commit,
/// and hands the lead to one of those that came meanwhile. So a commit is shared by all callers
/// that came during the one before it.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    requests: Vec<Arc<Request>>,
    led: bool,
}

#[derive(Debug)]
struct Request {
    prepared: Mutex<Option<Prepared>>,
    turn: Mutex<Turn>,
    changed: Condvar,
}

#[derive(Debug, Default)]
enum Turn {
    #[default]
    Waiting,
    Leading,
    Done(Result<Verdict>),
}

impl Request {
    fn turn(&self, turn: Turn) {
        *lock(&self.turn) = turn;
        self.changed.notify_one();
    }

    /// Waits for a turn other than [`Turn::Waiting`] and takes it.
    fn wait(&self) -> Turn {
        let turn = self
            .changed
            .wait_while(lock(&self.turn), |turn| matches!(turn, Turn::Waiting));
        std::mem::take(&mut *turn.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queue {
    /// Lines up; the caller then waits for its turn.
    fn join(&self, prepared: Prepared) -> Arc<Request> {
        let mut line = lock(&self.line);
        let lead = !std::mem::replace(&mut line.led, true);
        let request = Arc::new(Request {
            prepared: Mutex::new(Some(prepared)),
            turn: Mutex::new(if lead { Turn::Leading } else { Turn::Waiting }),
            changed: Condvar::new(),
        });
        line.requests.push(request.clone());
        request
    }

    fn take(&self) -> Vec<Arc<Request>> {
        std::mem::take(&mut lock(&self.line).requests)
    }

    /// Ends the lead of the caller, and makes the first that waits lead.
    fn hand_over(&self) {
        let mut line = lock(&self.line);
        match line.requests.first() {
            Some(next) => next.turn(Turn::Leading),
            None => line.led = false,
        }
    }
}

/// The requests that a leader took. However the lead ends, all of them get a verdict and the next
/// leader is chosen.
struct Lead<'a> {
    queue: &'a Queue,
    requests: Vec<Arc<Request>>,
}

impl Lead<'_> {
    fn answer(&mut self, verdicts: &Result<Vec<Result<Verdict>>>) {
        for (index, request) in self.requests.drain(..).enumerate() {
            request.turn(Turn::Done(match verdicts {
                Ok(verdicts) => verdicts.get(index).cloned().unwrap_or(Err(Error::Poisoned)),
                Err(error) => Err(error.clone()),
            }));
        }
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        // Only a panic leaves requests without a verdict.
        self.answer(&Err(Error::Poisoned));
        self.queue.hand_over();
    }
}

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
