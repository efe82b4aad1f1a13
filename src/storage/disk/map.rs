//! Memory maps of files.
#![allow(unsafe_code, reason = "a shared file mapping cannot be had without it")]

use std::fs;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapMut, MmapOptions, MmapRaw};

use super::{DiskStep, File, at};
use crate::error::Result;

/// A read-only mapping of the first bytes of a file.
///
/// No program can exclude that another one truncates the file while it is mapped, or that the disk cannot read a part
/// of it. On Unix the process then receives SIGBUS when it reads the affected pages. For this reason, salvage does not
/// map a damaged store.
#[derive(Debug)]
pub(crate) struct FileMap {
    raw: MmapRaw,
}

impl FileMap {
    /// Maps the first `len` bytes of `file`, which must be at least that long.
    ///
    /// # Safety
    ///
    /// The bytes that [`FileMap::bytes`] returns must not be overwritten or truncated while the slice exists, through any
    /// handle of the file in this or another process of dedupdb.
    pub(crate) unsafe fn of(file: &File, len: u64) -> Result<FileMap> {
        at(file.path(), DiskStep::Read(0, len), || {
            let file = &file.inner;
            if file.metadata()?.len() < len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let too_long = |_| io::Error::from(io::ErrorKind::OutOfMemory);
            let len = usize::try_from(len).map_err(too_long)?;
            let raw = MmapOptions::new().len(len).map_raw_read_only(file);
            Ok(FileMap { raw: mapped(raw)? })
        })
    }

    /// The number of mapped bytes.
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
        // SAFETY: the range was just checked to lie inside the mapping, which lives as long as `self` and thus as the
        // slice. The creator of the map guaranteed that the file has these bytes and that they do not change. The file
        // was as long as the map when it was mapped; what another process cuts off was never committed, and is not
        // asked for.
        Some(unsafe { std::slice::from_raw_parts(start, range.end - range.start) })
    }
}

/// Says in words if a file system does not support mappings.
fn mapped(raw: io::Result<MmapRaw>) -> io::Result<MmapRaw> {
    #[cfg(unix)]
    if let Err(error) = &raw
        && error.raw_os_error() == Some(libc::ENODEV)
    {
        let reason = "its file system cannot map files into memory, which a store needs; put the store on another one";
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    raw
}

/// A mapping of a whole file as 64-bit words, little-endian in the file, that several threads read and change.
///
/// Its bytes are only accessible by atomic operations. If something else writes to the file, in this process or
/// another, the words change and nothing worse happens. If the file is truncated, the next access to the missing part
/// ends the process, as with a [`FileMap`].
#[derive(Debug)]
pub(crate) struct SharedWords {
    raw: MmapRaw,
    writable: bool,
}

impl SharedWords {
    /// Maps `file`, which must be open for writing if `writable` is set.
    pub(super) fn new(file: &fs::File, writable: bool) -> io::Result<SharedWords> {
        let options = MmapOptions::new();
        let raw = if writable {
            options.map_raw(file)
        } else {
            options.map_raw_read_only(file)
        };
        let raw = mapped(raw)?;
        #[cfg(unix)]
        if !writable {
            // A reader accesses single words in random order. Without this advice, the system would read megabytes
            // around each one from the disk. The advice is optional, so an error is ignored.
            raw.advise(memmap2::Advice::Random).unwrap_or_default();
        }
        Ok(SharedWords { raw, writable })
    }

    /// The number of words, without an incomplete one at the end of the file.
    pub(crate) fn len(&self) -> usize {
        self.raw.len() / size_of::<AtomicU64>()
    }

    /// The word at `index`, if it exists.
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        self.word(index)
            .map(|word| u64::from_le(word.load(Ordering::Relaxed)))
    }

    /// Atomically replaces the word at `index` by `change` of it, retrying if another thread interferes.
    ///
    /// Does nothing if the mapping is not writable or `change` returns `None`.
    pub(crate) fn update(&self, index: usize, change: impl Fn(u64) -> Option<u64>) {
        if let Some(word) = self.word(index).filter(|_| self.writable) {
            let change = |old| change(u64::from_le(old)).map(u64::to_le);
            // The previous value does not matter.
            let _before = word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        }
    }

    /// Replaces the word at `index`. Does nothing in a mapping that is not writable.
    pub(crate) fn put(&self, index: usize, value: u64) {
        if let Some(word) = self.word(index).filter(|_| self.writable) {
            word.store(value.to_le(), Ordering::Relaxed);
        }
    }

    /// Makes some words durable.
    pub(crate) fn sync(&self, words: &Range<usize>) -> io::Result<()> {
        let end = words.end.min(self.len());
        let start = words.start.min(end);
        let bytes = size_of::<AtomicU64>();
        self.raw.flush_range(start * bytes, (end - start) * bytes)
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
        // SAFETY: the index was just checked to lie inside the mapping, which lives as long as `self` and thus as the
        // reference. The mapping begins at a page, so every word is aligned. All access in this process is atomic,
        // since the words are accessible in no other way. A mapping that is not writable is only loaded from.
        Some(unsafe { &*word })
    }
}

/// A page of memory that distinguishes the process that created it from its forked children.
#[derive(Debug)]
pub(super) struct ForkMark {
    page: MmapMut,
}

impl ForkMark {
    /// A mark of the current process, or `None` on a system that cannot support it.
    #[cfg(target_os = "linux")]
    pub(super) fn new() -> Option<ForkMark> {
        let mut page = MmapMut::map_anon(1).ok()?;
        let (start, len) = (page.as_mut_ptr().cast(), page.len());
        // SAFETY: the page belongs to this mark alone. A child also has it, full of zeros.
        let wiped = unsafe { libc::madvise(start, len, libc::MADV_WIPEONFORK) };
        page[0] = 1;
        (wiped == 0).then_some(ForkMark { page })
    }

    /// Returns `None`: this system does not support marks.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn new() -> Option<ForkMark> {
        None
    }

    /// Whether the current process created the mark.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.page[0] == 1
    }
}
