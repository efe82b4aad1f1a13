//! Inserting and replacing documents, from many threads.

use super::judge::{Finding, Judge, JudgedInput, Policy};
use super::pending::PendingDocuments;
use crate::clock;
use crate::error::Result;
use crate::store::compare::PublishedCommit;
use crate::store::handle::Store;
use crate::store::offer::{
    Body, CallAnswer, Change, Input, Outcome, PreparedInput, Relation, StoreCall,
};

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
    /// queries. [Remove](Store::remove) the key to drop the old text, or [replace](Store::replace) it.
    ///
    /// A document that is offered again, with the same text or with one that is kept out, keeps the day in
    /// [`Document::last_seen`](crate::Document::last_seen). It takes a commit once a day; further calls of that day write
    /// nothing.
    ///
    /// The documents of an interrupted run keep nothing out: the call forgets them first, as
    /// [`Writer::forget_run`](crate::Writer::forget_run) does. It waits for a run that goes on.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`](crate::Error::InvalidKey), [`Error::InvalidText`](crate::Error::InvalidText),
    /// [`Error::InvalidShingles`](crate::Error::InvalidShingles), [`Error::ReadOnly`](crate::Error::ReadOnly),
    /// [`Error::WriterHeld`](crate::Error::WriterHeld) if this thread holds the [`Writer`](crate::Writer) or another one does not use it
    /// ([`Options::idle_writer`](crate::Options::idle_writer)), or the reason why the commit failed, which every caller
    /// that shares the commit gets.
    pub fn insert_unless_duplicate(
        &self,
        key: impl Into<String>,
        body: impl Into<Body>,
    ) -> Result<Outcome> {
        self.offer(Input::new(key, body), Policy::AddUnique)
    }

    /// Stores a text, or [its shingles](crate::write::Body), under a key, in place of an earlier text of that key and
    /// whatever it resembles, like [`Writer::add`](crate::Writer::add).
    ///
    /// Many threads may call it, as they do [`Store::insert_unless_duplicate`].
    ///
    /// ```
    /// use dedupdb::{Schema, Store, write::{Change, Relation}};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("seen"), &Schema::default())?;
    /// store.insert_unless_duplicate("page/1", "seven swans were swimming on the lake when it began to snow")?;
    /// store.insert_unless_duplicate("page/2", "nobody knows who painted the crane on the gable")?;
    /// let outcome = store.replace("page/2", "Seven swans were swimming on the lake when it began to snow!")?;
    /// assert_eq!((outcome.change, outcome.relation), (Change::Updated, Relation::NearDuplicate));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Store::insert_unless_duplicate`].
    pub fn replace(&self, key: impl Into<String>, body: impl Into<Body>) -> Result<Outcome> {
        self.offer(Input::new(key, body), Policy::Add)
    }

    fn offer(&self, input: Input, policy: Policy) -> Result<Outcome> {
        self.slot()?.check_not_held_here()?;
        let last = self.last_commit();
        let mut prepared = last.prepare(input)?;
        if let Some(outcome) = self.settled_by(&last, &mut prepared, policy)? {
            return Ok(outcome);
        }
        let call = if policy == Policy::Add {
            StoreCall::Replace
        } else {
            StoreCall::Insert
        };
        match self.wait_for(call(prepared))? {
            CallAnswer::Outcome(outcome) => Ok(outcome),
            CallAnswer::Existed(_) => unreachable!("the answer for a document is an outcome"),
        }
    }

    /// The outcome of an input that changes nothing compared with the last commit of all processes. That commit is
    /// durable, so there is nothing to wait for. All matches are kept, because one that no other document names now may
    /// be named by the time of this call's turn.
    fn settled_by(
        &self,
        last: &PublishedCommit,
        prepared: &mut PreparedInput,
        policy: Policy,
    ) -> Result<Option<Outcome>> {
        // Without a writer: against the last commit alone. If that settles it, nothing is to be made durable.
        let mut judge = Judge {
            store: self,
            committed: last,
            pending: &PendingDocuments::new(last.snapshot.len),
            appended: None,
            evidence: false,
            id_scope: None,
        };
        let runs = last.snapshot.tables.meta.runs;
        if policy == Policy::AddUnique && runs.open != 0 {
            // A writer forgets the run, unless it goes on.
            return Ok(None);
        }
        let JudgedInput { current, finding } = judge.judge(prepared, policy)?;
        let today = clock::day_of(clock::now());
        if !matches!(finding, Finding::Refused) && current.is_some_and(|row| row.last_seen < today)
        {
            // Only the writer can note that it was offered today, or take a document out of its open run.
            return Ok(None);
        }
        let (change, relation, earlier) = match finding {
            Finding::Unchanged(row) if !runs.is_open(row.run) => {
                (Change::Unchanged, Relation::Novel, None)
            }
            Finding::Refused => (Change::Refused, Relation::Novel, None),
            Finding::Duplicate(relation, earlier) => {
                (Change::KeptOut, relation, Some(earlier.found))
            }
            Finding::Unchanged(_) | Finding::Copy(..) | Finding::Wordless | Finding::New(_) => {
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
}
