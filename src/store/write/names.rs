//! Who names a content, as of a moment in the order of a writer's calls.

use std::cmp::Ordering;

use super::pending::{Moment, Pending};
use super::writer::Writer;
use crate::error::Result;
use crate::storage::{DocumentRow, Snapshot};
use crate::store::compare::{Match, Verified};
use crate::store::offer::Prepared;

/// The documents of a moment: those of the last commit, with what a writer did since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) committed: &'a Snapshot,
    pub(crate) pending: &'a Pending,
    pub(crate) moment: Moment,
    /// The document that does not count, for it asks. No document has the empty key.
    pub(crate) except: &'a str,
}

/// An earlier document that a new one is like.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    pub(crate) found: Match,
    pub(crate) content: u32,
}

impl Earlier {
    fn new(key: String, verified: &Verified) -> Earlier {
        Earlier {
            found: Match::new(key, verified),
            content: verified.content,
        }
    }
}

impl Writer {
    /// The documents at `moment`, beside the one that asks.
    pub(crate) fn names<'a>(&'a self, moment: Moment, except: &'a str) -> Names<'a> {
        Names {
            committed: &self.committed.snapshot,
            pending: &self.pending,
            moment,
            except,
        }
    }
}

impl Names<'_> {
    /// The first key of `content`.
    pub(crate) fn first(&self, content: u32) -> Result<Option<String>> {
        self.pending
            .first_name_at(self.committed, content, self.moment, self.except)
    }

    /// Whether a document names `content`.
    pub(crate) fn any(&self, content: u32) -> Result<bool> {
        self.pending
            .is_named_at(self.committed, content, self.moment, self.except)
    }

    /// The content with the text of `prepared` that a document names: `current`, which is the row of
    /// its own key, or another one. `appended` is the one that was appended since the commit.
    ///
    /// There may be others: contents that lost their last name and are removed with the next
    /// commit, or were with an earlier one. They are never named again.
    pub(crate) fn copy(
        &self,
        prepared: &Prepared,
        current: Option<DocumentRow>,
        appended: Option<u32>,
    ) -> Result<Option<u32>> {
        for content in prepared.copies.iter().copied().chain(appended) {
            let is_own = current.is_some_and(|row| row.content == content);
            if is_own || self.any(content)? {
                return Ok(Some(content));
            }
        }
        Ok(None)
    }

    /// The most similar of `matches` that a document names, ties by key.
    pub(crate) fn best(&self, matches: &[Verified]) -> Result<Option<Earlier>> {
        let mut best: Option<Earlier> = None;
        for verified in matches {
            let similarity = verified.likeness.similarity();
            let lead = best.as_ref().map_or(Ordering::Greater, |best| {
                similarity.total_cmp(&best.found.similarity())
            });
            if lead.is_lt() {
                continue;
            }
            let Some(key) = self.first(verified.content)? else {
                continue;
            };
            if lead.is_gt() || best.as_ref().is_some_and(|best| key < best.found.key) {
                best = Some(Earlier::new(key, verified));
            }
        }
        Ok(best)
    }

    /// The first of `matches`, which are in the order of their contents, that a document names.
    pub(crate) fn eldest(&self, matches: &[Verified]) -> Result<Option<Earlier>> {
        for verified in matches {
            if let Some(key) = self.first(verified.content)? {
                return Ok(Some(Earlier::new(key, verified)));
            }
        }
        Ok(None)
    }
}
