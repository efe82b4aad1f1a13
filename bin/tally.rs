//! What became of everything that add met.

use std::time::Duration;

use dedupdb::{Change, Outcome, Relation};
use serde_json::{Value, json};

use crate::reading::{Reading, line};

/// Counts, each document under one of added, unchanged, updated, kept out and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) reading: Reading,
    added: u64,
    unchanged: u64,
    updated: u64,
    kept_out: u64,
    exact_copies: u64,
    near_duplicates: u64,
}

impl Tally {
    /// Counts a file that was not read.
    pub(crate) fn unchanged(&mut self) {
        self.unchanged += 1;
    }

    /// Counts what became of a document.
    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        match outcome.change {
            Change::Added => self.added += 1,
            Change::Updated => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::KeptOut => self.kept_out += 1,
        }
        match outcome.relation {
            Relation::Novel => {}
            Relation::NearDuplicate => self.near_duplicates += 1,
            Relation::ExactCopy => self.exact_copies += 1,
        }
    }

    /// Everything that was met.
    fn documents(&self) -> u64 {
        let stored = self.added + self.unchanged + self.updated;
        stored + self.kept_out + self.reading.all_skipped()
    }

    /// The counts as an object.
    pub(crate) fn to_json(&self, elapsed: Duration) -> Value {
        let mut object = json!({
            "documents": self.documents(),
            "added": self.added,
            "unchanged": self.unchanged,
            "updated": self.updated,
            "exact_copies": self.exact_copies,
            "near_duplicates": self.near_duplicates,
            "kept_out": self.kept_out,
        });
        if let Value::Object(fields) = &mut object {
            fields.extend(self.reading.to_json(elapsed));
        }
        object
    }

    /// The counts as lines for people.
    pub(crate) fn to_text(&self, elapsed: Duration) -> String {
        let mut text = line("documents", self.documents(), "");
        text += &line("  added", self.added, "");
        text += &line("  unchanged", self.unchanged, "");
        text += &line("  updated", self.updated, "");
        if self.kept_out > 0 {
            text += &line("  kept out", self.kept_out, "");
        }
        text += &self.reading.skipped_line().unwrap_or_default();
        text += &line("exact copies", self.exact_copies, "");
        text += &line("near-duplicates", self.near_duplicates, "");
        text + &self.reading.to_text(elapsed)
    }
}
