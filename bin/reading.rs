//! What was read, and what was left out.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use dedupdb::corpus::{Nth, Reason};

use crate::inputs::Inputs;
use crate::number::{self, counted, grouped};

/// Counts of what was met, whatever became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    skipped: BTreeMap<Reason, u64>,
    encodings: BTreeMap<&'static str, u64>,
    replaced: u64,
    lossy_keys: u64,
    repeated: u64,
    records: u64,
    /// Records that brought an id.
    with_id: u64,
    bytes: u64,
}

impl Reading {
    /// Counts something left out.
    pub(crate) fn skipped(&mut self, reason: Reason) {
        *self.skipped.entry(reason).or_default() += 1;
        self.repeated += u64::from(reason == Reason::RepeatedKey);
    }

    /// Counts a document that was not left out although its key came before with another text; says
    /// whether it is the first of them.
    pub(crate) fn repeated(&mut self) -> bool {
        self.repeated += 1;
        self.repeated == 1
    }

    /// Counts a document whose bytes were read; `replaced` says whether some are no characters,
    /// and `lossy_key` whether that is so of its key.
    pub(crate) fn read(&mut self, bytes: u64, replaced: bool, lossy_key: bool) {
        self.bytes += bytes;
        self.replaced += u64::from(replaced);
        self.lossy_keys += u64::from(lossy_key);
    }

    /// Counts a document that is a record, if it is one.
    pub(crate) fn record(&mut self, nth: Option<Nth>, has_id: bool) {
        self.records += u64::from(nth.is_some());
        self.with_id += u64::from(has_id);
    }

    /// Counts a document whose text was in the encoding of this name.
    pub(crate) fn decoded(&mut self, encoding: &'static str) {
        *self.encodings.entry(encoding).or_default() += 1;
    }

    /// Whether something was not done that was asked for.
    pub(crate) fn has_failures(&self) -> bool {
        self.repeated > 0 || self.skipped.keys().any(|reason| reason.is_failure())
    }

    /// How many were left out.
    pub(crate) fn all_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// The counts as fields of an object.
    pub(crate) fn to_json(&self, elapsed: Duration) -> Map<String, Value> {
        let skipped = self.skipped.iter();
        let skipped: Map<String, Value> = skipped
            .map(|(reason, &count)| (reason.name().to_owned(), count.into()))
            .collect();
        let fields = [
            ("skipped", skipped.into()),
            ("repeated", self.repeated.into()),
            ("encodings", json!(self.encodings)),
            ("replaced", self.replaced.into()),
            ("bytes", self.bytes.into()),
            (
                "seconds",
                ((elapsed.as_secs_f64() * 1e3).round() / 1e3).into(),
            ),
        ];
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// The number of those left out and why, if there are any, as a line for people.
    pub(crate) fn skipped_line(&self) -> Option<String> {
        let reasons = self.skipped.iter();
        let reasons = reasons.map(|(reason, &count)| {
            let count = grouped(count);
            format!("{count} {}", reason.name())
        });
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        let more = format!("   {reasons}");
        (!self.skipped.is_empty()).then(|| line("  skipped", self.all_skipped(), &more))
    }

    /// How texts were decoded, and how much was read how fast, as lines for people.
    pub(crate) fn to_text(&self, elapsed: Duration) -> String {
        let mut text = String::new();
        let others = self.encodings.iter().filter(|(name, _)| **name != "UTF-8");
        let (names, counts): (Vec<String>, Vec<u64>) = others
            .map(|(name, &count)| (format!("{} {name}", grouped(count)), count))
            .unzip();
        if !names.is_empty() {
            let more = format!("   {}", names.join(", "));
            text += &line("not in UTF-8", counts.iter().sum(), &more);
        }
        if self.repeated > 0 {
            let more = "   came before with another text";
            text += &line("repeated keys", self.repeated, more);
        }
        if self.replaced > 0 {
            let more = "   have U+FFFD for bytes that are no characters";
            text += &line("replaced", self.replaced, more);
        }
        let seconds = elapsed.as_secs_f64();
        let rate = self.bytes as f64 / 1e6 / seconds.max(1e-9);
        let read = number::bytes(self.bytes);
        let last = match self.bytes {
            0 => format!("nothing read, {seconds:.1} s\n"),
            _ => format!("{read} read in {seconds:.1} s, {rate:.1} MB/s\n"),
        };
        text + &last
    }

    /// A line about the field that was to have the ids, if no record has it.
    pub(crate) fn no_id_note(&self, inputs: &Inputs) -> Option<String> {
        let field = inputs.id_field.as_ref();
        let field = field.filter(|_| self.records > 0 && self.with_id == 0)?;
        Some(format!(
            "no record has the field {field:?} of --id-field; their keys are PATH#NUMBER"
        ))
    }

    /// A line about keys in which something was replaced, if there were any.
    pub(crate) fn lossy_note(&self) -> Option<String> {
        (self.lossy_keys > 0).then(|| {
            let keys = counted(self.lossy_keys, "key has", "keys have");
            format!("{keys} U+FFFD in place of what is no character in a file's name or an id")
        })
    }
}

/// A count as a line for people.
pub(crate) fn line(name: &str, count: u64, more: &str) -> String {
    format!("{name:<18}{:>12}{more}\n", grouped(count))
}
