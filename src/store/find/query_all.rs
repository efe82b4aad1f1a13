//! Many queries at a time.

use std::ops::ControlFlow;

use super::query::{Query, answer};
use crate::error::{Error, Result};
use crate::store::compare::{Match, PublishedCommit};
use crate::store::handle::Store;

impl Store {
    /// Answers many queries from one commit, on all threads of the store. The answers are in the order of the
    /// queries. A query that fails has an error in its place; the others are answered.
    ///
    /// `go_on` is called before each query, on any thread.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use dedupdb::{Query, Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Store::create(folder.path().join("store"), &Schema::default())?;
    /// let mut writer = store.writer()?;
    /// writer.add("one", "it was the first of many long and cold nights in the old lighthouse")?;
    /// writer.commit()?;
    ///
    /// let text = "It was the first of many long and cold nights in the old lighthouse!";
    /// let questions = [Query::text(text), Query::text("another one"), Query::key("two")];
    /// let answers = store.query_all(&questions, &|| ControlFlow::Continue(()))?;
    /// assert_eq!(answers[0].as_ref().unwrap()[0].key, "one");
    /// assert!(answers[1].as_ref().unwrap().is_empty());
    /// assert!(answers[2].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if `go_on` breaks, [`Error::OtherProcess`] in a fork.
    pub fn query_all(
        &self,
        queries: &[Query<'_>],
        go_on: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Result<Vec<Match>>>> {
        let PublishedCommit { snapshot, sketcher } = self.current()?;
        let allowance = &self.shared.allowance;
        let ask = |query: &Query<'_>| match go_on() {
            ControlFlow::Break(()) => None,
            ControlFlow::Continue(()) => Some(answer(&snapshot, &sketcher, allowance, query)),
        };
        let answers = self.shared.pool.map(queries.iter().collect(), ask);
        let answers: Option<Vec<Result<Vec<Match>>>> = answers.into_iter().collect();
        answers.ok_or(Error::Stopped)
    }
}
