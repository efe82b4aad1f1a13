//! The columns of a line after the name of the bucket.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::parameters;
use crate::text::ShingleSet;

/// The separator of columns.
pub(super) const TAB: u8 = b'\t';

/// The columns of a document, each with a tab before it. `mark` is the mark of the parameters.
pub(super) fn columns(id: &str, mark: &str, shingles: &ShingleSet) -> String {
    let quoted = serde_json::Value::from(id).to_string();
    let id = &quoted[1..quoted.len() - 1];
    let mut columns = format!("\t{id}\t{mark}\t{}\t", shingles.len());
    STANDARD_NO_PAD.encode_string(shingles.to_packed(), &mut columns);
    columns
}

/// A document in its bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member<'a> {
    /// The number of shingles.
    pub(super) size: usize,
    pub(super) id: String,
    packed: &'a [u8],
    /// The number of the document's line.
    pub(super) number: u64,
}

impl<'a> Member<'a> {
    /// Parses the columns after the bucket and its tab on the line `number`, or returns `None` if they are invalid.
    pub(super) fn of(columns: &'a [u8], number: u64) -> Option<Member<'a>> {
        let mut columns = columns.split(|&byte| byte == TAB);
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
        is_all.then_some(Member {
            size,
            id,
            packed,
            number,
        })
    }

    /// Whether the other document is a repetition of this one.
    pub(super) fn is_again(&self, other: &Member<'_>) -> bool {
        (self.size, &self.id, self.packed) == (other.size, &other.id, other.packed)
    }

    /// The document's shingles, or `None` if they are invalid.
    pub(super) fn shingles(&self) -> Option<ShingleSet> {
        let packed = STANDARD_NO_PAD.decode(self.packed).ok()?;
        ShingleSet::from_packed(&packed, self.size)
    }
}

/// The mark of the parameters in the columns after the bucket, if there is one.
pub(super) fn mark(columns: &[u8]) -> Option<&[u8]> {
    let mark = columns.split(|&byte| byte == TAB).nth(1)?;
    (mark.len() == parameters::MARK).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::{Member, columns, mark};
    use crate::text::ShingleSet;
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
            let member = Member::of(line, 1).unwrap();
            prop_assert_eq!(member.shingles(), Some(set));
            prop_assert_eq!(member.id, id);
        }
    }

    #[test]
    fn other_columns_are_refused() {
        for wrong in ["", "a", "a\tm\t1", "a\tm\tx\t", "\"\tm\t1\t", "a\tm\t0\t\t"] {
            assert_eq!(Member::of(wrong.as_bytes(), 1), None, "{wrong}");
        }
        let wrong = Member::of(b"a\tm\t2\tAAAA", 1).unwrap();
        assert_eq!(wrong.shingles(), None);
    }
}
