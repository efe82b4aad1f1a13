//! Folders of mail in which each message is a file without an extension.

use std::path::Path;

/// The folders of a Maildir: of messages that were seen, of new ones, and of those that are being delivered.
const FOLDERS: [&str; 3] = ["cur", "new", "tmp"];

/// Whether a file is a message of a Maildir: it is in one of its folders, beside which there is another one, or has the name
/// of a message.
pub(crate) fn has(path: &Path) -> bool {
    // Inside of `cur`, a path such as `./1700.M1P2.host` does not say so.
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let Some(folder) = path.parent() else {
        return false;
    };
    let Some(own) = FOLDERS.iter().find(|own| folder.ends_with(own)) else {
        return false;
    };
    let is_there = |other: &str| other != *own && folder.with_file_name(other).is_dir();
    let name = path.file_name().map(|name| name.to_string_lossy());
    let is_message = name.is_some_and(|name| is_message(&name));
    // A copy without its empty folders is one, too.
    ["cur", "new"].into_iter().any(is_there)
        || *own != "tmp" && is_there("tmp")
        || *own != "tmp" && is_message
}

/// Whether a name is one that mail servers give: it begins with a time in seconds, or ends with flags.
fn is_message(name: &str) -> bool {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let is_timed = digits >= 8 && name[digits..].starts_with('.');
    is_timed
        || [":2,", "!2,", ";2,"]
            .iter()
            .any(|flags| name.contains(flags))
}
