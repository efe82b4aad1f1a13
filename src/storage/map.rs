//! The memory map of a column: the one file of the storage layer with unsafe code.
#![allow(unsafe_code, reason = "a shared file mapping cannot be had without it")]

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{MmapOptions, MmapRaw};

/// A read-only mapping of the first bytes of a column's file.
///
/// # Invariant
///
/// Callers only ask for bytes that are written and will never be written again: those below the
/// length up to which a [`Column`](super::column::Column) was flushed. A column's file only grows
/// while it is open, its writer holds the store's lock, and rows are never changed in place.
///
/// What no program can exclude is that someone outside truncates the file while it is mapped; on
/// Unix the process then receives SIGBUS when it reads the missing pages.
#[derive(Debug)]
pub(crate) struct Map {
    raw: MmapRaw,
}

impl Map {
    /// Maps the first `len` bytes of `file`, which must be at least that long.
    pub(crate) fn new(file: &File, len: usize) -> io::Result<Map> {
        if file.metadata()?.len() < len as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let raw = MmapOptions::new().len(len).map_raw_read_only(file)?;
        Ok(Map { raw })
    }

    /// Bytes mapped.
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// The bytes in `range`, if they are mapped.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.raw.len() {
            return None;
        }
        let start = self.raw.as_ptr().wrapping_add(range.start);
        // SAFETY: the range was just checked to lie inside the mapping, which lives as long as
        // `self` and with it the slice. The pages are backed by the file, which was at least this
        // long when mapped and is never cut while the store is open. The bytes do not change while
        // the slice lives, by the invariant of this type.
        Some(unsafe { std::slice::from_raw_parts(start, range.end - range.start) })
    }
}
