//! What became of everything that add met.

use std::time::Duration;

use dedupdb::corpus::Reading;
use dedupdb::write::{Change, Outcome, Relation};
use serde_json::{Value, json};

use crate::number::counted;
use crate::reading::{Told as _, line};

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
    /// Files that earlier runs stored under other keys, and the first of them with its other key.
    other_names: u64,
    first_other: Option<(String, String)>,
}

impl Tally {
    /// Counts a file that was not read.
    pub(crate) fn unchanged(&mut self) {
        self.unchanged += 1;
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Updated => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::KeptOut => self.kept_out += 1,
        }
    }

    /// Counts a file that is stored under another key, too. It is like itself, and no duplicate.
    pub(crate) fn other_name(&mut self, change: Change, key: &str, other: String) {
        self.change(change);
        self.other_names += 1;
        self.first_other
            .get_or_insert_with(|| (key.to_owned(), other));
    }

    /// A line about files that are stored under other keys, if there are any.
    pub(crate) fn other_names_note(&self) -> Option<String> {
        let (key, other) = self.first_other.as_ref()?;
        let files = counted(self.other_names, "file is", "files are");
        Some(format!(
            "{files} stored under other names, too (first: {key} = {other}); add files by the same \
             paths each time, and forget the other names with `dedupdb remove --prefix`"
        ))
    }

    /// Counts what became of a document.
    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        self.change(outcome.change);
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
            "other_names": self.other_names,
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
        if self.other_names > 0 {
            let more = "   are names of files that are stored under others";
            text += &line("other names", self.other_names, more);
        }
        text + &self.reading.to_text(elapsed)
    }
}
