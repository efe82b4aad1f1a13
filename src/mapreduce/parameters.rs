//! The mark of the parameters that lines were made with.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::schema::Schema;

/// Keeps this hash apart from others, and from that of lines of another form.
const DOMAIN: &str = "dedupdb lines between map and reduce, version 1: ";

/// Bytes of the hash, which is there for mistakes.
const BYTES: usize = 3;

/// Characters of a mark.
pub(super) const MARK: usize = 4;

/// Four characters that tell the parameters of a schema from others.
pub(super) fn mark(schema: &Schema) -> String {
    let hash = blake3::hash(format!("{DOMAIN}{schema}").as_bytes());
    STANDARD_NO_PAD.encode(&hash.as_bytes()[..BYTES])
}
