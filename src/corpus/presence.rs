//! Whether the file of a stored document is still there.

use std::path::Path;

use crate::Document;
use crate::corpus::walk::key::REPLACED;

/// Whether the file exists that a stored document came from, looked for from the current folder as its key names it.
/// None if the document came from no file of its own, or if that cannot be told: bytes of the name were replaced in the
/// key, or the system refuses to look.
pub fn file_exists(document: &Document) -> Option<bool> {
    document.modified?;
    if document.key.contains(REPLACED) {
        return None;
    }
    Path::new(&document.key).try_exists().ok()
}
