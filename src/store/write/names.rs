//! The documents that name a content, as of a moment in the order of a writer's calls.

use std::cmp::Ordering;

use super::pending::{Moment, PendingDocuments};
use super::writer::Writer;
use crate::error::Result;
use crate::storage::{DocumentRow, Snapshot};
use crate::store::compare::{Match, VerifiedContent};
use crate::store::offer::PreparedInput;

/// The documents at a moment: those of the last commit, with the changes of a writer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentsAtMoment<'a> {
    pub(crate) committed: &'a Snapshot,
    pub(crate) pending: &'a PendingDocuments,
    pub(crate) moment: Moment,
    /// The key of a document that does not count, because it is the one in question. No document has the empty key.
    pub(crate) except: &'a str,
}

/// Which of several equally similar documents is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tie {
    /// The one with the first key, as in the answer of a query.
    FirstKey,
    /// The one whose text was stored first.
    Eldest,
}

/// An earlier document that a new one resembles.
#[derive(Clone, Debug)]
pub(crate) struct EarlierDocument {
    pub(crate) found: Match,
    pub(crate) content: u32,
}

impl EarlierDocument {
    fn new(key: String, verified: &VerifiedContent) -> EarlierDocument {
        EarlierDocument {
            found: Match::new(key, verified),
            content: verified.content,
        }
    }
}

impl Writer {
    /// The documents at `moment`, except the one in question.
    pub(crate) fn names<'a>(&'a self, moment: Moment, except: &'a str) -> DocumentsAtMoment<'a> {
        DocumentsAtMoment {
            committed: &self.committed.snapshot,
            pending: &self.pending,
            moment,
            except,
        }
    }
}

impl DocumentsAtMoment<'_> {
    /// The first key that names `content`.
    pub(crate) fn first(&self, content: u32) -> Result<Option<String>> {
        self.pending
            .first_name_at(self.committed, content, self.moment, self.except)
    }

    /// Whether a document names `content`.
    pub(crate) fn any(&self, content: u32) -> Result<bool> {
        self.pending
            .is_named_at(self.committed, content, self.moment, self.except)
    }

    /// The content that has the text of `prepared` and is named by a document.
    ///
    /// `current` is the row of the key of `prepared`. `appended` is the content with this text that was appended since
    /// the commit.
    ///
    /// There may be other contents with the text: those that lost their last name and are removed by the next commit,
    /// or were removed by an earlier one. They are never named again.
    pub(crate) fn copy(
        &self,
        prepared: &PreparedInput,
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

    /// The most similar of `matches` that a document names. `matches` are in the order of their contents for
    /// [`Tie::Eldest`].
    pub(crate) fn best(
        &self,
        matches: &[VerifiedContent],
        tie: Tie,
    ) -> Result<Option<EarlierDocument>> {
        let mut best: Option<EarlierDocument> = None;
        for verified in matches {
            let similarity = verified.likeness.similarity();
            let lead = best.as_ref().map_or(Ordering::Greater, |best| {
                similarity.total_cmp(&best.found.similarity())
            });
            if lead.is_lt() || lead.is_eq() && tie == Tie::Eldest {
                continue;
            }
            let Some(key) = self.first(verified.content)? else {
                continue;
            };
            if lead.is_gt() || best.as_ref().is_some_and(|best| key < best.found.key) {
                best = Some(EarlierDocument::new(key, verified));
            }
        }
        Ok(best)
    }
}
