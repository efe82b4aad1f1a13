//! Folders of mail in which each message is a file without an extension.

use std::path::Path;

/// Whether a file is a message of a Maildir: it is in its folder `cur` or `new`, beside which there is `tmp`.
pub(crate) fn has(path: &Path) -> bool {
    let Some(folder) = path.parent() else {
        return false;
    };
    let is_of_messages = ["cur", "new"].map(Some).contains(&name(folder));
    is_of_messages && folder.with_file_name("tmp").is_dir()
}

fn name(folder: &Path) -> Option<&str> {
    folder.file_name()?.to_str()
}
