//! Records, as cut from a file and as parsed.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::decode::Decoded;
use crate::skipped::{DEFECT, Nth, RecordFault};

/// A record that is cut from its file but not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord<T> {
    pub(crate) nth: Nth,
    /// The bytes that it took in the file, decompressed.
    pub(crate) bytes: u64,
    /// The record as it is in the file, with its line ending; empty unless requested.
    pub(crate) verbatim: Vec<u8>,
    pub(crate) body: Result<T, RecordFault>,
}

impl<T> RawRecord<T> {
    /// Returns the approximate bytes of memory that it takes. A row of a table may have more than its text.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.verbatim.len() as u64)
    }
}

/// A document's key and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// `None` if the record has no key of its own.
    pub(crate) id: Option<String>,
    /// Whether U+FFFD in the key replaces invalid bytes.
    pub(crate) is_lossy: bool,
    pub(crate) decoded: Decoded,
}

impl Record {
    /// Sets the encoding of the file before it was decoded as a whole, if it was.
    pub(crate) fn of(mut self, encoding: Option<&'static str>) -> Record {
        if let Some(encoding) = encoding {
            self.decoded.encoding = encoding;
            let is_replaced = |text: &String| text.contains(char::REPLACEMENT_CHARACTER);
            self.is_lossy = self.id.as_ref().is_some_and(is_replaced);
            self.decoded.replaced = self.decoded.text.contains(char::REPLACEMENT_CHARACTER);
        }
        self
    }
}

/// Adds the text of a further field, behind a line break. An empty one adds nothing.
///
/// ```
/// let mut text = None;
/// for field in ["A tram", "", "It runs at night."] {
///     dedupdb_corpus::join_field(&mut text, field.to_owned());
/// }
/// assert_eq!(text.as_deref(), Some("A tram\nIt runs at night."));
/// ```
pub fn join_field(text: &mut Option<String>, more: String) {
    match text {
        Some(text) if !text.is_empty() && !more.is_empty() => {
            text.push('\n');
            text.push_str(&more);
        }
        Some(text) if !text.is_empty() => {}
        _ => *text = Some(more),
    }
}

/// Returns the record that `parse` returns. A panic costs only this record.
///
/// # Errors
///
/// Those of `parse`.
pub(crate) fn caught(
    parse: impl FnOnce() -> Result<Record, RecordFault>,
) -> Result<Record, RecordFault> {
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|_| Err(RecordFault::bad(DEFECT)))
}

#[cfg(test)]
mod tests {
    use super::caught;
    use crate::skipped::{DEFECT, Reason};

    #[test]
    fn a_panic_costs_one_record() {
        let fault = caught(|| panic!("a defect")).unwrap_err();
        assert_eq!((fault.reason, &*fault.detail), (Reason::BadRecord, DEFECT));
    }
}
