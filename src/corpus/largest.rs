//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;

/// Returns what sorts the document to keep first: the largest, which is the file with the most bytes on disk or the
/// record with the longest text, as [`Document::size`](crate::Document::size) has it; of equally large files, the one
/// with the shorter path. `path` is that of a file that is one document.
pub(crate) fn largest_first(size: u64, path: Option<&str>) -> (Reverse<u64>, usize) {
    (Reverse(size), path.map_or(0, str::len))
}
