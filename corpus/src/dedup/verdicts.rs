//! The fates of all documents, in the order of the input.

use crate::dedup::judge::DocumentVerdict;
use crate::dedup::mark::DocumentMark;

/// Whether each document is kept, and its mark if all are written.
#[derive(Debug)]
pub(crate) struct Verdicts {
    kept: Vec<bool>,
    /// Empty if no marks are wanted.
    marks: Vec<Option<Box<DocumentMark>>>,
}

impl Verdicts {
    /// Returns the fates of `documents` documents, none of which is kept.
    pub(crate) fn new(documents: usize, is_marking: bool) -> Verdicts {
        Verdicts {
            kept: vec![false; documents],
            marks: vec![None; if is_marking { documents } else { 0 }],
        }
    }

    /// Records the verdict on a document.
    pub(crate) fn set(&mut self, ordinal: u64, verdict: DocumentVerdict) {
        let Ok(at) = usize::try_from(ordinal) else {
            return;
        };
        if let Some(kept) = self.kept.get_mut(at) {
            *kept = verdict.is_kept;
        }
        if let Some(mark) = self.marks.get_mut(at) {
            *mark = verdict.mark.map(Box::new);
        }
    }

    /// Drops a document that was kept.
    pub(crate) fn drop_one(&mut self, ordinal: u64) {
        let Ok(at) = usize::try_from(ordinal) else {
            return;
        };
        if let Some(kept) = self.kept.get_mut(at) {
            *kept = false;
        }
        if let Some(Some(mark)) = self.marks.get_mut(at) {
            mark.is_kept = false;
        }
    }

    /// Returns whether a document is kept, and its mark.
    pub(crate) fn of(&self, ordinal: usize) -> (bool, Option<&DocumentMark>) {
        let kept = self.kept.get(ordinal).copied().unwrap_or(false);
        let mark = self.marks.get(ordinal).and_then(Option::as_deref);
        (kept, mark)
    }
}
