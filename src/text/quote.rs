//! Foreign text in messages.

/// The most characters of a text that a message repeats.
const LONGEST: usize = 40;

/// The text as a message can show it: shortened, on one line, in ASCII.
pub(super) fn quote(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars
        .by_ref()
        .take(LONGEST)
        .flat_map(char::escape_default)
        .collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}
