//! Records: as they are cut from a file, and as they are parsed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::corpus::decode::Decoded;
use crate::corpus::skipped::{Hint, Reason, Skipped};

/// Which record of a file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nth {
    /// A line.
    Line(u64),
    /// A row of a table, or a record of an archive.
    Record(u64),
}

impl Nth {
    /// The number alone.
    pub fn number(self) -> u64 {
        match self {
            Nth::Line(number) | Nth::Record(number) => number,
        }
    }
}

impl fmt::Display for Nth {
    /// As it follows a file's path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nth::Line(number) => write!(f, ":{number}"),
            Nth::Record(number) => write!(f, "#{number}"),
        }
    }
}

/// A record that is cut out but not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raw<T> {
    pub(crate) nth: Nth,
    /// Bytes that it took in the file, decompressed.
    pub(crate) bytes: u64,
    /// The record as it is in the file, with its end; nothing unless that is wanted.
    pub(crate) verbatim: Vec<u8>,
    pub(crate) body: Result<T, Fault>,
}

impl<T> Raw<T> {
    /// Bytes of memory that it takes, about: a row of a table may have more than its text.
    pub(crate) fn held(&self) -> u64 {
        self.bytes.max(self.verbatim.len() as u64)
    }
}

/// A document's key and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// None if it has none of its own.
    pub(crate) id: Option<String>,
    /// Whether U+FFFD stands in the key for what is no character.
    pub(crate) is_lossy: bool,
    pub(crate) decoded: Decoded,
}

impl Record {
    /// Notes that the file was in `encoding` before it was decoded as a whole, if it was.
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

/// Why a record gives no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
    /// What would let the record be read.
    pub(crate) hint: Option<Hint>,
}

impl Fault {
    /// Something is wrong with the record.
    pub(crate) fn bad(detail: impl Into<String>) -> Fault {
        Fault {
            reason: Reason::BadRecord,
            detail: detail.into(),
            hint: None,
        }
    }

    /// What is left out for its sake.
    pub(crate) fn skipped(self, place: String) -> Skipped {
        Skipped {
            reason: self.reason,
            place,
            detail: self.detail,
            hint: self.hint,
            record: None,
        }
    }

    /// A defect of the program or of a library that it reads with.
    fn defect() -> Fault {
        Fault::bad(DEFECT)
    }

    /// The record is larger than was asked for.
    pub(crate) fn too_large() -> Fault {
        Fault {
            reason: Reason::TooLarge,
            detail: Reason::TooLarge.name().to_owned(),
            hint: None,
        }
    }
}

/// What is said where reading panicked.
pub(crate) const DEFECT: &str = "it cannot be read, by a defect of this program; please report it";

/// The record that `parse` gives; a panic costs the record and no other.
///
/// # Errors
///
/// Those of `parse`.
pub(crate) fn caught(parse: impl FnOnce() -> Result<Record, Fault>) -> Result<Record, Fault> {
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|_| Err(Fault::defect()))
}

#[cfg(test)]
mod tests {
    use super::{DEFECT, caught};
    use crate::corpus::skipped::Reason;

    #[test]
    fn a_panic_costs_one_record() {
        let fault = caught(|| panic!("a defect")).unwrap_err();
        assert_eq!((fault.reason, &*fault.detail), (Reason::BadRecord, DEFECT));
    }
}
