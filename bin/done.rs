//! What became of everything that dedup met, as it is told.

use std::time::Duration;

use dedupdb::dedup::{Done, Dropping};
use serde_json::{Value, json};

use crate::number::grouped;
use crate::reading::{Told as _, line};

/// The counts as an object.
pub(crate) fn to_json(done: &Done, elapsed: Duration) -> Value {
    let dropping = |dropping: Dropping| {
        json!({
            "exact_copies": dropping.exact_copies,
            "near_duplicates": dropping.near_duplicates,
        })
    };
    let mut object = json!({
        "documents": done.documents,
        "kept": done.kept,
        "dropped": done.dropped(),
        "of_input": dropping(done.of_input),
        "of_history": dropping(done.of_history),
    });
    if let Value::Object(fields) = &mut object {
        fields.extend(done.reading.to_json(elapsed));
    }
    object
}

/// The counts as lines for people.
pub(crate) fn to_text(done: &Done, elapsed: Duration) -> String {
    let mut text = line("documents", done.documents, "");
    text += &line("  kept", done.kept, "");
    text += &line("  dropped", done.dropped(), "");
    text += &done.reading.skipped_line().unwrap_or_default();
    let (input, history) = (done.of_input, done.of_history);
    for (name, input, history) in [
        ("exact copies", input.exact_copies, history.exact_copies),
        (
            "near-duplicates",
            input.near_duplicates,
            history.near_duplicates,
        ),
    ] {
        let stored = match history {
            0 => String::new(),
            history => format!("   {} of them of stored ones", grouped(history)),
        };
        text += &line(name, input + history, &stored);
    }
    text + &done.reading.to_text(elapsed)
}
