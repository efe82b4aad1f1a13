//! The columns of a line after the name of the bucket.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use twox_hash::XxHash3_64;

use super::parameters;
use dedupdb::sketching::ShingleSet;

/// The separator of columns.
pub(super) const TAB: u8 = b'\t';

/// The columns of a document, each with a tab before it. `mark` is the mark of the parameters.
pub(super) fn columns(id: &str, mark: &str, shingles: &ShingleSet) -> String {
    let quoted = serde_json::Value::from(id).to_string();
    let id = &quoted[1..quoted.len() - 1];
    let mut columns = format!("{id}\t{mark}\t{}\t", shingles.len());
    STANDARD_NO_PAD.encode_string(shingles.to_packed(), &mut columns);
    format!("\t{columns}\t{}", check(columns.as_bytes()))
}

/// The last column: 32 bits of the hash of the other columns after the bucket. One damaged line in 2^32 passes.
fn check(columns: &[u8]) -> String {
    format!("{:08x}", XxHash3_64::oneshot(columns) & 0xffff_ffff)
}

/// A document in its bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BucketDocument<'a> {
    /// The number of shingles.
    pub(super) size: usize,
    pub(super) id: String,
    packed: &'a [u8],
    /// The number of the document's line.
    pub(super) number: u64,
}

impl<'a> BucketDocument<'a> {
    /// Parses the columns after the bucket and its tab on the line `number`, or returns `None` if they are invalid.
    pub(super) fn of(columns: &'a [u8], number: u64) -> Option<BucketDocument<'a>> {
        let mut columns = checked(columns)?.split(|&byte| byte == TAB);
        let (id, _, size, packed) = (
            columns.next()?,
            columns.next()?,
            columns.next()?,
            columns.next()?,
        );
        let id = std::str::from_utf8(id).ok()?;
        let size = std::str::from_utf8(size).ok()?.parse().ok()?;
        let id: String = serde_json::from_str(&format!("\"{id}\"")).ok()?;
        let is_all = columns.next().is_none();
        is_all.then_some(BucketDocument {
            size,
            id,
            packed,
            number,
        })
    }

    /// Whether the other document is a repetition of this one.
    pub(super) fn is_again(&self, other: &BucketDocument<'_>) -> bool {
        (self.size, &self.id, self.packed) == (other.size, &other.id, other.packed)
    }

    /// The document's shingles, or `None` if they are invalid.
    pub(super) fn shingles(&self) -> Option<ShingleSet> {
        let packed = STANDARD_NO_PAD.decode(self.packed).ok()?;
        ShingleSet::from_packed(&packed, self.size)
    }
}

/// The columns without their checksum, or `None` if that is not theirs.
pub(super) fn checked(columns: &[u8]) -> Option<&[u8]> {
    let tab = columns.iter().rposition(|&byte| byte == TAB)?;
    let (columns, found) = (&columns[..tab], &columns[tab + 1..]);
    (check(columns).as_bytes() == found).then_some(columns)
}

/// The mark of the parameters in the columns after the bucket, if there is one.
pub(super) fn mark(columns: &[u8]) -> Option<&[u8]> {
    let mark = columns.split(|&byte| byte == TAB).nth(1)?;
    (mark.len() == parameters::MARK).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::{BucketDocument, check, columns, mark};
    use dedupdb::sketching::ShingleSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_document_survives_its_line(
            id in ".*",
            hashes in prop::collection::vec(any::<u32>(), 0..100),
        ) {
            let set = ShingleSet::from_hashes(hashes);
            let columns = columns(&id, "mark", &set);
            let line = columns.strip_prefix('\t').unwrap().as_bytes();
            prop_assert!(!columns.contains(['\n', '\r']));
            prop_assert_eq!(mark(line), Some(&b"mark"[..]));
            let member = BucketDocument::of(line, 1).unwrap();
            prop_assert_eq!(member.shingles(), Some(set));
            prop_assert_eq!(member.id, id);
        }
    }

    #[test]
    fn a_damaged_line_is_refused() {
        let set = ShingleSet::from_hashes((1..9).map(|n| n * 0x0101_0101).collect());
        let line = columns("an id", "mark", &set).split_off(1).into_bytes();
        assert!(BucketDocument::of(&line, 1).is_some());
        for place in 0..line.len() {
            let mut damaged = line.clone();
            damaged[place] ^= 1;
            assert_eq!(BucketDocument::of(&damaged, 1), None, "{place}");
        }
    }

    #[test]
    fn other_columns_are_refused() {
        let checked = |columns: &str| format!("{columns}\t{}", check(columns.as_bytes()));
        for wrong in ["", "a", "a\tm\t1", "a\tm\tx\t", "\"\tm\t1\t", "a\tm\t0\t\t"] {
            assert_eq!(
                BucketDocument::of(checked(wrong).as_bytes(), 1),
                None,
                "{wrong}"
            );
        }
        let wrong = checked("a\tm\t2\tAAAA");
        assert_eq!(
            BucketDocument::of(wrong.as_bytes(), 1).unwrap().shingles(),
            None
        );
    }
}
