//! A file that the disk may be unable to read in full.
//!
//! It is read by ordinary calls. With a memory map, the process would die at the first unreadable page, even one that
//! was readable before.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use crate::error::Result;
use crate::storage::disk::File;

/// The number of bytes read at once.
const PIECE_BYTES: usize = 64 << 10;

/// The read size within a piece that cannot be read in full. Systems read files in pages of at least this size.
const PAGE_BYTES: usize = 4 << 10;

/// The beginning of a file, and a record of what could not be read.
#[derive(Debug)]
pub(super) struct WornFile {
    file: File,
    len: u64,
    held: RefCell<WornPiece>,
}

#[derive(Debug, Default)]
struct WornPiece {
    /// The number of the piece that is in `bytes`.
    piece: Option<u64>,
    /// Zeros stand for bytes that cannot be read.
    bytes: Vec<u8>,
    /// The numbers of the unreadable pages. They are not retried, since a read may take seconds.
    gaps: BTreeSet<u64>,
    unreadable: u64,
}

impl WornFile {
    /// The first `len` bytes of a file.
    pub(super) fn new(file: File, len: u64) -> WornFile {
        let held = RefCell::default();
        WornFile { file, len, held }
    }

    /// The same file with another length.
    pub(super) fn with_len(self, len: u64) -> WornFile {
        WornFile::new(self.file, len)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The number of requested bytes that could not be read, rounded to whole pages.
    pub(super) fn unreadable(&self) -> u64 {
        self.held.borrow().unreadable
    }

    /// Replaces `bytes` by the bytes of the file in `range`, with zeros for those that cannot be read.
    ///
    /// Returns whether all of them exist and could be read.
    ///
    /// # Errors
    ///
    /// Those of the system, except for a device that cannot read.
    pub(super) fn read(&self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<bool> {
        let mut held = self.held.borrow_mut();
        bytes.clear();
        let end = range.end.min(self.len);
        let mut at = range.start;
        while at < end {
            let found = held.from(&self.file, self.len, at)?;
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX);
            let found = &found[..found.len().min(wanted)];
            bytes.extend_from_slice(found);
            at += found.len() as u64;
        }
        Ok(at == range.end && !held.has_gap(range))
    }
}

impl WornPiece {
    /// The bytes from `at` to the end of its piece. `at` must be before the end of the file.
    fn from(&mut self, file: &File, len: u64, at: u64) -> Result<&[u8]> {
        let (piece, skipped) = (at / PIECE_BYTES as u64, at % PIECE_BYTES as u64);
        if self.piece != Some(piece) {
            self.piece = None;
            self.load(file, len, at - skipped)?;
            self.piece = Some(piece);
        }
        let skipped = usize::try_from(skipped).unwrap_or(PIECE_BYTES);
        Ok(&self.bytes[skipped..])
    }

    fn load(&mut self, file: &File, len: u64, start: u64) -> Result<()> {
        let bytes = usize::try_from(len - start).unwrap_or(PIECE_BYTES);
        self.bytes.resize(bytes.min(PIECE_BYTES), 0);
        let end = start + self.bytes.len() as u64;
        if !self.has_gap(start..end) && file.read(start, &mut self.bytes)? {
            return Ok(());
        }
        let pages = start / PAGE_BYTES as u64..;
        for (page, bytes) in pages.zip(self.bytes.chunks_mut(PAGE_BYTES)) {
            if self.gaps.contains(&page) {
                bytes.fill(0);
            } else if !file.read(page * PAGE_BYTES as u64, bytes)? {
                bytes.fill(0);
                self.gaps.insert(page);
                self.unreadable += bytes.len() as u64;
            }
        }
        Ok(())
    }

    fn has_gap(&self, range: Range<u64>) -> bool {
        let page = PAGE_BYTES as u64;
        let pages = range.start / page..range.end.div_ceil(page);
        !range.is_empty() && self.gaps.range(pages).next().is_some()
    }
}
