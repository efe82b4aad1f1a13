//! What became of everything that was met.

use crate::corpus::Reading;

/// The result of a run. Each document counts as kept, dropped or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Done {
    /// Documents, and files and records that were left out.
    pub documents: u64,
    /// Documents that are in the output.
    pub kept: u64,
    /// Documents that are like one of this input.
    pub of_input: Dropping,
    /// Documents that are like one that was stored before.
    pub of_history: Dropping,
    /// Of these, documents that are stored under their own key, or from the same file: they are like themselves, and
    /// need have no other copy.
    pub of_itself: u64,
    /// What was read and what was left out.
    pub reading: Reading,
    /// How often some candidates of a text were not compared with it, as the store's
    /// [`Options::false_candidates`](crate::Options::false_candidates) asks.
    pub searches_cut_short: u64,
    /// Whether the output has its place. Not so if nothing is kept and something with content stands
    /// there, which nothing replaces; or if no document could be read of what is there.
    pub is_written: bool,
}

/// How many documents were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropping {
    /// Of the same text, byte for byte.
    pub exact_copies: u64,
    /// Of another text that is alike.
    pub near_duplicates: u64,
}

impl Dropping {
    /// All of them.
    pub fn all(self) -> u64 {
        self.exact_copies + self.near_duplicates
    }
}

impl Done {
    /// Documents that are not in the output for the sake of another one.
    pub fn dropped(&self) -> u64 {
        self.of_input.all() + self.of_history.all()
    }

    /// Whether something failed to be read, and not one document was.
    pub fn read_nothing(&self) -> bool {
        self.kept + self.dropped() == 0 && self.reading.has_failures()
    }

    /// Counts a document that is dropped.
    pub(crate) fn dropped_one(&mut self, is_copy: bool, stored_before: bool) {
        let dropped = if stored_before {
            &mut self.of_history
        } else {
            &mut self.of_input
        };
        if is_copy {
            dropped.exact_copies += 1;
        } else {
            dropped.near_duplicates += 1;
        }
    }

    /// The counts, with their sum.
    pub(crate) fn summed(self, searches_cut_short: u64, is_written: bool) -> Done {
        Done {
            documents: self.kept + self.dropped() + self.reading.all_skipped(),
            searches_cut_short,
            is_written,
            ..self
        }
    }
}
