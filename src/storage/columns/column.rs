//! A column: a file of rows that only grows, read through a memory map.
//!
//! Committed bytes never change, and views read below a flushed length. This is what makes the map sound (see `map`).

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::sums::{BLOCK_BYTES, BlockSums, ChecksummedBytes};
use super::verified::VerifiedBlocks;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::storage::disk::{self, File, FileMap};
use crate::storage::format::{HEADER_BYTES, Header, may_be_unfinished};

/// Appended bytes are buffered until there are this many.
const BUFFER_BYTES: usize = 1 << 18;

/// Bytes appended together are written in stripes that end at multiples of this, several in parallel.
const STRIPE_BYTES: u64 = 4 * BLOCK_BYTES;

/// A file grows by at least this much, and by half its size up to [`MAX_GROWTH`], so that it is remapped only a few
/// times on its way to any size.
const MIN_GROWTH: u64 = 1 << 20;
const MAX_GROWTH: u64 = 1 << 30;

/// A reader's view of a column: the bytes below the length that was flushed when the view was created.
#[derive(Clone, Debug)]
pub(crate) struct ColumnView {
    path: Arc<Path>,
    map: Arc<FileMap>,
    verified: Arc<VerifiedBlocks>,
    len: u64,
}

impl ColumnView {
    /// Opens the column at `path` for reading its first `len` bytes, which are committed in the index.
    pub(crate) fn open(path: &Path, header: &Header, len: u64, trust: Trust) -> Result<ColumnView> {
        let file = File::open(path)?;
        check_file(&file, header, len)?;
        Ok(ColumnView {
            path: file.path().clone(),
            map: map(&file, len)?,
            verified: Arc::new(trust.verified(len)),
            len,
        })
    }

    /// The blocks of the column that were verified.
    pub(crate) fn verified(&self) -> &VerifiedBlocks {
        &self.verified
    }

    /// Takes over which blocks an earlier view of the same file verified.
    pub(crate) fn know(&self, earlier: &ColumnView) {
        let whole = earlier.len.min(self.len) / BLOCK_BYTES;
        self.verified.take_over(&earlier.verified, whole);
    }

    /// The number of data bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes in `range`, verified or not.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the column does not hold them.
    #[inline]
    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<&[u8]> {
        let inside = || {
            if range.start > range.end || range.end > self.len {
                return None;
            }
            let start = usize::try_from(range.start).ok()? + HEADER_BYTES;
            let end = usize::try_from(range.end).ok()? + HEADER_BYTES;
            self.map.bytes(start..end)
        };
        inside().ok_or_else(|| self.lacks(&range))
    }

    #[cold]
    fn lacks(&self, range: &Range<u64>) -> Error {
        let reason = format!(
            "bytes {} to {} were requested, but the column has {} bytes",
            range.start, range.end, self.len
        );
        Error::damaged(&self.path, reason)
    }
}

/// How far an opened column is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// A block is compared with its checksum before its first use.
    Sums,
    /// The caller verifies all blocks, or no index has checksums yet.
    File,
}

impl Trust {
    fn verified(self, len: u64) -> VerifiedBlocks {
        match self {
            Trust::Sums => VerifiedBlocks::none_of(len),
            Trust::File => VerifiedBlocks::all(),
        }
    }
}

/// The writing side of a column. A process has one per file, behind the store's lock.
#[derive(Debug)]
pub(crate) struct ColumnWriter {
    file: File,
    map: Arc<FileMap>,
    verified: Arc<VerifiedBlocks>,
    committed: u64,
    /// Whether a commit has begun and is not known to have ended.
    ///
    /// If so, the index may contain it, and the file must not be truncated or overwritten.
    uncertain: bool,
    written: u64,
    buffer: Vec<u8>,
    sums: BlockSums,
}

impl ColumnWriter {
    /// Creates the file, without rows, with the access rights of the file `like`.
    ///
    /// Replaces a file without rows that a killed process left.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if there is any other file.
    pub(crate) fn create(
        path: &Path,
        header: &Header,
        like: Option<&Path>,
    ) -> Result<ColumnWriter> {
        if disk::is_file(path)? {
            let start = File::open(path)?.start(HEADER_BYTES + 1)?;
            if !may_be_unfinished(&start) {
                let path = path.to_owned();
                return Err(Error::Occupied { path });
            }
            disk::remove(path)?;
        }
        let file = match like {
            Some(like) => File::create_like(path, like)?,
            None => File::create(path)?,
        };
        let made = file.write(0, &header.encode()).and_then(|()| file.sync());
        if let Err(error) = made {
            disk::remove(path).unwrap_or_default();
            return Err(error);
        }
        ColumnWriter::new(file, 0, VerifiedBlocks::all())
    }

    /// Opens the file at its committed length and truncates it to that. The caller has the right to write.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the header is not `header` or the file is shorter than committed.
    pub(crate) fn open(
        path: &Path,
        header: &Header,
        committed: u64,
        trust: Trust,
    ) -> Result<ColumnWriter> {
        let file = File::open_writable(path)?;
        check_file(&file, header, committed)?;
        file.set_len(HEADER_BYTES as u64 + committed)?;
        ColumnWriter::new(file, committed, trust.verified(committed))
    }

    fn new(file: File, committed: u64, verified: VerifiedBlocks) -> Result<ColumnWriter> {
        let map = map(&file, committed)?;
        let mut column = ColumnWriter {
            file,
            map,
            verified: Arc::new(verified),
            committed,
            uncertain: false,
            written: committed,
            buffer: Vec::new(),
            sums: BlockSums::default(),
        };
        column.sums = BlockSums::resume(&column.view())?;
        Ok(column)
    }

    /// The number of data bytes, including buffered ones.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends `bytes`. They can be read only after [`ColumnWriter::flush`].
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Appends `parts` one after another, on several threads if they are large.
    ///
    /// They can be read only after [`ColumnWriter::flush`].
    pub(crate) fn append_all<'p>(
        &mut self,
        parts: impl Iterator<Item = &'p [u8]> + Clone,
        pool: &Pool,
    ) -> Result<()> {
        let bytes: usize = parts.clone().map(<[u8]>::len).sum();
        if self.buffer.len() + bytes < BUFFER_BYTES {
            parts.for_each(|part| self.buffer.extend_from_slice(part));
            return Ok(());
        }
        // What is buffered comes first in the file.
        let buffer = std::mem::take(&mut self.buffer);
        let mut laid_out = ColumnParts::behind(self.written, &buffer);
        laid_out.extend(parts);
        self.make_room(laid_out.end)?;
        let file = &self.file;
        // Each thread lays out, writes and sums a stripe. The blocks that a stripe holds completely need no second
        // look.
        let written = pool.map(laid_out.stripes(), |stripe| {
            let bytes = laid_out.bytes(&stripe);
            file.write(HEADER_BYTES as u64 + stripe.start, &bytes)?;
            Ok(ChecksummedBytes::of(stripe.start, &bytes))
        });
        // In the order of the stripes, since a block may lie in two of them.
        for summed in written {
            self.sums.take(summed?);
        }
        self.written = laid_out.end;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Makes the file long enough for data up to `end`.
    fn make_room(&mut self, end: u64) -> Result<()> {
        if HEADER_BYTES as u64 + end > self.map.len() as u64 {
            self.grow(end)?;
        }
        Ok(())
    }

    /// Writes the buffer to the file, so that views can read it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.make_room(self.len())?;
        let start = HEADER_BYTES as u64 + self.written;
        self.file.write(start, &self.buffer)?;
        self.sums.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn grow(&mut self, needed: u64) -> Result<()> {
        let growth = (needed / 2).clamp(MIN_GROWTH, MAX_GROWTH);
        let capacity = needed + growth;
        self.file.set_len(HEADER_BYTES as u64 + capacity)?;
        self.map = map(&self.file, capacity)?;
        Ok(())
    }

    /// Makes everything appended durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync()
    }

    /// The checksums of the blocks that changed since the last commit, as pairs of block number and checksum.
    ///
    /// The column must be flushed.
    pub(crate) fn changed_sums(&self) -> Vec<(u64, u64)> {
        self.sums.changed()
    }

    /// Records that the index is about to commit everything appended.
    pub(crate) fn committing(&mut self) {
        self.uncertain = true;
    }

    /// Records that the index has committed everything appended.
    pub(crate) fn committed(&mut self) {
        self.uncertain = false;
        self.committed = self.len();
        self.sums.forget_changes();
    }

    /// Goes on at the length `committed`, to which another process has brought the column.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the file is shorter.
    pub(crate) fn follow(&mut self, committed: u64) -> Result<()> {
        let len = check_len(&self.file, committed)?;
        if HEADER_BYTES as u64 + committed > self.map.len() as u64 {
            // What the other process made room for will be filled.
            self.map = map(&self.file, len)?;
        }
        // Complete blocks below the earlier length are unchanged. What others wrote since has to be verified.
        let verified = VerifiedBlocks::none_of(committed);
        verified.take_over(&self.verified, self.committed / BLOCK_BYTES);
        self.verified = Arc::new(verified);
        self.committed = committed;
        self.roll_back()
    }

    /// Releases the space by which the file grew in advance.
    ///
    /// The caller has the right to write, and follows the last commit. Views only read below the committed length. A
    /// failure only costs space, which the next cut releases.
    pub(crate) fn cut(&mut self) {
        if !self.uncertain {
            let len = HEADER_BYTES as u64 + self.committed;
            self.file.set_len(len).unwrap_or_default();
        }
    }

    /// Discards everything appended since the last commit.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        self.buffer.clear();
        self.written = self.committed;
        self.sums = BlockSums::resume(&self.view())?;
        Ok(())
    }

    /// A view of everything flushed.
    pub(crate) fn view(&self) -> ColumnView {
        ColumnView {
            path: self.file.path().clone(),
            map: self.map.clone(),
            verified: self.verified.clone(),
            len: self.written,
        }
    }
}

/// Parts of a column's data, laid out one after another.
struct ColumnParts<'p> {
    /// Each part with the offset of its end in the data.
    parts: Vec<(u64, &'p [u8])>,
    start: u64,
    end: u64,
}

impl<'p> ColumnParts<'p> {
    /// Starts with a part at `start`.
    fn behind(start: u64, first: &'p [u8]) -> ColumnParts<'p> {
        let end = start + first.len() as u64;
        let parts = vec![(end, first)];
        ColumnParts { parts, start, end }
    }

    fn extend<'q: 'p>(&mut self, parts: impl Iterator<Item = &'q [u8]>) {
        for part in parts {
            self.end += part.len() as u64;
            self.parts.push((self.end, part));
        }
    }

    /// The ranges of the data that are written separately.
    fn stripes(&self) -> Vec<Range<u64>> {
        let mut stripes = Vec::new();
        let mut start = self.start;
        while start < self.end {
            // The next boundary after `start`, also if `start` is one. It is one of blocks, too.
            let end = (start + 1).next_multiple_of(STRIPE_BYTES).min(self.end);
            stripes.push(start..end);
            start = end;
        }
        stripes
    }

    /// The bytes in a range.
    fn bytes(&self, range: &Range<u64>) -> Vec<u8> {
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(length);
        // From the first part that reaches into the range on.
        let first = self.parts.partition_point(|(end, _)| *end <= range.start);
        for (end, part) in &self.parts[first..] {
            let start = end - part.len() as u64;
            if start >= range.end {
                break;
            }
            let inside = |at: u64| {
                let at = at.clamp(start, *end) - start;
                usize::try_from(at).unwrap_or(usize::MAX)
            };
            bytes.extend_from_slice(&part[inside(range.start)..inside(range.end)]);
        }
        bytes
    }
}

/// Maps the header of a column's file and the first `len` bytes of its data.
#[expect(
    unsafe_code,
    reason = "the type system cannot express file immutability"
)]
fn map(file: &File, len: u64) -> Result<Arc<FileMap>> {
    // SAFETY: A map is only read through a `ColumnView`, below its length: committed bytes, or bytes that the only
    // `ColumnWriter` of the file had flushed when it created the view.
    // These are not overwritten: a `ColumnWriter` writes at `written` and beyond, and only `roll_back` moves that back, to
    // `committed`. Longer views are snapshots of uncommitted rows. Each is local to a call of the writer, and no such
    // call rolls back.
    // They are not truncated: only a `ColumnWriter` truncates the file, to `committed`, when it is opened or dropped, which
    // does not happen during such a call either.
    // A file has only one `ColumnWriter`, since that is created behind the lock of the index, which belongs to one process
    // and records what is committed. The child of a fork neither writes nor truncates.
    let map = unsafe { FileMap::of(file, HEADER_BYTES as u64 + len) }?;
    Ok(Arc::new(map))
}

/// Checks that `file` begins with `header` and holds at least `len` bytes of data.
fn check_file(file: &File, header: &Header, len: u64) -> Result<()> {
    header.expect(file.path(), &file.start(HEADER_BYTES)?)?;
    check_len(file, len)?;
    Ok(())
}

/// Checks that a file has at least `len` bytes of data, and returns how many it has.
fn check_len(file: &File, len: u64) -> Result<u64> {
    let held = file.len()?.saturating_sub(HEADER_BYTES as u64);
    if held < len {
        let reason = format!("it holds {held} bytes of data and {len} were committed");
        return Err(Error::damaged(file.path(), reason));
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::format::ColumnKind;

    const HEADER: Header = Header {
        kind: ColumnKind::Shingles,
        store: 1,
        generation: 0,
        row_bytes: 0,
    };

    fn data_len(path: &Path) -> u64 {
        std::fs::metadata(path).unwrap().len() - HEADER_BYTES as u64
    }

    #[test]
    fn what_was_not_committed_is_cut_but_not_where_a_commit_may_have_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("column");
        let mut column = ColumnWriter::create(&path, &HEADER, None).unwrap();
        column.append(b"first").unwrap();
        column.sync().unwrap();
        column.committing();
        column.committed();
        column.append(b"second").unwrap();
        column.sync().unwrap();
        column.cut();
        assert_eq!(data_len(&path), 5);
        let mut column = ColumnWriter::open(&path, &HEADER, 5, Trust::Sums).unwrap();
        column.append(b"third").unwrap();
        column.sync().unwrap();
        column.committing();
        column.cut();
        // The space by which the file grew stays, too.
        assert!(data_len(&path) >= 10);
        let column = ColumnWriter::open(&path, &HEADER, 10, Trust::Sums).unwrap();
        assert_eq!(column.view().bytes(0..10).unwrap(), b"firstthird");
    }

    #[test]
    fn what_is_appended_together_is_what_is_appended_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let column =
            |name: &str| ColumnWriter::create(&folder.path().join(name), &HEADER, None).unwrap();
        let (mut together, mut singly) = (column("together"), column("singly"));
        let part = |n: u32| vec![n.to_le_bytes()[0]; n as usize * 7919 % 3000];
        for (batch, parts) in (0_u32..).zip([3, 400, 0, 1, 90, 1200]) {
            let parts: Vec<Vec<u8>> = (0..parts).map(|n| part(n + batch)).collect();
            let pool = Pool::new(1 + batch as usize % 3);
            let all = parts.iter().map(Vec::as_slice);
            together.append_all(all, &pool).unwrap();
            for part in &parts {
                singly.append(part).unwrap();
            }
            together.append(b"one more").unwrap();
            singly.append(b"one more").unwrap();
            assert_eq!(together.len(), singly.len());
        }
        together.flush().unwrap();
        singly.flush().unwrap();
        let all = 0..together.len();
        let (together_view, singly_view) = (together.view(), singly.view());
        assert!(together_view.bytes(all.clone()).unwrap() == singly_view.bytes(all).unwrap());
        assert_eq!(together.changed_sums(), singly.changed_sums());
    }

    #[test]
    fn what_another_process_wrote_is_not_verified() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("column");
        let mut column = ColumnWriter::create(&path, &HEADER, None).unwrap();
        let mut commit_up_to = |blocks: u64| {
            let more = blocks * BLOCK_BYTES + 1 - column.len();
            let bytes = vec![7; usize::try_from(more).unwrap()];
            column.append(&bytes).unwrap();
            column.sync().unwrap();
            column.committed();
            column.len()
        };
        let len = commit_up_to(70);
        let mut other = ColumnWriter::open(&path, &HEADER, len, Trust::Sums).unwrap();
        for block in [0, 1, 68, 69, 70] {
            other.view().verified().set(block);
        }
        other.follow(commit_up_to(140)).unwrap();
        let view = other.view();
        let verified: Vec<u64> = (0..141)
            .filter(|&block| view.verified().has(block))
            .collect();
        // The last block was not complete, so others have written to it since.
        assert_eq!(verified, [0, 1, 68, 69]);
        assert_eq!(view.len(), 140 * BLOCK_BYTES + 1);
        let (sums, expected) = (other.changed_sums(), column.changed_sums());
        assert_eq!((sums.len(), &sums), (1, &expected));
        assert!(
            view.bytes(0..view.len())
                .unwrap()
                .iter()
                .all(|&byte| byte == 7)
        );
    }

    #[test]
    fn a_column_rolls_back_to_its_last_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("column");
        let mut column = ColumnWriter::create(&path, &HEADER, None).unwrap();
        column.append(&vec![1; 100_000]).unwrap();
        column.sync().unwrap();
        column.committed();
        let sums = BlockSums::resume(&column.view()).unwrap().changed();
        column.append(&vec![2; 3_000_000]).unwrap();
        column.append(&[3; 10]).unwrap();
        column.roll_back().unwrap();
        assert_eq!(column.len(), 100_000);
        assert_eq!(column.changed_sums(), sums);
        assert!(column.view().bytes(0..100_001).is_err());
        assert!(column.view().bytes(u64::MAX - 1..u64::MAX).is_err());
    }
}
