//! Folders of mail in which each message is a file without an extension.

use std::path::Path;

/// The folders of a Maildir: of messages that were seen, of new ones, and of those that are being delivered.
const FOLDERS: [&str; 3] = ["cur", "new", "tmp"];

/// Whether a file is a message of a Maildir: it is in one of its folders, beside which there is another one, or it is in
/// `cur` and has flags.
pub(crate) fn has(path: &Path) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    let Some(own) = FOLDERS.iter().find(|own| folder.ends_with(own)) else {
        return false;
    };
    let is_there = |other: &str| other != *own && folder.with_file_name(other).is_dir();
    let name = path.file_name().map(|name| name.to_string_lossy());
    let has_flags = name.is_some_and(|name| name.contains(":2,"));
    // A copy without its empty folders is one, too.
    ["cur", "new"].into_iter().any(is_there)
        || *own != "tmp" && is_there("tmp")
        || *own == "cur" && has_flags
}
