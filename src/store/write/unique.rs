//! Adding only what is like no earlier document.

use super::earlier::At;
use super::writer::{Writer, added_or_updated};
use crate::error::Result;
use crate::store::compare::{Probe, Verified};
use crate::store::offer::{Change, Outcome, Prepared, Relation};

impl Writer {
    /// Compares an input that has a sketch with the contents of the last commit, as far as that is
    /// not done yet.
    pub(crate) fn find_matches(&self, mut prepared: Prepared) -> Result<Prepared> {
        if let Some(sketch) = &prepared.sketch {
            let probe = sketch.probe(&prepared.hash);
            let snapshot = &self.committed.snapshot;
            let comparing = &self.store.shared.meters.comparing;
            let ids = prepared.checked..snapshot.len;
            let found = comparing.time(|| self.store.search(snapshot).matches(probe, ids))?;
            prepared.matches.extend(found);
            prepared.checked = snapshot.len;
        }
        Ok(prepared)
    }

    /// Stores one input unless an earlier document is like it.
    pub(crate) fn add_if_unique(&mut self, mut prepared: Prepared) -> Result<Outcome> {
        let moment = self.pending.now();
        let current = self.pending.current(prepared.key(), prepared.row);
        if let Some(content) = self.find_copy(&prepared, current)? {
            if current.is_some_and(|row| row.content == content) {
                return self.place_copy(&prepared, current, content);
            }
            return Ok(Outcome {
                change: Change::KeptOut,
                relation: Relation::ExactCopy,
                earlier: self.copy_evidence(content, &prepared.hash, prepared.key())?,
            });
        }
        if prepared.sketch.is_none() {
            // The copy that was to make a sketch needless lost its name since.
            prepared.sketch = Some(prepared.take_sketch(&self.committed.sketcher)?);
            prepared = self.find_matches(prepared)?;
        }
        let sketch = prepared.take_sketch(&self.committed.sketcher)?;
        let appended = self.appended_matches(sketch.probe(&prepared.hash))?;
        prepared.matches.extend(appended);
        let key = prepared.key();
        if let Some(earlier) = self.best(&prepared.matches, At { moment, key })? {
            return Ok(Outcome {
                change: Change::KeptOut,
                relation: Relation::NearDuplicate,
                earlier: Some(earlier),
            });
        }
        let content = self.append(&prepared.hash, &sketch)?;
        self.name(&prepared, content);
        Ok(Outcome {
            change: added_or_updated(current),
            relation: Relation::Novel,
            earlier: None,
        })
    }

    /// The contents appended since the last commit that match `probe`.
    pub(crate) fn appended_matches(&mut self, probe: Probe<'_>) -> Result<Vec<Verified>> {
        let start = self.committed.snapshot.len;
        if !self.files.view().is_met_from(start, probe.band_hashes) {
            return Ok(Vec::new());
        }
        let snapshot = self.files.snapshot()?;
        let search = self.store.search(&snapshot);
        search.matches(probe, start..snapshot.len)
    }
}
