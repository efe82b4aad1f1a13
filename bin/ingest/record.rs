//! Records: as they are cut from a file, and as they are parsed.

use std::fmt;

use encoding_rs::Encoding;

use crate::ingest::decode::Decoded;
use crate::skip::Reason;

/// Which record of a file, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nth {
    Line(u64),
    Record(u64),
}

impl Nth {
    /// The number alone.
    pub(crate) fn number(self) -> u64 {
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

/// A document's key and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// None if it has none of its own.
    pub(crate) id: Option<String>,
    pub(crate) decoded: Decoded,
}

impl Record {
    /// Notes that the file was in `encoding` before it was decoded as a whole, if it was.
    pub(crate) fn of(mut self, encoding: Option<&'static Encoding>) -> Record {
        if let Some(encoding) = encoding {
            self.decoded.encoding = encoding.name();
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
}

impl Fault {
    /// Something is wrong with the record.
    pub(crate) fn bad(detail: impl Into<String>) -> Fault {
        Fault {
            reason: Reason::BadRecord,
            detail: detail.into(),
        }
    }

    /// The record is larger than was asked for.
    pub(crate) fn too_large() -> Fault {
        Fault {
            reason: Reason::TooLarge,
            detail: Reason::TooLarge.name().to_owned(),
        }
    }
}
