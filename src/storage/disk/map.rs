//! Memory maps of files.
#![allow(unsafe_code, reason = "a shared file mapping cannot be had without it")]

use std::fs;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapMut, MmapOptions, MmapRaw};

use super::{File, Step, at};
use crate::error::Result;

/// A read-only mapping of the first bytes of a file.
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
    ///
    /// # Safety
    ///
    /// Bytes that [`Map::bytes`] is asked for are neither written nor cut off for as long as the slice
    /// is there, through any handle of the file in this process or another one of dedupdb.
    pub(crate) unsafe fn of(file: &File, len: u64) -> Result<Map> {
        at(file.path(), Step::Read(0, len), || {
            let file = &file.inner;
            if file.metadata()?.len() < len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let too_long = |_| io::Error::from(io::ErrorKind::OutOfMemory);
            let len = usize::try_from(len).map_err(too_long)?;
            let raw = MmapOptions::new().len(len).map_raw_read_only(file)?;
            Ok(Map { raw })
        })
    }

    /// Bytes mapped.
    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    /// The bytes in `range`, if they are mapped.
    #[inline]
    pub(crate) fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.raw.len() {
            return None;
        }
        let start = self.raw.as_ptr().wrapping_add(range.start);
        // SAFETY: the range was just checked to lie inside the mapping, which lives as long as
        // `self` and with it the slice. The pages are backed by the file, which was at least this
        // long when mapped. Whoever made the map promised that these bytes stay, and as they are.
        Some(unsafe { std::slice::from_raw_parts(start, range.end - range.start) })
    }
}

/// A mapping of a whole file as 64-bit words, little-endian in the file, that several threads read
/// and change.
///
/// Nobody gets a reference to its bytes but by atomic operations. So whatever else writes to the file, in
/// this process or another, changes words and nothing more; whoever cuts it ends the process at the
/// next look at what is gone, as with a [`Map`].
#[derive(Debug)]
pub(crate) struct SharedWords {
    raw: MmapRaw,
    writable: bool,
}

impl SharedWords {
    /// Maps `file`, which is open for writing if `writable`.
    pub(super) fn new(file: &fs::File, writable: bool) -> io::Result<SharedWords> {
        let options = MmapOptions::new();
        let raw = if writable {
            options.map_raw(file)?
        } else {
            options.map_raw_read_only(file)?
        };
        #[cfg(unix)]
        if !writable {
            // Who only reads looks at words here and there: of a file that is not in memory, the system
            // would read megabytes around each. Without the advice it does no more than that.
            raw.advise(memmap2::Advice::Random).unwrap_or_default();
        }
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

    /// Replaces the word at `index` by what `change` makes of it, in one step, as often as another thread
    /// was quicker. Does nothing in a mapping that is not writable, or where `change` gives nothing.
    pub(crate) fn update(&self, index: usize, change: impl Fn(u64) -> Option<u64>) {
        if let Some(word) = self.word(index).filter(|_| self.writable) {
            let change = |old| change(u64::from_le(old)).map(u64::to_le);
            // What it was before does not matter.
            let _before = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
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
        // All access in this process is atomic, for the words are not to be had in another way; a
        // mapping that is not writable is only loaded from.
        Some(unsafe { &*word })
    }
}

/// A page of memory that tells the process that made it from the children that it forks.
#[derive(Debug)]
pub(super) struct ForkMark {
    page: MmapMut,
}

impl ForkMark {
    /// A mark of the process that runs; none where the system has no such thing.
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> Option<ForkMark> {
        let mut page = MmapMut::map_anon(1).ok()?;
        let (start, len) = (page.as_mut_ptr().cast(), page.len());
        // SAFETY: the page is the mark's own, and in a child it is there as well, full of zeros.
        let wiped = unsafe { libc::madvise(start, len, libc::MADV_WIPEONFORK) };
        page[0] = 1;
        (wiped == 0).then_some(ForkMark { page })
    }

    /// The same.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> Option<ForkMark> {
        None
    }

    /// Whether the process that runs made it.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.page[0] == 1
    }
}
