//! The mark of the parameters of lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use dedupdb::Schema;

/// Separates this hash from others, and from that of lines of another format.
const DOMAIN: &str = "dedupdb lines between map and reduce, version 1: ";

/// The number of hash bytes. The hash only guards against mistakes.
const BYTES: usize = 3;

/// The number of characters in a mark.
pub(super) const MARK: usize = 4;

/// Four characters that distinguish the parameters of a schema from others.
pub(super) fn mark(schema: &Schema) -> String {
    let hash = blake3::hash(format!("{DOMAIN}{schema}").as_bytes());
    STANDARD_NO_PAD.encode(&hash.as_bytes()[..BYTES])
}
