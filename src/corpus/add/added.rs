//! What became of everything that an add met.

use std::time::Duration;

use crate::corpus::reading::Reading;
use crate::write::{Change, Outcome, Relation};

/// What became of a corpus: each document and what was left out is under one of added, unchanged, updated, kept out
/// and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// Documents whose keys are new.
    pub added: u64,
    /// Documents that are stored as they are, and files that were not read because they are.
    pub unchanged: u64,
    /// Documents whose keys had other texts before.
    pub updated: u64,
    /// Documents that were not stored for the sake of another one.
    pub kept_out: u64,
    /// Documents of the same text as an earlier one, stored or not.
    pub exact_copies: u64,
    /// Documents with another text that resembles an earlier one, stored or not.
    pub near_duplicates: u64,
    /// Files that are stored under other keys, too, by other paths to them. They are no copies.
    pub other_names: u64,
    /// The first of them with its other key.
    pub first_other: Option<(String, String)>,
    /// What was read and what was left out.
    pub reading: Reading,
    /// Time in which there was no input to work on.
    pub waiting: Duration,
    /// Why it ended.
    pub ended: Ended,
}

/// Why an add came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// All is added.
    #[default]
    All,
    /// The observer stopped it.
    Stopped,
    /// Nothing may be committed, and no more fits into memory.
    Full,
}

impl Added {
    /// Everything that was met.
    pub fn documents(&self) -> u64 {
        let stored = self.added + self.unchanged + self.updated;
        stored + self.kept_out + self.reading.all_skipped()
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Updated => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::KeptOut => self.kept_out += 1,
        }
    }

    /// Counts what became of a document.
    pub(super) fn outcome(&mut self, outcome: &Outcome) {
        self.change(outcome.change);
        match outcome.relation {
            Relation::Novel => {}
            Relation::NearDuplicate => self.near_duplicates += 1,
            Relation::ExactCopy => self.exact_copies += 1,
        }
    }

    /// Counts a file that is stored under another key, too. It is like itself, and no duplicate.
    pub(super) fn other_name(&mut self, change: Change, key: &str, other: String) {
        self.change(change);
        self.other_names += 1;
        self.first_other
            .get_or_insert_with(|| (key.to_owned(), other));
    }
}
