//! Memory maps of files: the one file of the storage layer with unsafe code.
#![allow(unsafe_code, reason = "a shared file mapping cannot be had without it")]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// A read-only mapping of the first bytes of a column's file.
///
/// # Invariant
///
/// Callers only ask for bytes that are written and will never be written again: those below the
/// length up to which a [`Column`](super::column::Column) was flushed or, in another process than
/// the writer's, committed. Rows are never changed in place. A writer that opens a column or is done
/// with it cuts the file, but never below its committed length, and a reader maps no more than that.
///
/// What no program can exclude is that someone outside truncates the file while it is mapped, or that
/// the disk cannot read a part of it; on Unix the process then receives SIGBUS when it reads the pages
/// in question. So what is read of a damaged store is not mapped.
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
        // long when mapped and is not cut below the bytes asked for. They do not change while the
        // slice lives. Both hold by the invariant of this type.
        Some(unsafe { std::slice::from_raw_parts(start, range.end - range.start) })
    }
}

/// A mapping of a whole file as 64-bit words, little-endian in the file, that several threads read
/// and set bits of.
///
/// # Invariant
///
/// The process reads and writes the file only through atomic operations on this mapping while it
/// exists. Another process may set bits at the same time, through a mapping like this one.
#[derive(Debug)]
pub(crate) struct SharedWords {
    raw: MmapRaw,
    writable: bool,
}

impl SharedWords {
    /// Maps `file`, which is open for writing if `writable`.
    pub(crate) fn new(file: &File, writable: bool) -> io::Result<SharedWords> {
        let options = MmapOptions::new();
        let raw = if writable {
            options.map_raw(file)?
        } else {
            options.map_raw_read_only(file)?
        };
        Ok(SharedWords { raw, writable })
    }

    /// Number of words; a part of one at the file's end does not count.
    pub(crate) fn len(&self) -> usize {
        self.raw.len() / size_of::<AtomicU64>()
    }

    /// The word at `index`, if there is one.
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        self.word(index)
            .map(|word| u64::from_le(word.load(Ordering::Relaxed)))
    }

    /// Sets the bits `bits` of the word at `index`. Does nothing in a mapping that is not writable.
    pub(crate) fn set(&self, index: usize, bits: u64) {
        if let Some(word) = self.word(index).filter(|_| self.writable) {
            word.fetch_or(bits.to_le(), Ordering::Relaxed);
        }
    }

    /// Replaces the word at `index`. Does nothing in a mapping that is not writable.
    pub(crate) fn put(&self, index: usize, value: u64) {
        if let Some(word) = self.word(index).filter(|_| self.writable) {
            word.store(value.to_le(), Ordering::Relaxed);
        }
    }

    /// Makes the words durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.raw.flush()
    }

    #[expect(clippy::cast_ptr_alignment, reason = "a mapping begins at a page")]
    fn word(&self, index: usize) -> Option<&AtomicU64> {
        if index >= self.len() {
            return None;
        }
        let word = self
            .raw
            .as_mut_ptr()
            .cast::<AtomicU64>()
            .wrapping_add(index);
        // SAFETY: the index was just checked to lie inside the mapping, which lives as long as
        // `self` and with it the reference, and begins at a page, so that every word is aligned.
        // By the invariant of this type all access is atomic; a mapping that is not writable is
        // only loaded from.
        Some(unsafe { &*word })
    }
}
