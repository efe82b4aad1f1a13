//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::{Component, Path};

/// Of two documents, the one with the lesser rank is worth keeping.
pub(crate) type KeepRank = (Reverse<u64>, bool, [usize; 2]);

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text, as [`Document::size`](dedupdb::Document::size) has it; of equally large files, one that
/// is not hidden, then the one with the shorter name, and then the one with the shorter path. `path` is that of a file
/// that is one document. A caller that has the text takes what nobody sees off its size.
pub(crate) fn largest_first(size: u64, path: Option<&Path>) -> KeepRank {
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    (Reverse(size), path.is_some_and(is_hidden), lengths)
}

/// Whether the file or one of its folders has a name that begins with a dot, as that of a trash has.
fn is_hidden(path: &Path) -> bool {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    names.any(|name| name.as_encoded_bytes().starts_with(b"."))
}
