//! What became of everything that add met.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use dedupdb::{Change, Outcome, Relation};
use serde_json::{Value, json};

use crate::number::{self, counted, grouped};
use crate::skip::Reason;

/// Counts, each document under one of added, unchanged, updated, kept out and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    added: u64,
    unchanged: u64,
    updated: u64,
    kept_out: u64,
    skipped: BTreeMap<Reason, u64>,
    exact_copies: u64,
    near_duplicates: u64,
    encodings: BTreeMap<&'static str, u64>,
    replaced: u64,
    lossy_keys: u64,
    bytes: u64,
}

impl Tally {
    /// Counts a file that was not read.
    pub(crate) fn unchanged(&mut self) {
        self.unchanged += 1;
    }

    /// Counts something left out.
    pub(crate) fn skipped(&mut self, reason: Reason) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    /// Counts a document whose bytes were read; `replaced` says whether some are no UTF-8, and
    /// `lossy_key` whether that is so of its name.
    pub(crate) fn read(&mut self, bytes: u64, replaced: bool, lossy_key: bool) {
        self.bytes += bytes;
        self.replaced += u64::from(replaced);
        self.lossy_keys += u64::from(lossy_key);
    }

    /// Counts a document whose text was in the encoding of this name.
    pub(crate) fn decoded(&mut self, encoding: &'static str) {
        *self.encodings.entry(encoding).or_default() += 1;
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

    /// Documents whose name is not valid UTF-8.
    pub(crate) fn lossy_keys(&self) -> u64 {
        self.lossy_keys
    }

    /// Whether something was not done that was asked for.
    pub(crate) fn has_failures(&self) -> bool {
        self.skipped.keys().any(|reason| reason.is_failure())
    }

    fn all_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Everything that was met.
    fn documents(&self) -> u64 {
        self.added + self.unchanged + self.updated + self.kept_out + self.all_skipped()
    }

    /// The counts as an object.
    pub(crate) fn to_json(&self, elapsed: Duration) -> Value {
        let skipped = self.skipped.iter();
        let skipped: serde_json::Map<String, Value> = skipped
            .map(|(reason, &count)| (reason.name().to_owned(), count.into()))
            .collect();
        json!({
            "documents": self.documents(),
            "added": self.added,
            "unchanged": self.unchanged,
            "updated": self.updated,
            "exact_copies": self.exact_copies,
            "near_duplicates": self.near_duplicates,
            "kept_out": self.kept_out,
            "skipped": skipped,
            "encodings": self.encodings,
            "replaced": self.replaced,
            "bytes": self.bytes,
            "seconds": (elapsed.as_secs_f64() * 1e3).round() / 1e3,
        })
    }

    /// The counts as lines for people.
    pub(crate) fn to_text(&self, elapsed: Duration) -> String {
        let mut text = String::new();
        let mut line = |name: &str, count: u64, more: &str| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<18}{:>12}{more}", grouped(count));
        };
        line("documents", self.documents(), "");
        line("  added", self.added, "");
        line("  unchanged", self.unchanged, "");
        line("  updated", self.updated, "");
        if self.kept_out > 0 {
            line("  kept out", self.kept_out, "");
        }
        if !self.skipped.is_empty() {
            let reasons = self.skipped.iter();
            let reasons = reasons.map(|(reason, &count)| {
                let count = grouped(count);
                format!("{count} {}", reason.name())
            });
            let reasons = reasons.collect::<Vec<_>>().join(", ");
            line("  skipped", self.all_skipped(), &format!("   {reasons}"));
        }
        line("exact copies", self.exact_copies, "");
        line("near-duplicates", self.near_duplicates, "");
        let others = self.encodings.iter().filter(|(name, _)| **name != "UTF-8");
        let (names, counts): (Vec<String>, Vec<u64>) = others
            .map(|(name, &count)| (format!("{} {name}", grouped(count)), count))
            .unzip();
        if !names.is_empty() {
            let more = format!("   {}", names.join(", "));
            line("not in UTF-8", counts.iter().sum(), &more);
        }
        if self.replaced > 0 {
            line(
                "replaced",
                self.replaced,
                "   have U+FFFD for bytes that are no characters",
            );
        }
        let seconds = elapsed.as_secs_f64();
        let rate = self.bytes as f64 / 1e6 / seconds.max(1e-9);
        let read = number::bytes(self.bytes);
        let _ = match self.bytes {
            0 => writeln!(text, "nothing read, {seconds:.1} s"),
            _ => writeln!(text, "{read} read in {seconds:.1} s, {rate:.1} MB/s"),
        };
        text
    }

    /// A line about names that are not valid UTF-8, if there were any.
    pub(crate) fn lossy_note(&self) -> Option<String> {
        (self.lossy_keys() > 0).then(|| {
            let names = counted(
                self.lossy_keys,
                "file has a name that is",
                "files have names that are",
            );
            format!("{names} not valid UTF-8; the keys have U+FFFD in place of those bytes")
        })
    }
}
