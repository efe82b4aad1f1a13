//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Component, Path};

/// Extensions of backups, and names of folders of backups.
const BACKUP_ENDS: [&str; 6] = ["bak", "backup", "old", "orig", "save", "swp"];
const BACKUP_FOLDERS: [&str; 4] = ["backup", "backups", "bak", "old"];

/// Of two documents, the one with the lesser rank is worth keeping.
pub(crate) type KeepRank = (Reverse<u64>, bool, [usize; 2]);

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text, as [`Document::size`](dedupdb::Document::size) has it; of equally large files, one that
/// is neither hidden nor a backup, then the one with the shorter name, and then the one with the shorter path. `path` is that of a file
/// that is one document. A caller that has the text takes what nobody sees off its size.
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
