//! Calls that change the store from many threads and share commits.

use super::judge::Policy;
use super::writer::Writer;
use crate::clock;
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::storage::DocumentRow;
use crate::store::handle::Store;
use crate::store::offer::{
    CallAnswer, CallTurn, LedCalls, Outcome, PreparedInput, StoreCall, check_key,
};

impl Store {
    /// Removes the document `key`. Returns whether it existed.
    ///
    /// Many threads may call it. It takes its turn among the calls of [`Store::insert_unless_duplicate`] and
    /// [`Store::replace`], shares their commits, and is durable when it returns.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// store.insert_unless_duplicate("page/1", "a text")?;
    /// assert!(store.remove("page/1")?);
    /// assert!(!store.remove("page/1")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::insert_unless_duplicate`] that do not concern the text.
    pub fn remove(&self, key: &str) -> Result<bool> {
        self.change(key, |_| false, |key| StoreCall::Remove(key.to_owned()))
    }

    /// Moves [`Document::last_seen`](crate::Document::last_seen) of the document `key` to today, as if it were offered
    /// again with the same text. Returns whether it exists.
    ///
    /// Many threads may call it. It shares commits like [`Store::remove`], and writes nothing if the document was
    /// offered today. The document leaves an interrupted run, like one that is stored again.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// store.insert_unless_duplicate("page/1", "a text")?;
    /// // The server says that the page has not changed.
    /// assert!(store.touch("page/1")?);
    /// assert!(!store.touch("page/2")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::remove`].
    pub fn touch(&self, key: &str) -> Result<bool> {
        let today = clock::day_of(clock::now());
        let is_seen = |row: DocumentRow| row.last_seen >= today;
        self.change(key, is_seen, |key| StoreCall::Touch(key.to_owned()))
    }

    /// Gives the document `old` the key `new`, with all that is stored of it. Returns whether it existed.
    ///
    /// As when a file is renamed, an earlier document `new` is replaced. If it had the same text, the earlier time of
    /// adding and the later day of the last offer stay. Without a document `old`, nothing changes.
    ///
    /// Many threads may call it. It shares commits like [`Store::remove`].
    ///
    /// ```
    /// use dedupdb::{Schema, Store, write::Change};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// let text = "seven swans were swimming on the lake when it began to snow";
    /// store.insert_unless_duplicate("http://example.org/swans", text)?;
    /// // The page has another address now, which its old one would keep out.
    /// assert!(store.rename("http://example.org/swans", "https://example.org/swans")?);
    /// let outcome = store.insert_unless_duplicate("https://example.org/swans", text)?;
    /// assert_eq!(outcome.change, Change::Unchanged);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for `new`, and those of [`Store::remove`].
    pub fn rename(&self, old: &str, new: &str) -> Result<bool> {
        check_key(new)?;
        let call = |old: &str| StoreCall::Rename(old.to_owned(), new.to_owned());
        self.change(old, |_| false, call)
    }

    /// Changes the document `key` by a call, unless it is as it shall be and belongs to no open run. Returns whether it
    /// existed.
    fn change(
        &self,
        key: &str,
        is_done: impl FnOnce(DocumentRow) -> bool,
        call: impl FnOnce(&str) -> StoreCall,
    ) -> Result<bool> {
        self.slot()?.check_not_held_here()?;
        let last = self.last_commit().snapshot;
        let row = last.document(key)?;
        let runs = last.tables.meta.runs;
        let is_done = |row: DocumentRow| !runs.is_open(row.run) && is_done(row);
        if row.is_none_or(is_done) && last.tables.are_last()? {
            return Ok(row.is_some());
        }
        match self.wait_for(call(key))? {
            CallAnswer::Existed(existed) => Ok(existed),
            CallAnswer::Outcome(_) => unreachable!("only documents have outcomes"),
        }
    }

    /// Waits in line for the turn of a call, and for the commit that makes it durable.
    pub(super) fn wait_for(&self, call: StoreCall) -> Result<CallAnswer> {
        let request = self.shared.queue.join(call);
        loop {
            match request.wait() {
                CallTurn::Done(answer) => return answer,
                CallTurn::Leading | CallTurn::Waiting => self.lead(),
            }
        }
    }

    /// Serves all callers in line, including this one.
    pub(crate) fn lead(&self) {
        let mut lead = self.shared.queue.lead();
        let answers = self.serve(&mut lead);
        lead.answer(&answers);
    }

    /// Serves all requests, one after another, with one commit. After an error, those that may still wait are in line.
    fn serve(&self, lead: &mut LedCalls<'_>) -> Result<Vec<Result<CallAnswer>>> {
        let mut writer = self.writer()?;
        writer.announces = false;
        let taken = writer.take_turn_after(lead.gather());
        if let Err(Error::Locked { .. }) = taken {
            lead.leave(self.shared.wait.time);
        }
        taken?;
        lead.gather();
        let requests = &lead.requests;
        let mut serving = CallServer {
            writer: &mut writer,
            policy: Policy::Add,
            offered: Vec::new(),
            answers: Vec::with_capacity(requests.len()),
        };
        for request in requests {
            let call = lock(&request.call).take();
            serving.take(call.ok_or(Error::Poisoned)?)?;
        }
        serving.settle()?;
        let answers = serving.answers;
        writer.commit()?;
        Ok(answers)
    }
}

/// Answers calls in their order. Documents that follow each other and are judged alike are settled together.
#[derive(Debug)]
struct CallServer<'w> {
    writer: &'w mut Writer,
    /// How the documents that are not yet settled are judged.
    policy: Policy,
    offered: Vec<Result<Box<PreparedInput>>>,
    answers: Vec<Result<CallAnswer>>,
}

impl CallServer<'_> {
    /// # Errors
    ///
    /// Those that concern all calls.
    fn take(&mut self, call: StoreCall) -> Result<()> {
        let existed = match call {
            StoreCall::Insert(prepared) => return self.offer(prepared, Policy::AddUnique),
            StoreCall::Replace(prepared) => return self.offer(prepared, Policy::Add),
            StoreCall::Remove(key) => {
                self.settle()?;
                self.writer.remove(&key)?
            }
            StoreCall::Touch(key) => {
                self.settle()?;
                self.writer.touch(&key)?
            }
            StoreCall::Rename(old, new) => {
                self.settle()?;
                self.writer.rename(&old, &new)?.is_some()
            }
        };
        self.answers.push(Ok(CallAnswer::Existed(existed)));
        Ok(())
    }

    fn offer(&mut self, mut prepared: Box<PreparedInput>, policy: Policy) -> Result<()> {
        if policy != self.policy {
            self.settle()?;
            self.policy = policy;
        }
        if policy == Policy::AddUnique {
            self.writer.forget_interrupted_run()?;
        }
        // Others may have committed since it was prepared.
        prepared.locate(&self.writer.committed.snapshot)?;
        self.offered.push(Ok(prepared));
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let offered = std::mem::take(&mut self.offered);
        let outcomes = self.writer.settle_all(offered, self.policy)?;
        // All callers that share the commit share the writer, so it is not the caller's own.
        let of_nobody = |outcome: Outcome| Outcome {
            earlier_is_of_this_writer: false,
            ..outcome
        };
        let answer = |outcome: Result<Outcome>| Ok(CallAnswer::Outcome(of_nobody(outcome?)));
        self.answers.extend(outcomes.into_iter().map(answer));
        Ok(())
    }
}
