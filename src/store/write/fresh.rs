//! Contents that are numbered first, and appended and compared afterwards, many at a time.

use super::names::{Earlier, Names};
use super::pending::Moment;
use super::writer::Writer;
use crate::error::Result;
use crate::storage::{NewContent, Snapshot};
use crate::store::compare::Sketch;

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
#[derive(Debug)]
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
    pub(crate) fn to_be_appended(&self) -> usize {
        self.contents.len() - self.appended
    }
}

/// What the comparison of a fresh content came to.
#[derive(Debug)]
pub(crate) enum Met {
    Nothing,
    /// At least one earlier document matches.
    Some,
    /// This is the one that matches best.
    Best(Earlier),
}

impl Writer {
    /// Appends those contents of a batch that were not.
    pub(crate) fn append_fresh(&mut self, batch: &mut FreshBatch) -> Result<()> {
        let fresh = &mut batch.contents[batch.appended..];
        let contents: Vec<NewContent<'_>> = fresh
            .iter()
            .map(|fresh| fresh.sketch.content(&fresh.hash))
            .collect();
        let company = self.files.push_all(&contents, &self.store.shared.pool)?;
        for (fresh, company) in fresh.iter_mut().zip(company) {
            fresh.company = company;
        }
        batch.appended = batch.contents.len();
        Ok(())
    }

    /// Compares contents that were just appended with all that come before them, as of when each came.
    pub(crate) fn compare_fresh(&mut self, batch: FreshBatch) -> Result<Vec<(usize, Met)>> {
        let fresh = batch.contents;
        if fresh.iter().all(|fresh| fresh.company.is_empty()) {
            return Ok(Vec::new());
        }
        let snapshot = self.files.snapshot()?;
        let this = &*self;
        let compared = this.store.shared.pool.map(fresh, |fresh| {
            if fresh.company.is_empty() {
                return Ok((fresh.index, Met::Nothing));
            }
            let comparing = &this.store.shared.meters.comparing;
            let met = comparing.time(|| this.compare_one(&snapshot, &fresh));
            Ok((fresh.index, met?))
        });
        compared.into_iter().collect()
    }

    fn compare_one(&self, snapshot: &Snapshot, fresh: &Fresh) -> Result<Met> {
        let probe = fresh.sketch.probe(&fresh.hash).in_bands(&fresh.company);
        let names = Names {
            committed: &self.committed.snapshot,
            pending: &self.pending,
            moment: fresh.moment,
            except: &fresh.key,
        };
        let search = self.store.search(snapshot);
        let earlier = 0..fresh.content;
        if self.evidence {
            let best = names.best(&search.matches(probe, earlier)?)?;
            return Ok(best.map_or(Met::Nothing, Met::Best));
        }
        let any = search.any(probe, earlier, |content| names.any(content))?;
        Ok(if any { Met::Some } else { Met::Nothing })
    }
}
