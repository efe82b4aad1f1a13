//! Which earlier document a new one is like.

use std::cmp::Ordering;

use super::pending::Moment;
use super::writer::Writer;
use crate::error::Result;
use crate::storage::Snapshot;
use crate::store::compare::{Match, Matcher, Probe, Sketch, Verified};
use crate::text::ShingleSet;

/// A content that was just appended and is yet to be compared with the earlier ones.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// Place of its input among the outcomes.
    pub(crate) index: usize,
    pub(crate) key: String,
    pub(crate) hash: [u8; 32],
    pub(crate) sketch: Sketch,
    pub(crate) content: u32,
    pub(crate) moment: Moment,
}

/// As of when a question is asked, and the document that does not count as an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a> {
    pub(crate) moment: Moment,
    pub(crate) key: &'a str,
}

/// What the comparison with earlier documents came to.
#[derive(Debug)]
pub(crate) enum Earlier {
    None,
    /// At least one of them matches.
    Some,
    /// This is the one that matches best.
    Best(Match),
}

impl Writer {
    /// Compares contents that were just appended with all that come before them.
    pub(crate) fn compare(&mut self, fresh: Vec<Fresh>) -> Result<Vec<(usize, Earlier)>> {
        if fresh.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.files.snapshot()?;
        let this = &*self;
        let compared = this.store.shared.pool.map(fresh, |fresh| {
            let probe = fresh.sketch.probe(&fresh.hash);
            let at = At {
                moment: fresh.moment,
                key: &fresh.key,
            };
            let earlier = this.store.shared.meters.comparing.time(|| {
                if this.evidence {
                    this.best_below(&snapshot, probe, fresh.content, at)
                } else {
                    this.any_below(&snapshot, probe, fresh.content, at)
                }
            });
            Ok((fresh.index, earlier?))
        });
        compared.into_iter().collect()
    }

    /// The best match of `probe` among the contents below `end`.
    fn best_below(
        &self,
        snapshot: &Snapshot,
        probe: Probe<'_>,
        end: u32,
        at: At<'_>,
    ) -> Result<Earlier> {
        let matches = self.store.search(snapshot).matches(probe, 0..end)?;
        let best = self.best(&matches, at)?;
        Ok(best.map_or(Earlier::None, Earlier::Best))
    }

    /// Whether `probe` has a match among the contents below `end`.
    fn any_below(
        &self,
        snapshot: &Snapshot,
        probe: Probe<'_>,
        end: u32,
        at: At<'_>,
    ) -> Result<Earlier> {
        let search = self.store.search(snapshot);
        let any = search.any(probe, 0..end, |content| self.is_named(content, at))?;
        Ok(if any { Earlier::Some } else { Earlier::None })
    }

    /// Whether a document other than the asking one names `content`.
    pub(crate) fn is_named(&self, content: u32, at: At<'_>) -> Result<bool> {
        Ok(self.first_name(content, at)?.is_some())
    }

    /// The first key other than the asking one that names `content`.
    pub(crate) fn first_name(&self, content: u32, at: At<'_>) -> Result<Option<String>> {
        self.pending
            .first_name_at(&self.committed.snapshot, content, at.moment, at.key)
    }

    /// The most similar of `matches` that a document names, ties by key.
    pub(crate) fn best(&self, matches: &[Verified], at: At<'_>) -> Result<Option<Match>> {
        let mut best: Option<Match> = None;
        for verified in matches {
            let similarity = verified.likeness.similarity();
            let lead = best.as_ref().map_or(Ordering::Greater, |best| {
                similarity.total_cmp(&best.similarity())
            });
            if lead.is_lt() {
                continue;
            }
            let Some(key) = self.first_name(verified.content, at)? else {
                continue;
            };
            if lead.is_gt() || best.as_ref().is_some_and(|best| key < best.key) {
                best = Some(Match::new(key, verified));
            }
        }
        Ok(best)
    }

    /// The evidence that `content` is an exact copy of the text with its hash, as a document other
    /// than `except`.
    pub(crate) fn copy_evidence(
        &mut self,
        content: u32,
        hash: &[u8; 32],
        except: &str,
    ) -> Result<Option<Match>> {
        let verified = self.verified_copy(content, hash)?;
        let at = At {
            moment: self.pending.now(),
            key: except,
        };
        self.best(&verified, at)
    }

    /// `content` as a match of the text with its hash.
    pub(crate) fn verified_copy(&mut self, content: u32, hash: &[u8; 32]) -> Result<Vec<Verified>> {
        let snapshot = self.files.snapshot()?;
        let probe = Probe {
            hash,
            shingles: ShingleSet::EMPTY,
            signature: snapshot.signature(content)?,
            band_hashes: &[],
        };
        let mut matcher = Matcher::new(&snapshot, probe, snapshot.schema.threshold());
        Ok(Vec::from_iter(matcher.verify(content)?))
    }
}
