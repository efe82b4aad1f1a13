//! Settling documents in parts.

use super::fresh::FreshBatch;
use super::judge::Policy;
use super::names::EarlierDocument;
use super::settle::own_error;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::store::offer::{Outcome, PreparedInput, Relation};

/// The number of documents in a part. In tests, batches have several parts, too.
pub(crate) const PART: usize = if cfg!(test) { 1 << 3 } else { 1 << 10 };

/// The number of documents whose places in the tables of uncommitted changes are read together.
const TOGETHER: usize = 16;

/// Settles documents in parts, with the outcomes of one document after another. While a part is judged, the postings of
/// the previous part are added.
///
/// # Invariant
///
/// The writer counts as failed from the first part until the end, so that a content that is named but not yet appended
/// is never committed.
#[derive(Debug)]
pub(crate) struct Settler<'w> {
    writer: &'w mut Writer,
    policy: Policy,
    had_failed: bool,
    outcomes: Vec<Result<Outcome>>,
    /// The new contents of the last part that are yet to be appended or compared.
    fresh: FreshBatch,
}

impl<'w> Settler<'w> {
    /// Begins to settle `documents` documents.
    pub(crate) fn begin(writer: &'w mut Writer, policy: Policy, documents: usize) -> Settler<'w> {
        let had_failed = std::mem::replace(&mut writer.failed, true);
        Settler {
            writer,
            policy,
            had_failed,
            outcomes: Vec::with_capacity(documents),
            fresh: FreshBatch::default(),
        }
    }

    /// Settles the documents of a part, which were prepared on the last commit or an earlier one.
    ///
    /// # Errors
    ///
    /// Those of reading and writing the store. After one, nothing more is settled.
    pub(crate) fn take(&mut self, mut part: Vec<Result<Box<PreparedInput>>>) -> Result<()> {
        let (writer, policy) = (&*self.writer, self.policy);
        // Policies that keep documents out compare them on all threads first. The writer then compares only with what
        // was added since.
        if policy.keeps_out() {
            let pool = &writer.store.shared.pool;
            part = pool.map(part, |prepared| writer.compare_ahead(prepared?, policy));
        }
        // The new contents of the part before are appended and compared while this part is judged, if there are any.
        let last = std::mem::take(&mut self.fresh);
        if last.left() == 0 {
            let meters = writer.store.shared.meters.clone();
            meters.appending.time(|| self.judge(part))?;
        } else {
            self.judge_beside(last, part)?;
        }
        if self.writer.evidence {
            // The rows of a content that the next part has a copy of may be needed.
            self.finish()?;
        }
        Ok(())
    }

    /// Ends, and returns all outcomes.
    ///
    /// # Errors
    ///
    /// Those of [`Settler::take`].
    pub(crate) fn end(mut self) -> Result<Vec<Result<Outcome>>> {
        self.finish()?;
        self.writer.failed = self.had_failed;
        Ok(self.outcomes)
    }

    /// Judges a part while the new contents of the previous part are posted and compared. Their rows are appended
    /// first. Only afterwards does the writer know which of their matches had a name when they came.
    fn judge_beside(
        &mut self,
        mut last: FreshBatch,
        part: Vec<Result<Box<PreparedInput>>>,
    ) -> Result<()> {
        let store = self.writer.store.clone();
        let (pool, meters) = (&store.shared.pool, &store.shared.meters);
        let (snapshot, judged, matched) = meters.appending.time(|| {
            // The rows come first, and the postings while the next part is judged: until then, no search needs them.
            let unposted = self.writer.files.append(&last.to_append(), pool)?;
            let snapshot = self.writer.files.snapshot()?;
            let post = || {
                let company = unposted.post(&last.to_append(), pool);
                last.appended(company);
                last.matched(&store, &snapshot)
            };
            let (judged, matched) = pool.beside(|| self.judge(part), post);
            Ok::<_, Error>((snapshot, judged, matched))
        })?;
        judged?;
        // Names changed while the part was judged, so they are asked for only now.
        for index in self.writer.like_earlier(&snapshot, &matched?)? {
            self.is_like_earlier(index, None);
        }
        Ok(())
    }

    /// Judges the documents of a part. Their new contents are numbered and left in `fresh`.
    fn judge(&mut self, part: Vec<Result<Box<PreparedInput>>>) -> Result<()> {
        self.fresh = FreshBatch::of_at_most(part.len());
        let mut part = part.into_iter();
        while !part.as_slice().is_empty() {
            // Their places in memory are read together, before any of them is needed.
            let next = part.as_slice().iter().take(TOGETHER);
            for prepared in next.flatten() {
                self.writer.pending.approach(prepared.keyed());
                self.writer.appended.approach(&prepared.hash);
            }
            for prepared in part.by_ref().take(TOGETHER) {
                let index = self.outcomes.len();
                self.outcomes.push(match own_error(prepared)? {
                    Ok(prepared) => {
                        let (writer, fresh) = (&mut *self.writer, &mut self.fresh);
                        writer.settle_text(prepared, self.policy, index, fresh)?
                    }
                    Err(own) => Err(own),
                });
            }
        }
        Ok(())
    }

    /// Appends and compares the remaining contents.
    fn finish(&mut self) -> Result<()> {
        let mut last = std::mem::take(&mut self.fresh);
        let meters = self.writer.store.shared.meters.clone();
        meters
            .appending
            .time(|| self.writer.append_fresh(&mut last))?;
        for (index, best) in self.writer.compare_fresh(last)? {
            self.is_like_earlier(index, best);
        }
        Ok(())
    }

    /// Records that a document resembles an earlier one, which may be given.
    fn is_like_earlier(&mut self, index: usize, best: Option<EarlierDocument>) {
        let Some(Ok(outcome)) = self.outcomes.get_mut(index) else {
            return;
        };
        outcome.relation = Relation::NearDuplicate;
        if best.is_some() {
            let change = outcome.change;
            *outcome = self.writer.outcome(change, Relation::NearDuplicate, best);
        }
    }
}

impl Writer {
    /// Settles inputs that were prepared on the last commit or an earlier one, with the outcomes of one input after
    /// another.
    pub(crate) fn settle_all(
        &mut self,
        prepared: Vec<Result<Box<PreparedInput>>>,
        policy: Policy,
    ) -> Result<Vec<Result<Outcome>>> {
        let mut settling = Settler::begin(self, policy, prepared.len());
        let mut prepared = prepared.into_iter();
        while prepared.len() > 0 {
            settling.take(prepared.by_ref().take(PART).collect())?;
        }
        settling.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::store::handle::Store;
    use crate::store::offer::Input;

    fn text(words: u32, end: &str) -> String {
        let words: Vec<String> = (0..30).map(|n| (words + n).to_string()).collect();
        format!("{} {end}", words.join(" "))
    }

    #[test]
    fn a_content_that_lost_its_name_in_the_batch_counts_no_more_and_hides_none_that_does()
    -> Result<()> {
        for is_other_there in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::create(folder.path().join("store"), &Schema::default())?;
            let mut writer = store.writer()?;
            if is_other_there {
                writer.add("one", text(0, "first"))?;
            }
            writer.add("two", text(0, "second"))?;
            writer.commit()?;
            let far = |n: u32| Input::new(format!("far {n}"), text(1000 * (n + 1), "far"));
            let mut batch = vec![Input::new("two", text(500, "another"))];
            batch.extend((0..20).map(far));
            batch.push(Input::new("three", text(0, "third")));
            batch.extend((20..40).map(far));
            let outcomes = writer.add_all(batch)?;
            let like: Vec<usize> = (0..outcomes.len())
                .filter(|&at| outcomes[at].as_ref().unwrap().relation != Relation::Novel)
                .collect();
            let expected: &[usize] = if is_other_there { &[21] } else { &[] };
            assert_eq!(like, expected);
        }
        Ok(())
    }

    #[test]
    fn a_writer_whose_batch_was_left_half_way_commits_no_more() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default())?;
        let mut writer = store.writer()?;
        let prepared = store
            .last_commit()
            .prepare(Input::new("one", text(0, "end")));
        let mut settling = Settler::begin(&mut writer, Policy::Add, 1);
        settling.take(vec![prepared])?;
        drop(settling);
        assert!(matches!(writer.commit(), Err(Error::Poisoned)));
        drop(writer);
        assert_eq!(store.stats()?.documents, 0);
        assert!(store.writer()?.add("two", text(0, "end")).is_ok());
        Ok(())
    }
}
