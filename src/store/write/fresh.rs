//! Contents that were stored first and are compared afterwards, many at a time.

use super::names::{Earlier, Names};
use super::pending::Moment;
use super::writer::Writer;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::Sketch;

/// A content that was just appended and is yet to be compared with the earlier ones.
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
    /// Compares contents that were just appended with all that come before them, as of when each came.
    pub(crate) fn compare_fresh(&mut self, fresh: Vec<Fresh>) -> Result<Vec<(usize, Met)>> {
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.files.snapshot()?;
        let this = &*self;
        let compared = this.store.shared.pool.map(fresh, |fresh| {
            let comparing = &this.store.shared.meters.comparing;
            let met = comparing.time(|| this.compare_one(&snapshot, &fresh));
            Ok((fresh.index, met?))
        });
        compared.into_iter().collect()
    }

    fn compare_one(&self, snapshot: &Snapshot, fresh: &Fresh) -> Result<Met> {
        let probe = fresh.sketch.probe(&fresh.hash);
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
