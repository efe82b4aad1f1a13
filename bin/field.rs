//! A field of CSV that is written.

/// A text as a field, in the way of RFC 4180.
pub(crate) fn quoted(text: String) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}
