//! Many queries at a time.

use super::query::{Query, answer};
use crate::error::Result;
use crate::store::compare::{Match, PublishedCommit};
use crate::store::handle::Store;

impl Store {
    /// Answers many queries from one commit, on all threads of the store. The answers are in the order of the
    /// queries. A query that fails has an error in its place; the others are answered. Each query is a step of the
    /// handle's [progress](Store::watched).
    ///
    /// ```
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
    /// let answers = store.query_all(&questions)?;
    /// assert_eq!(answers[0].as_ref().unwrap()[0].key, "one");
    /// assert!(answers[1].as_ref().unwrap().is_empty());
    /// assert!(answers[2].is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Stopped`](crate::Error::Stopped), [`OtherProcess`](crate::Error::OtherProcess) in a fork.
    pub fn query_all(&self, queries: &[Query<'_>]) -> Result<Vec<Result<Vec<Match>>>> {
        let PublishedCommit { snapshot, sketcher } = self.current()?;
        let allowance = &self.shared.allowance;
        self.answer_all(queries, |query| {
            answer(&snapshot, &sketcher, allowance, query)
        })
    }

    /// Answers queries on all threads, as steps of the progress.
    pub(crate) fn answer_all<Q: Sync, A: Send>(
        &self,
        queries: &[Q],
        answer: impl Fn(&Q) -> Result<A> + Sync,
    ) -> Result<Vec<Result<A>>> {
        self.progress.begin(queries.len() as u64);
        let answers = self.shared.pool.map(queries.iter().collect(), |query| {
            self.progress.go_on()?;
            let answer = answer(query);
            self.progress.step(1)?;
            Ok(answer)
        });
        answers.into_iter().collect()
    }
}
