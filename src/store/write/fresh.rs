//! Contents that are numbered first, and appended and compared afterwards, many at a time.

use std::ops::Range;

use super::names::{Earlier, Names};
use super::pending::Moment;
use super::writer::Writer;
use crate::error::Result;
use crate::storage::{NewContent, Snapshot};
use crate::store::compare::{Probe, Sketch};
use crate::store::handle::Store;

/// A new content that is yet to be compared with the earlier ones.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// Place of its input among the outcomes.
    pub(crate) index: usize,
    pub(crate) key: String,
    pub(crate) hash: [u8; 32],
    pub(crate) sketch: Sketch,
    pub(crate) content: u32,
    /// When it was named.
    pub(crate) moment: Moment,
    /// The bands in which it may share a bucket with an earlier one; known once it is appended.
    pub(crate) company: Vec<u32>,
}

/// New contents in the order of their ids, of which the first were appended.
#[derive(Debug, Default)]
pub(crate) struct FreshBatch {
    contents: Vec<Fresh>,
    appended: usize,
}

impl FreshBatch {
    /// None yet, and never more than so many.
    pub(crate) fn of_at_most(contents: usize) -> FreshBatch {
        FreshBatch {
            contents: Vec::with_capacity(contents),
            appended: 0,
        }
    }

    pub(crate) fn push(&mut self, fresh: Fresh) {
        self.contents.push(fresh);
    }

    /// Number of those that were not appended.
    pub(crate) fn left(&self) -> usize {
        self.contents.len() - self.appended
    }

    /// Those that were not appended, as they are stored.
    pub(crate) fn to_append(&self) -> Vec<NewContent<'_>> {
        let fresh = self.contents[self.appended..].iter();
        fresh
            .map(|fresh| fresh.sketch.content(&fresh.hash))
            .collect()
    }

    /// Takes note that those are appended, each with the bands in which it may share a bucket.
    pub(crate) fn appended(&mut self, company: Vec<Vec<u32>>) {
        for (fresh, company) in self.contents[self.appended..].iter_mut().zip(company) {
            fresh.company = company;
        }
        self.appended = self.contents.len();
    }
}

/// A new content that matches an earlier one.
#[derive(Debug)]
pub(crate) struct Matched {
    fresh: Fresh,
    /// The first that was found, whether a document names it or not.
    first: u32,
}

impl FreshBatch {
    /// Those that match an earlier content in `snapshot`, which has all postings of the batch.
    pub(crate) fn matched(self, store: &Store, snapshot: &Snapshot) -> Result<Vec<Matched>> {
        let search = store.search(snapshot);
        let find = |fresh: Fresh| -> Result<Option<Box<Matched>>> {
            if fresh.company.is_empty() {
                return Ok(None);
            }
            let mut first = None;
            let take = |content| {
                first = Some(content);
                Ok(true)
            };
            let comparing = &store.shared.meters.comparing;
            comparing.time(|| search.any(fresh.probe(), fresh.earlier(), take))?;
            Ok(first.map(|first| Box::new(Matched { fresh, first })))
        };
        let found = store.shared.pool.map(self.contents, find);
        let found = found.into_iter().filter_map(Result::transpose);
        found.map(|found| Ok(*found?)).collect()
    }

    /// Whether one may share a bucket with an earlier content.
    fn has_company(&self) -> bool {
        self.contents.iter().any(|fresh| !fresh.company.is_empty())
    }
}

impl Fresh {
    /// It as the asking side of a comparison, in the bands in which it has company.
    fn probe(&self) -> Probe<'_> {
        self.sketch.probe(&self.hash).in_bands(&self.company)
    }

    /// The contents before it.
    fn earlier(&self) -> Range<u32> {
        0..self.content
    }

    /// The documents when it was named, beside its own.
    fn names<'a>(&'a self, writer: &'a Writer) -> Names<'a> {
        writer.names(self.moment, &self.key)
    }
}

impl Writer {
    /// Appends those contents of a batch that were not, with their postings.
    pub(crate) fn append_fresh(&mut self, batch: &mut FreshBatch) -> Result<()> {
        let contents = batch.to_append();
        let pool = &self.store.shared.pool;
        let company = self.files.append(&contents, pool)?.post(&contents, pool);
        batch.appended(company);
        Ok(())
    }

    /// Compares contents that were just appended with all that come before them, as of when each came: the places
    /// of those that are like one, each with the most similar one if evidence is asked for.
    pub(crate) fn compare_fresh(
        &mut self,
        batch: FreshBatch,
    ) -> Result<Vec<(usize, Option<Earlier>)>> {
        if !batch.has_company() {
            return Ok(Vec::new());
        }
        let snapshot = self.files.snapshot()?;
        let this = &*self;
        if !this.evidence {
            let matched = batch.matched(&this.store, &snapshot)?;
            let like = this.like_earlier(&snapshot, &matched)?;
            return Ok(like.into_iter().map(|index| (index, None)).collect());
        }
        let best = this.store.shared.pool.map(batch.contents, |fresh| {
            let comparing = &this.store.shared.meters.comparing;
            let best = comparing.time(|| this.best_earlier(&snapshot, &fresh))?;
            Ok(best.map(|best| (fresh.index, Some(best))))
        });
        best.into_iter().filter_map(Result::transpose).collect()
    }

    /// The places of those new contents that are like one that a document named when they came.
    pub(crate) fn like_earlier(
        &self,
        snapshot: &Snapshot,
        matched: &[Matched],
    ) -> Result<Vec<usize>> {
        let search = self.store.search(snapshot);
        let mut like = Vec::new();
        for Matched { fresh, first } in matched {
            let names = fresh.names(self);
            let is_like = names.any(*first)?
                || search.any(fresh.probe(), fresh.earlier(), |content| names.any(content))?;
            if is_like {
                like.push(fresh.index);
            }
        }
        Ok(like)
    }

    fn best_earlier(&self, snapshot: &Snapshot, fresh: &Fresh) -> Result<Option<Earlier>> {
        if fresh.company.is_empty() {
            return Ok(None);
        }
        let search = self.store.search(snapshot);
        let matches = search.matches(fresh.probe(), fresh.earlier())?;
        fresh.names(self).best(&matches)
    }
}
