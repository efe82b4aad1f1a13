//! Records, as cut from a file and as parsed.

use std::ops::Range;
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
    /// The strings in its text, if that is a list of them.
    pub(crate) strings: Option<Vec<Range<usize>>>,
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

/// The texts of the fields of a record, with line breaks between them. An empty one adds nothing.
///
/// ```
/// use dedupdb_corpus::JoinedText;
///
/// let mut text = JoinedText::default();
/// text.add("A tram".to_owned());
/// text.add_list(vec![String::new(), "It runs at night.".to_owned()]);
/// assert_eq!(text.into_text().as_deref(), Some("A tram\nIt runs at night."));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedText {
    text: Option<String>,
    fields: usize,
    /// The places of the strings of lists, if there is one.
    strings: Option<Vec<Range<usize>>>,
}

impl JoinedText {
    /// Adds the text of a field.
    pub fn add(&mut self, text: String) {
        self.fields += 1;
        self.append(text);
    }

    /// Adds the strings of a field that is a list.
    pub fn add_list(&mut self, strings: Vec<String>) {
        self.fields += 1;
        self.text.get_or_insert_default();
        let places = strings.into_iter().map(|string| self.append(string));
        let places: Vec<Range<usize>> = places.collect();
        self.strings.get_or_insert_default().extend(places);
    }

    /// Whether a field was added.
    pub fn has_fields(&self) -> bool {
        self.fields > 0
    }

    /// Returns the text. `None` if it has no field.
    pub fn into_text(self) -> Option<String> {
        self.text
    }

    /// Returns the places of the strings in the text, in bytes, if its only field is a list.
    pub fn list(&self) -> Option<&[Range<usize>]> {
        self.strings.as_deref().filter(|_| self.fields == 1)
    }

    fn append(&mut self, more: String) -> Range<usize> {
        let text = self.text.get_or_insert_default();
        if !text.is_empty() && !more.is_empty() {
            text.push('\n');
        }
        let start = text.len();
        if text.is_empty() {
            *text = more;
        } else {
            *text += &more;
        }
        start..text.len()
    }
}

impl From<String> for JoinedText {
    fn from(text: String) -> JoinedText {
        let mut joined = JoinedText::default();
        joined.add(text);
        joined
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
