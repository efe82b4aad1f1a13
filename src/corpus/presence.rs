//! Whether the file of a stored document is still there.

use crate::Document;
use crate::corpus::walk::key::Key;

/// Whether the file exists that a stored document came from, looked for from the current folder as its key names it.
/// None if the document came from no file of its own, or if that is unknown: [`Key::path`] knows no path, or the
/// system refuses to look.
pub fn file_exists(document: &Document) -> Option<bool> {
    document.modified?;
    Key::path(&document.key)?.try_exists().ok()
}
