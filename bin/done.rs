//! The outcome of a dedup, as text.

use std::time::Duration;

use dedupdb::dedup::Done;

use crate::number::grouped;
use crate::reading::{Told as _, line};

/// The counts as lines for people.
///
/// Documents that were already stored are called `earlier`. `has_converter` says whether a program converts files to
/// text.
pub(crate) fn to_text(
    done: &Done,
    earlier: &str,
    has_converter: bool,
    elapsed: Duration,
) -> String {
    let mut text = line("documents", done.documents, "");
    text += &line("  kept", done.kept, "");
    text += &line("  dropped", done.dropped(), "");
    text += &done.reading.skipped_line(has_converter).unwrap_or_default();
    let (input, history) = (done.of_input, done.of_history);
    for (name, input, history) in [
        ("exact copies", input.exact_copies, history.exact_copies),
        (
            "near-duplicates",
            input.near_duplicates,
            history.near_duplicates,
        ),
        ("  same words", input.same_words, history.same_words),
    ] {
        let stored = match history {
            0 => String::new(),
            1 => format!("   1 of them resembles {earlier}"),
            history => format!("   {} of them resemble {earlier}", grouped(history)),
        };
        text += &line(name, input + history, &stored);
    }
    text + &done.reading.to_text(elapsed)
}
