//! Contents that are numbered first, and appended and compared later, many at a time.

use std::ops::Range;

use super::names::{DocumentsAtMoment, EarlierDocument, Tie};
use super::pending::Moment;
use super::writer::Writer;
use crate::error::Result;
use crate::storage::{NewContent, Snapshot};
use crate::store::compare::{Probe, Sketch};
use crate::store::handle::Store;

/// A new content that is not yet compared with the earlier ones.
#[derive(Debug)]
pub(crate) struct FreshContent {
    /// The place of its input among the outcomes.
    pub(crate) index: usize,
    pub(crate) key: String,
    pub(crate) hash: [u8; 32],
    pub(crate) sketch: Sketch,
    pub(crate) content: u32,
    /// When it was named.
    pub(crate) moment: Moment,
    /// The bands in which it may share a bucket with an earlier content; known once it is appended.
    pub(crate) company: Vec<u32>,
}

/// New contents in the order of their ids. The first ones are already appended.
#[derive(Debug, Default)]
pub(crate) struct FreshBatch {
    contents: Vec<FreshContent>,
    appended: usize,
}

impl FreshBatch {
    /// Returns an empty batch with room for `contents` contents. It never gets more.
    pub(crate) fn of_at_most(contents: usize) -> FreshBatch {
        FreshBatch {
            contents: Vec::with_capacity(contents),
            appended: 0,
        }
    }

    pub(crate) fn push(&mut self, fresh: FreshContent) {
        self.contents.push(fresh);
    }

    /// The number of contents that are not yet appended.
    pub(crate) fn left(&self) -> usize {
        self.contents.len() - self.appended
    }

    /// The contents that are not yet appended, as they are stored.
    pub(crate) fn to_append(&self) -> Vec<NewContent<'_>> {
        let fresh = self.contents[self.appended..].iter();
        fresh
            .map(|fresh| fresh.sketch.content(&fresh.hash))
            .collect()
    }

    /// Marks these contents as appended. `company` has the bands in which each may share a bucket.
    pub(crate) fn appended(&mut self, company: Vec<Vec<u32>>) {
        for (fresh, company) in self.contents[self.appended..].iter_mut().zip(company) {
            fresh.company = company;
        }
        self.appended = self.contents.len();
    }
}

/// A new content that matches an earlier one.
#[derive(Debug)]
pub(crate) struct MatchedContent {
    fresh: FreshContent,
    /// The first match that was found, whether or not a document names it.
    first: u32,
}

impl FreshBatch {
    /// Returns the contents that match an earlier one in `snapshot`, which has all postings of the batch.
    pub(crate) fn matched(self, store: &Store, snapshot: &Snapshot) -> Result<Vec<MatchedContent>> {
        let search = store.search(snapshot);
        let find = |fresh: FreshContent| -> Result<Option<Box<MatchedContent>>> {
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
            Ok(first.map(|first| Box::new(MatchedContent { fresh, first })))
        };
        let found = store.shared.pool.map(self.contents, find);
        let found = found.into_iter().filter_map(Result::transpose);
        found.map(|found| Ok(*found?)).collect()
    }

    /// Whether any content may share a bucket with an earlier one.
    fn has_company(&self) -> bool {
        self.contents.iter().any(|fresh| !fresh.company.is_empty())
    }
}

impl FreshContent {
    /// The content as a probe, in the bands in which it has company.
    fn probe(&self) -> Probe<'_> {
        self.sketch.probe(&self.hash).in_bands(&self.company)
    }

    /// The contents before it.
    fn earlier(&self) -> Range<u32> {
        0..self.content
    }

    /// The documents at the moment when it was named, except its own.
    fn names<'a>(&'a self, writer: &'a Writer) -> DocumentsAtMoment<'a> {
        writer.names(self.moment, &self.key)
    }
}

impl Writer {
    /// Appends the contents of a batch that are not yet appended, with their postings.
    pub(crate) fn append_fresh(&mut self, batch: &mut FreshBatch) -> Result<()> {
        let contents = batch.to_append();
        let pool = &self.store.shared.pool;
        let company = self.files.append(&contents, pool)?.post(&contents, pool);
        batch.appended(company);
        Ok(())
    }

    /// Compares contents that were just appended with all earlier contents, as of the moment when each came. Returns
    /// the places of those that match, each with the most similar earlier document if evidence is requested.
    pub(crate) fn compare_fresh(
        &mut self,
        batch: FreshBatch,
    ) -> Result<Vec<(usize, Option<EarlierDocument>)>> {
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

    /// Returns the places of the new contents that match one that a document named when they came.
    pub(crate) fn like_earlier(
        &self,
        snapshot: &Snapshot,
        matched: &[MatchedContent],
    ) -> Result<Vec<usize>> {
        let search = self.store.search(snapshot);
        // That a content has no name now says nothing: what counts is the moment when the new one came.
        let mut like = Vec::new();
        for MatchedContent { fresh, first } in matched {
            let names = fresh.names(self);
            let is_like = names.any(*first)?
                || search.any(fresh.probe(), fresh.earlier(), |content| names.any(content))?;
            if is_like {
                like.push(fresh.index);
            }
        }
        Ok(like)
    }

    fn best_earlier(
        &self,
        snapshot: &Snapshot,
        fresh: &FreshContent,
    ) -> Result<Option<EarlierDocument>> {
        if fresh.company.is_empty() {
            return Ok(None);
        }
        let search = self.store.search(snapshot);
        let matches = search.matches(fresh.probe(), fresh.earlier())?;
        fresh.names(self).best(&matches, Tie::FirstKey)
    }
}
