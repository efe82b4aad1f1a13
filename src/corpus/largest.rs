//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::Path;

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text, as [`Document::size`](crate::Document::size) has it; of equally large files, the one
/// with the shorter name, and then the one with the shorter path. `path` is that of a file that is one document. A
/// caller that has the text takes the characters that nobody sees off its size.
pub(crate) fn largest_first(size: u64, path: Option<&Path>) -> (Reverse<u64>, [usize; 2]) {
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    (Reverse(size), lengths)
}
