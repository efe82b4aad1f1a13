//! Counts of what was read and what was skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::formats::unsplit::Unsplit;
use crate::item::Origin;
use crate::skipped::{Reason, Skipped};

/// Counts of the documents and skipped records of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    skipped: BTreeMap<Reason, u64>,
    failures: u64,
    encodings: BTreeMap<&'static str, u64>,
    replaced: u64,
    lossy_keys: u64,
    grown: u64,
    repeated: u64,
    records: u64,
    with_id: u64,
    unsplit: u64,
    first_unsplit: Option<(PathBuf, Unsplit)>,
    bytes: u64,
    short: u64,
}

impl ReadCounts {
    /// The number of bytes below which [`ReadCounts::all_short`] counts a document: some fifty words. One changed word
    /// brings the similarity of shorter texts below 0.8 if they are cut into five words each.
    pub const SHORT: u64 = 300;

    /// Counts a skipped file or record. A file without records has nothing to skip.
    pub fn skipped(&mut self, skipped: &Skipped) {
        if skipped.reason == Reason::NoRecords {
            return;
        }
        *self.skipped.entry(skipped.reason).or_default() += 1;
        self.failures += u64::from(skipped.is_failure());
        self.repeated += u64::from(skipped.reason == Reason::RepeatedKey);
    }

    /// Adds what another reading skipped. Keys that came before do not count: each text is one of its own.
    pub(crate) fn add_skipped(&mut self, other: &ReadCounts) {
        for (&reason, skipped) in &other.skipped {
            *self.skipped.entry(reason).or_default() += skipped;
        }
        self.failures += other.failures;
    }

    /// Counts a document that was not skipped although its key came before with another text.
    pub fn repeated(&mut self) {
        self.repeated += 1;
    }

    /// Counts a document that was read.
    pub fn document(&mut self, origin: &Origin) {
        self.bytes += origin.bytes;
        self.short += u64::from(origin.bytes < ReadCounts::SHORT);
        self.replaced += u64::from(origin.replaced);
        self.lossy_keys += u64::from(origin.lossy_key);
        self.grown += u64::from(origin.has_grown);
        self.records += u64::from(origin.record.is_some());
        self.with_id += u64::from(origin.has_id);
        if let Some(unsplit) = origin.unsplit {
            self.unsplit += 1;
            self.first_unsplit
                .get_or_insert_with(|| (origin.source.clone(), unsplit));
        }
        *self.encodings.entry(origin.encoding).or_default() += 1;
    }

    /// Returns whether a skipped file or record is a [failure](Skipped::is_failure).
    pub fn has_failures(&self) -> bool {
        self.repeated > 0 || self.failures > 0
    }

    /// Returns the number of skipped files and records.
    pub fn all_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Returns the number of skipped files and records by reason.
    pub fn by_reason(&self) -> &BTreeMap<Reason, u64> {
        &self.skipped
    }

    /// Returns the number of documents by the name of their encoding.
    pub fn by_encoding(&self) -> &BTreeMap<&'static str, u64> {
        &self.encodings
    }

    /// Returns the number of documents with U+FFFD in place of undecodable bytes.
    pub fn all_replaced(&self) -> u64 {
        self.replaced
    }

    /// Returns the number of keys with U+FFFD in place of undecodable bytes. In a file's name, the digits of the byte
    /// follow it (see [`Key`](crate::Key)).
    pub fn lossy_keys(&self) -> u64 {
        self.lossy_keys
    }

    /// Returns the number of files that grew while they were read or copied. Only their first size was read.
    pub fn grown(&self) -> u64 {
        self.grown
    }

    /// Counts files that grew between being read and being copied.
    pub(crate) fn grew(&mut self, files: u64) {
        self.grown += files;
    }

    /// Returns the number of documents whose key came before with another text.
    pub fn all_repeated(&self) -> u64 {
        self.repeated
    }

    /// Returns the number of documents that are records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the number of records with an id.
    pub fn with_id(&self) -> u64 {
        self.with_id
    }

    /// Documents that [seem to have records](Origin::unsplit) and were read as one text.
    pub fn all_unsplit(&self) -> u64 {
        self.unsplit
    }

    /// The file or stream of the first of these, and what it seems to be.
    pub fn first_unsplit(&self) -> Option<(&Path, Unsplit)> {
        let first = self.first_unsplit.as_ref();
        first.map(|(source, unsplit)| (&**source, *unsplit))
    }

    /// Returns the number of documents of less than [`ReadCounts::SHORT`] bytes.
    pub fn all_short(&self) -> u64 {
        self.short
    }

    /// Returns the number of bytes of the files and records that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
