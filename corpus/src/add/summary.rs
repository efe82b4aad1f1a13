//! The result of an add, in counts.

use std::time::Duration;

use crate::read_counts::ReadCounts;
use dedupdb::write::{Change, Outcome, Relation};

/// The result of adding a corpus. Each document counts as added, unchanged, updated, kept out or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddSummary {
    /// Documents with new keys.
    pub added: u64,
    /// Documents already stored with the same text, and files not read because they have not changed.
    pub unchanged: u64,
    /// Documents that replaced another text of the same key.
    pub updated: u64,
    /// Documents that were not stored because they resemble another one.
    pub kept_out: u64,
    /// Those of the kept out documents that resemble a text which a later document of the run replaced. Their own texts
    /// may be in no document, until the same is added again.
    pub kept_out_by_replaced: u64,
    /// Documents with the same text as an earlier one, stored or not.
    pub exact_copies: u64,
    /// Documents with another text that resembles an earlier one, stored or not.
    pub near_duplicates: u64,
    /// Documents that do not resemble an earlier one, but that one contains, stored or not; see
    /// [`Options::containment`](dedupdb::Options::containment).
    pub contained: u64,
    /// Those of the unchanged documents that have both the id and the text of one from another file, while no
    /// [`IdScope`](dedupdb::write::IdScope) says that these are the same document.
    pub same_ids: u64,
    /// The place of the first of these, and the other file.
    pub first_same_id: Option<(String, String)>,
    /// Records that were stored under their ids alone and now have keys of file and id, because the
    /// [`IdScope`](dedupdb::write::IdScope) changed.
    pub rekeyed: u64,
    /// The id of the first of these, and its key.
    pub first_rekeyed: Option<(String, String)>,
    /// Files that are stored under other keys, by other paths. They do not count as copies, and stay under these keys.
    pub other_names: u64,
    /// The first such file, with its other key.
    pub first_other: Option<(String, String)>,
    /// New files with the text, size and modification time of a stored file that no longer exists, such as renamed
    /// files. They count as exact copies.
    pub renamed: u64,
    /// The first such file, with the key of the file that no longer exists.
    pub first_renamed: Option<(String, String)>,
    /// Skipped files whose earlier version is stored, such as PDF files read without the
    /// [converter](crate::Options::converter) that they were added with. Their documents stay as they are.
    pub stale: u64,
    /// The key of the first such file.
    pub first_stale: Option<String>,
    /// Stored files, in the folders that were read, that no longer exist as seen from the current folder. They are not
    /// looked for in the current folder itself.
    pub gone: u64,
    /// The key of the first such file.
    pub first_gone: Option<String>,
    /// Counts of what was read and skipped.
    pub reading: ReadCounts,
    /// Time spent waiting for input.
    pub waiting: Duration,
    /// Why the call ended.
    pub ended: EndReason,
}

/// Why [`Add::run`](super::Add::run) or [`Load::run`](super::Load::run) ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The whole input was added.
    #[default]
    All,
    /// It was stopped.
    Stopped,
    /// Nothing may be committed, and memory is full.
    Full,
}

impl AddSummary {
    /// All documents and skipped records.
    pub fn documents(&self) -> u64 {
        let stored = self.added + self.unchanged + self.updated;
        stored + self.kept_out + self.reading.all_skipped()
    }

    /// Counts what happened to a document.
    pub(super) fn change(&mut self, change: Change) {
        match change {
            Change::Added => self.added += 1,
            Change::Updated => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
            Change::KeptOut => self.kept_out += 1,
            // A refused one is skipped.
            _ => {}
        }
    }

    /// Counts the outcome for a document.
    pub(super) fn outcome(&mut self, outcome: &Outcome) {
        self.change(outcome.change);
        match outcome.relation {
            Relation::NearDuplicate => self.near_duplicates += 1,
            Relation::ExactCopy => self.exact_copies += 1,
            Relation::Contained => self.contained += 1,
            _ => {}
        }
    }

    /// Counts an unchanged document that came from another file before.
    pub(super) fn same_id(&mut self, place: String, other: String) {
        self.same_ids += 1;
        self.first_same_id.get_or_insert((place, other));
    }

    /// Counts a record that got another key.
    pub(super) fn rekeyed(&mut self, id: &str, key: &str) {
        self.rekeyed += 1;
        self.first_rekeyed
            .get_or_insert_with(|| (id.to_owned(), key.to_owned()));
    }

    /// Counts a file that has the text of one that no longer exists.
    pub(super) fn renamed(&mut self, key: &str, old: String) {
        self.renamed += 1;
        self.first_renamed
            .get_or_insert_with(|| (key.to_owned(), old));
    }

    /// Counts a file that is stored under another key than `key`, besides its change.
    pub(super) fn other_name(&mut self, change: Change, key: &str, other: String) {
        self.other_names += 1;
        if change != Change::KeptOut {
            self.first_other
                .get_or_insert_with(|| (key.to_owned(), other));
        }
    }
}
