//! What was read, and what was left out, in numbers.

use std::collections::BTreeMap;

use crate::corpus::formats::record::Nth;
use crate::corpus::skipped::Reason;

/// Counts of what was met in a corpus, whatever became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    skipped: BTreeMap<Reason, u64>,
    encodings: BTreeMap<&'static str, u64>,
    replaced: u64,
    lossy_keys: u64,
    repeated: u64,
    records: u64,
    with_id: u64,
    bytes: u64,
}

impl Reading {
    /// Counts something left out.
    pub fn skipped(&mut self, reason: Reason) {
        *self.skipped.entry(reason).or_default() += 1;
        self.repeated += u64::from(reason == Reason::RepeatedKey);
    }

    /// Counts a document that was not left out although its key came before with another text.
    pub fn repeated(&mut self) {
        self.repeated += 1;
    }

    /// Counts a document whose bytes were read; `replaced` says whether some are no characters,
    /// and `lossy_key` whether that is so of its key.
    pub fn read(&mut self, bytes: u64, replaced: bool, lossy_key: bool) {
        self.bytes += bytes;
        self.replaced += u64::from(replaced);
        self.lossy_keys += u64::from(lossy_key);
    }

    /// Counts a document that is a record, if it is one, and whether it brought an id.
    pub fn record(&mut self, nth: Option<Nth>, has_id: bool) {
        self.records += u64::from(nth.is_some());
        self.with_id += u64::from(has_id);
    }

    /// Counts a document whose text was in the encoding of this name.
    pub fn decoded(&mut self, encoding: &'static str) {
        *self.encodings.entry(encoding).or_default() += 1;
    }

    /// Whether something was not done that was asked for.
    pub fn has_failures(&self) -> bool {
        self.repeated > 0 || self.skipped.keys().any(|reason| reason.is_failure())
    }

    /// How many were left out.
    pub fn all_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// How many were left out, by reason.
    pub fn by_reason(&self) -> &BTreeMap<Reason, u64> {
        &self.skipped
    }

    /// How many documents were in an encoding, by its name.
    pub fn by_encoding(&self) -> &BTreeMap<&'static str, u64> {
        &self.encodings
    }

    /// Documents that have U+FFFD in the place of bytes that are no characters.
    pub fn all_replaced(&self) -> u64 {
        self.replaced
    }

    /// Keys that have U+FFFD in the place of what is no character.
    pub fn lossy_keys(&self) -> u64 {
        self.lossy_keys
    }

    /// Records whose key came before with another text.
    pub fn all_repeated(&self) -> u64 {
        self.repeated
    }

    /// Documents that are records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Records that brought an id.
    pub fn with_id(&self) -> u64 {
        self.with_id
    }

    /// Bytes of the files and records that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
