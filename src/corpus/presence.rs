//! Whether the file of a stored document still exists.

use crate::Document;
use crate::corpus::walk::key::Key;

/// Returns whether the file of a stored document exists, as its key names it from the current folder.
///
/// Returns `None` if the document did not come from its own file, or if this is unknown: [`Key::path`] finds no path,
/// or the system refuses access.
pub fn file_exists(document: &Document) -> Option<bool> {
    document.modified?;
    Key::path(&document.key)?.try_exists().ok()
}
