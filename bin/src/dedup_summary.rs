//! The outcome of a dedup, as text.

use std::time::Duration;

use dedupdb_corpus::dedup::DedupSummary;

use crate::number::grouped;
use crate::read_counts::{ReadCountsText as _, line};

/// The counts as lines for people.
///
/// Documents of the input that others resemble are called `kept`, and those that were there before `earlier`.
/// `has_converter` says whether a program converts files to text.
pub(crate) fn to_text(
    done: &DedupSummary,
    kept: &str,
    earlier: &str,
    has_converter: bool,
    elapsed: Duration,
) -> String {
    let mut text = line("documents", done.documents, "");
    text += &line("  kept", done.kept, "");
    let of_units = done.units.map(|units| (units.changed, units.dropped));
    let of_passages = (done.passages).map(|passages| (passages.changed, passages.dropped));
    if let Some((changed, dropped)) = of_units.or(of_passages) {
        text += &line("    changed", changed, "");
        text += &line("  dropped", dropped, "");
    } else {
        text += &line("  dropped", done.dropped(), "");
    }
    for (field, without) in &done.without_field {
        if *without > 0 {
            text += &line(&format!("  without {field}"), *without, "   come last");
        }
    }
    text += &done.reading.skipped_line(has_converter).unwrap_or_default();
    if let Some(passages) = &done.passages {
        text += &line("passages cut", passages.passages, "");
        text += &line("  words", passages.words, "");
        return text + &done.reading.to_text(elapsed);
    }
    if let Some(units) = &done.units {
        let all = units.kept + units.short + units.lost + done.dropped();
        text += &line("units", all, "");
        text += &line("  kept", units.kept, "");
        text += &line("  too short", units.short, "   stay");
        text += &line("  lost", units.lost, "   with dropped documents");
        text += &line("  cut", done.dropped(), "");
    }
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
        let of = match (input, history) {
            (0, 0) => String::new(),
            (_, 0) => format!("   of {kept}"),
            (0, _) => format!("   of {earlier}"),
            _ => format!(
                "   {} of {kept}, {} of {earlier}",
                grouped(input),
                grouped(history)
            ),
        };
        text += &line(name, input + history, &of);
    }
    if input.contained > 0 {
        text += &line("contained", input.contained, &format!("   in {kept}"));
    }
    text + &done.reading.to_text(elapsed)
}
