//! What became of everything that dedup met.

use std::time::Duration;

use dedupdb::Admission;
use serde_json::{Value, json};

use crate::number::grouped;
use crate::reading::{Reading, line};

/// Counts, each document under one of kept, dropped and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) reading: Reading,
    kept: u64,
    /// Like a document of this input.
    input: Dropped,
    /// Like one that was stored before.
    history: Dropped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dropped {
    exact_copies: u64,
    near_duplicates: u64,
}

impl Dropped {
    fn all(self) -> u64 {
        self.exact_copies + self.near_duplicates
    }

    fn to_json(self) -> Value {
        json!({ "exact_copies": self.exact_copies, "near_duplicates": self.near_duplicates })
    }
}

impl Summary {
    /// Counts what became of a document.
    pub(crate) fn admission(&mut self, admission: &Admission) {
        match admission {
            Admission::New { .. } => self.kept += 1,
            Admission::Duplicate {
                earlier,
                is_of_this_writer,
            } => {
                let dropped = if *is_of_this_writer {
                    &mut self.input
                } else {
                    &mut self.history
                };
                if earlier.exact_copy {
                    dropped.exact_copies += 1;
                } else {
                    dropped.near_duplicates += 1;
                }
            }
        }
    }

    /// Whether the output has no document.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept == 0
    }

    fn dropped(&self) -> u64 {
        self.input.all() + self.history.all()
    }

    fn documents(&self) -> u64 {
        self.kept + self.dropped() + self.reading.all_skipped()
    }

    /// The counts as an object.
    pub(crate) fn to_json(&self, elapsed: Duration) -> Value {
        let mut object = json!({
            "documents": self.documents(),
            "kept": self.kept,
            "dropped": self.dropped(),
            "of_input": self.input.to_json(),
            "of_history": self.history.to_json(),
        });
        if let Value::Object(fields) = &mut object {
            fields.extend(self.reading.to_json(elapsed));
        }
        object
    }

    /// The counts as lines for people.
    pub(crate) fn to_text(&self, elapsed: Duration) -> String {
        let mut text = line("documents", self.documents(), "");
        text += &line("  kept", self.kept, "");
        text += &line("  dropped", self.dropped(), "");
        text += &self.reading.skipped_line().unwrap_or_default();
        for (name, input, history) in [
            (
                "exact copies",
                self.input.exact_copies,
                self.history.exact_copies,
            ),
            (
                "near-duplicates",
                self.input.near_duplicates,
                self.history.near_duplicates,
            ),
        ] {
            let stored = match history {
                0 => String::new(),
                history => format!("   {} of them of stored ones", grouped(history)),
            };
            text += &line(name, input + history, &stored);
        }
        text + &self.reading.to_text(elapsed)
    }
}
