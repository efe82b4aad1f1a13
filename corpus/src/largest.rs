//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Component, Path};

use crate::{SourcedText, is_compressed};
use dedupdb::sketching::unseen_bytes;

/// Words in the names of copies.
const COPY_WORDS: [&str; 11] = [
    "bak", "backup", "copia", "copie", "copy", "kopie", "old", "orig", "sav", "save", "swp",
];

/// Extensions of files that are not complete yet, or not to be kept.
const PART_ENDS: [&str; 4] = ["crdownload", "part", "temp", "tmp"];

/// Names of folders of such files, or of files that programs put there.
const SIDE_FOLDERS: [&str; 24] = [
    "$recycle.bin",
    "archiv",
    "archive",
    "backup",
    "backups",
    "bak",
    "build",
    "cache",
    "dist",
    "downloads",
    "drafts",
    "lost+found",
    "node_modules",
    "old",
    "recycler",
    "sicherung",
    "site-packages",
    "target",
    "temp",
    "third_party",
    "tmp",
    "trash",
    "vendor",
    "venv",
];

/// Of two documents, the one with the lesser rank is worth keeping.
pub(crate) type KeepRank = (Reverse<u64>, bool, [usize; 2]);

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text. What nobody sees does not count, nor does a compressor or an encoding. Of equally large
/// files, it is one that is neither hidden nor by its name a copy or of a program, then the one with the shorter name, and then the one with the
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

/// Whether the name of the file or of one of its folders says that it is hidden, a copy, or not a person's: trash, a
/// backup, a library, what a build made. A compressed file is one, too.
fn is_set_aside(path: &Path) -> bool {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let is_one = |name: &str, known: &[&str]| known.iter().any(|it| name.eq_ignore_ascii_case(it));
    let is_side = |name: &str| is_one(name, &SIDE_FOLDERS);
    let is_copy = |name: &str| {
        let mut words = name.split(|letter: char| !letter.is_alphanumeric());
        name.starts_with('.')
            || name.ends_with('~')
            || name.starts_with('#') && name.ends_with('#')
            || words.any(|word| is_one(word, &COPY_WORDS))
    };
    let file = names.next_back();
    let is_aside = file.is_some_and(|name| {
        let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
        let is_rotated = stem.contains('.') && end.parse::<u32>().is_ok();
        is_copy(&name) || is_rotated || is_one(end, &PART_ENDS) || is_compressed(path)
    });
    is_aside || names.any(|name| is_copy(&name) || is_side(&name))
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
            "bak.txt",
            "p.bak.txt",
            "Report Kopie.txt",
            "copy.txt",
            "tale.txt.1",
            "a.txt.crdownload",
            "report.txt.gz",
            "node_modules/u/util.js",
            "$RECYCLE.BIN/a.txt",
            "Backup 2022/a.txt",
        ] {
            assert!(is_set_aside(Path::new(aside)), "{aside}");
        }
        for other in [
            "report.txt",
            "older/report.txt",
            "photocopying.txt",
            "chapter.1",
            "tmp.txt",
            "a#b",
            "./report.txt",
            "../report.txt",
        ] {
            assert!(!is_set_aside(Path::new(other)), "{other}");
        }
    }
}
