//! Whether the file of a stored document is still there.

use crate::Document;
use crate::corpus::walk::key::Key;

/// Whether the file of a stored document exists, as its key names it from the current folder. None if the document
/// did not come from a file of its own, or if that is unknown: [`Key::path`] finds no path, or the system refuses
/// access.
pub fn file_exists(document: &Document) -> Option<bool> {
    document.modified?;
    Key::path(&document.key)?.try_exists().ok()
}
