//! What becomes of all documents, in the order of the input.

use crate::dedup::judge::Verdict;
use crate::dedup::mark::Mark;

/// Whether each is kept, and its mark where all are written.
#[derive(Debug)]
pub(crate) struct Fates {
    kept: Vec<bool>,
    /// None of them if no marks are wanted.
    marks: Vec<Option<Box<Mark>>>,
}

impl Fates {
    /// So many documents, of which none is kept.
    pub(crate) fn new(documents: usize, is_marking: bool) -> Fates {
        Fates {
            kept: vec![false; documents],
            marks: vec![None; if is_marking { documents } else { 0 }],
        }
    }

    /// Takes note of what becomes of a document.
    pub(crate) fn set(&mut self, ordinal: u64, verdict: Verdict) {
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

    /// Drops a document after all.
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

    /// Whether a document is kept, and its mark.
    pub(crate) fn of(&self, ordinal: usize) -> (bool, Option<&Mark>) {
        let kept = self.kept.get(ordinal).copied().unwrap_or(false);
        let mark = self.marks.get(ordinal).and_then(Option::as_deref);
        (kept, mark)
    }
}
