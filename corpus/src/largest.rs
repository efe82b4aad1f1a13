//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Component, Path};

use crate::{SourcedText, is_compressed};
use dedupdb::sketching::unseen_bytes;

/// Extensions of backups, and names of folders of backups.
const BACKUP_ENDS: [&str; 6] = ["bak", "backup", "old", "orig", "save", "swp"];
const BACKUP_FOLDERS: [&str; 4] = ["backup", "backups", "bak", "old"];

/// Of two documents, the one with the lesser rank is worth keeping.
pub(crate) type KeepRank = (Reverse<u64>, bool, [usize; 2]);

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text. What nobody sees does not count, nor does a compressor or an encoding. Of equally large
/// files, it is one that is neither hidden nor a backup, then the one with the shorter name, and then the one with the
/// shorter path.
pub(crate) fn rank_of(document: &SourcedText) -> KeepRank {
    let text = document.text();
    // Neither a compressor nor an encoding makes a text longer or shorter.
    let is_as_it_is = !is_compressed(&document.source) && !is_wide(document.encoding);
    let size = document.size.filter(|_| is_as_it_is);
    // A byte order mark, three bytes in UTF-8, is not in the text.
    let longest = text.len() as u64;
    let size = size.filter(|&size| size != longest + 3);
    let size = size.map_or(longest, |size| size.max(longest));
    let size = size.saturating_sub(unseen_bytes(text) as u64);
    let path = (document.record.is_none()).then_some(Path::new(&document.key));
    largest_first(size, path)
}

/// Whether the encoding has several bytes for a letter of any script.
fn is_wide(encoding: &str) -> bool {
    encoding.starts_with("UTF-16") || encoding.starts_with("UTF-32")
}

/// Returns the same if only the size is known. `path` is that of a file that is one document.
pub(crate) fn largest_first(size: u64, path: Option<&Path>) -> KeepRank {
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    (Reverse(size), path.is_some_and(is_set_aside), lengths)
}

/// Whether the name of the file or of one of its folders says that it is hidden, as a trash is, or a backup.
fn is_set_aside(path: &Path) -> bool {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let is_one = |name: &str, known: &[&str]| known.iter().any(|it| name.eq_ignore_ascii_case(it));
    names.any(|name| {
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        name.starts_with('.')
            || name.ends_with('~')
            || name.starts_with('#') && name.ends_with('#')
            || is_one(&name, &BACKUP_FOLDERS)
            || is_one(end, &BACKUP_ENDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_are_set_aside() {
        for aside in [
            "report.bak",
            "report.txt~",
            "#report#",
            "a/Old/report.txt",
            ".trash/a.txt",
            "report.ORIG",
        ] {
            assert!(is_set_aside(Path::new(aside)), "{aside}");
        }
        for other in [
            "report.txt",
            "older/report.txt",
            "bak.txt",
            "a#b",
            "./report.txt",
            "../report.txt",
        ] {
            assert!(!is_set_aside(Path::new(other)), "{other}");
        }
    }
}
