//! What the index stores of a document.
//!
//! The value of a document in its table:
//!
//! | field | encoding |
//! |---|---|
//! | content id | varint |
//! | size in bytes | varint |
//! | number of the run that stored it, or 0 | varint |
//! | time added, in seconds since 1970 | varint of zigzag |
//! | number of the file or folder that it came from, or 0: the `sources` module | varint |
//! | days from the day when it was added to the one when it was last offered | varint of zigzag |
//! | modification time in ns since 1970 | 8 bytes, little-endian; nothing if it is not known |

use std::sync::Arc;

use crate::clock::day_of;
use crate::codec::varint;

/// The maximum size of a value in bytes.
const MOST_BYTES: usize = 6 * varint::MOST_BYTES + 8;

/// What is stored of a document in addition to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRow {
    pub(crate) content: u32,
    pub(crate) size: u64,
    pub(crate) modified: Option<i64>,
    pub(crate) added: i64,
    /// The number of the run that stored it, or 0.
    pub(crate) run: u64,
    /// The number of the file that its record came from, or of the folder from which its key leads to its file, or 0.
    pub(crate) source: u64,
    /// The day when it was last offered, in days since 1970.
    pub(crate) last_seen: i64,
}

/// A row in stored form.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentValue {
    bytes: [u8; MOST_BYTES],
    len: usize,
}

impl DocumentRow {
    pub(super) fn to_value(self) -> DocumentValue {
        let mut bytes = [0; MOST_BYTES];
        let mut len = 0;
        for field in [
            self.content.into(),
            self.size,
            self.run,
            varint::zigzag(self.added),
            self.source,
            varint::zigzag(self.last_seen.wrapping_sub(day_of(self.added))),
        ] {
            len += varint::write(field, &mut bytes[len..]);
        }
        if let Some(modified) = self.modified {
            bytes[len..len + 8].copy_from_slice(&modified.to_le_bytes());
            len += 8;
        }
        DocumentValue { bytes, len }
    }

    pub(super) fn from_value(value: &[u8]) -> Result<DocumentRow, redb::Error> {
        DocumentRow::parse(value)
            .ok_or_else(|| redb::Error::Corrupted("a document's entry makes no sense".into()))
    }

    fn parse(mut value: &[u8]) -> Option<DocumentRow> {
        let content = u32::try_from(varint::take(&mut value)?).ok()?;
        let size = varint::take(&mut value)?;
        let run = varint::take(&mut value)?;
        let added = varint::unzigzag(varint::take(&mut value)?);
        let source = varint::take(&mut value)?;
        let days = varint::unzigzag(varint::take(&mut value)?);
        let modified = match value {
            [] => None,
            time => Some(i64::from_le_bytes(time.try_into().ok()?)),
        };
        Some(DocumentRow {
            content,
            size,
            modified,
            added,
            run,
            source,
            last_seen: day_of(added).wrapping_add(days),
        })
    }
}

impl DocumentValue {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A commit's change to one document.
#[derive(Clone, Debug)]
pub(crate) struct DocumentChange {
    pub(crate) key: Arc<str>,
    /// The content that it named before, if it existed.
    pub(crate) old: Option<u32>,
    /// The document after the commit, if it still exists.
    pub(crate) new: Option<DocumentRow>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_row_survives_and_its_beginnings_are_refused(
            content in any::<u32>(),
            size in any::<u64>(),
            modified in any::<Option<i64>>(),
            added in any::<i64>(),
            run in any::<u64>(),
            source in any::<u64>(),
            last_seen in any::<i64>(),
        ) {
            let row = DocumentRow { content, size, modified, added, run, source, last_seen };
            let value = row.to_value();
            prop_assert_eq!(DocumentRow::from_value(value.as_bytes()).unwrap(), row);
            let without_time = DocumentRow { modified: None, ..row }.to_value().len;
            for len in (0..value.len).filter(|&len| len != without_time) {
                prop_assert!(DocumentRow::from_value(&value.as_bytes()[..len]).is_err());
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(row) = DocumentRow::from_value(&bytes) {
                prop_assert_eq!(DocumentRow::from_value(row.to_value().as_bytes()).unwrap(), row);
            }
        }
    }

    #[test]
    fn an_ordinary_document_takes_few_bytes() {
        let row = DocumentRow {
            content: 300_000,
            size: 2_400,
            modified: None,
            added: 1_800_000_000,
            run: 0,
            source: 0,
            last_seen: day_of(1_800_000_000) + 60,
        };
        assert_eq!(row.to_value().as_bytes().len(), 13);
    }
}
