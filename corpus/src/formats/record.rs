//! Records, as cut from a file and as parsed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::decode::Decoded;
use crate::skipped::{Hint, Reason, Skipped};

/// The number of a record in its file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nth {
    /// A line.
    Line(u64),
    /// A row of a table, or a record of an archive.
    Record(u64),
}

impl Nth {
    /// Returns the number alone.
    pub fn number(self) -> u64 {
        match self {
            Nth::Line(number) | Nth::Record(number) => number,
        }
    }
}

impl fmt::Display for Nth {
    /// Writes the number as it follows a file's path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nth::Line(number) => write!(f, ":{number}"),
            Nth::Record(number) => write!(f, "#{number}"),
        }
    }
}

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

/// Why a record is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordFault {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
    /// What would make the record readable.
    pub(crate) hint: Option<Hint>,
}

impl RecordFault {
    /// Returns the fault of a malformed record.
    pub(crate) fn bad(detail: impl Into<String>) -> RecordFault {
        RecordFault {
            reason: Reason::BadRecord,
            detail: detail.into(),
            hint: None,
        }
    }

    /// Returns the skipped item for this fault.
    pub(crate) fn skipped(self, place: String) -> Skipped {
        Skipped {
            hint: self.hint,
            ..Skipped::new(self.reason, place, self.detail)
        }
    }

    /// Returns the fault of a bug in the program or in a library that it reads with.
    fn defect() -> RecordFault {
        RecordFault::bad(DEFECT)
    }

    /// Returns the fault of a record that is larger than requested.
    pub(crate) fn too_large() -> RecordFault {
        RecordFault {
            reason: Reason::TooLarge,
            detail: Reason::TooLarge.name().to_owned(),
            hint: None,
        }
    }
}

/// The message if reading panicked.
pub(crate) const DEFECT: &str = "it cannot be read, by a defect of this program; please report it";

/// Returns the record that `parse` returns. A panic costs only this record.
///
/// # Errors
///
/// Those of `parse`.
pub(crate) fn caught(
    parse: impl FnOnce() -> Result<Record, RecordFault>,
) -> Result<Record, RecordFault> {
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|_| Err(RecordFault::defect()))
}

#[cfg(test)]
mod tests {
    use super::{DEFECT, caught};
    use crate::skipped::Reason;

    #[test]
    fn a_panic_costs_one_record() {
        let fault = caught(|| panic!("a defect")).unwrap_err();
        assert_eq!((fault.reason, &*fault.detail), (Reason::BadRecord, DEFECT));
    }
}
