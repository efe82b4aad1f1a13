//! Whether the file of a stored document still exists.

use std::fs;
use std::io::ErrorKind;

use crate::Document;
use crate::corpus::walk::key::Key;

/// Returns whether the file of a stored document exists, as its key names it from the current folder. Something else in
/// its place, such as a folder, is not the file.
///
/// Returns `None` if the document did not come from its own file, or if this is unknown: [`Key::path`] finds no path,
/// or the system refuses access.
pub fn file_exists(document: &Document) -> Option<bool> {
    document.modified?;
    match fs::metadata(Key::path(&document.key)?) {
        Ok(found) => Some(found.is_file()),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Some(false),
            _ => None,
        },
    }
}
