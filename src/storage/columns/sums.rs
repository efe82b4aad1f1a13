//! Checksums of a column, one for each 64 KiB of its data, kept in the index.
//!
//! They are 64-bit XXH3 without a seed. A block is verified when a process first reads it, so the checksum must be very
//! fast.

use std::fmt;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

use super::column::ColumnView;
use crate::error::Result;

/// The number of data bytes that one checksum covers. The last block of a column may be shorter.
pub(crate) const BLOCK_BYTES: u64 = 64 << 10;

/// The running checksums of a column that is being appended to.
#[derive(Default)]
pub(crate) struct BlockSums {
    /// The number of the block that `current` covers so far.
    block: u64,
    fill: u64,
    current: XxHash3_64,
    full: Vec<(u64, u64)>,
}

impl BlockSums {
    /// Resumes after the bytes of `view`.
    pub(crate) fn resume(view: &ColumnView) -> Result<BlockSums> {
        let block = view.len() / BLOCK_BYTES;
        let mut sums = BlockSums {
            block,
            ..BlockSums::default()
        };
        // The state of the hash is not stored, so the incomplete block is hashed again.
        sums.update(view.bytes(block * BLOCK_BYTES..view.len())?);
        Ok(sums)
    }

    /// Adds the next bytes of the column.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = usize::try_from(BLOCK_BYTES - self.fill).unwrap_or(usize::MAX);
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.current.write(now);
            self.fill += now.len() as u64;
            bytes = rest;
            if self.fill == BLOCK_BYTES {
                let full = std::mem::take(&mut self.current);
                self.full.push((self.block, full.finish()));
                self.block += 1;
                self.fill = 0;
            }
        }
    }

    /// Adds the next bytes of the column, whose complete blocks are already summed.
    pub(crate) fn take(&mut self, summed: ChecksummedBytes) {
        self.update(&summed.start);
        for sum in summed.blocks {
            self.full.push((self.block, sum));
            self.block += 1;
        }
        self.update(&summed.end);
    }

    /// The numbers and checksums of the blocks that grew since the last commit.
    pub(crate) fn changed(&self) -> Vec<(u64, u64)> {
        let mut changed = self.full.clone();
        if self.fill > 0 {
            changed.push((self.block, self.current.finish()));
        }
        changed
    }

    /// Records that the changed sums are committed.
    pub(crate) fn forget_changes(&mut self) {
        self.full.clear();
    }
}

/// A run of a column's bytes: the checksums of its complete blocks, and the bytes before and after them.
#[derive(Debug, Default)]
pub(crate) struct ChecksummedBytes {
    start: Vec<u8>,
    blocks: Vec<u64>,
    end: Vec<u8>,
}

impl ChecksummedBytes {
    /// The run of `bytes` that begins at `offset` in the column.
    pub(crate) fn of(offset: u64, bytes: &[u8]) -> ChecksummedBytes {
        let block = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
        let before = usize::try_from(offset.next_multiple_of(BLOCK_BYTES) - offset);
        let (start, rest) = bytes.split_at(before.unwrap_or(usize::MAX).min(bytes.len()));
        let blocks = rest.chunks_exact(block);
        ChecksummedBytes {
            start: start.to_vec(),
            end: blocks.remainder().to_vec(),
            blocks: blocks.map(sum).collect(),
        }
    }
}

impl fmt::Debug for BlockSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockSums")
            .field("block", &self.block)
            .field("fill", &self.fill)
            .field("full", &self.full)
            .finish_non_exhaustive()
    }
}

/// The checksums of all blocks of `view`, in order.
pub(crate) fn all_sums(view: &ColumnView) -> impl Iterator<Item = Result<u64>> {
    (0..view.len().div_ceil(BLOCK_BYTES)).map(|block| {
        let start = block * BLOCK_BYTES;
        let bytes = view.bytes(start..view.len().min(start + BLOCK_BYTES))?;
        Ok(sum(bytes))
    })
}

/// The checksum of a block.
pub(crate) fn sum(block: &[u8]) -> u64 {
    XxHash3_64::oneshot(block)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_are_frozen() {
        // Computed by the reference implementation of XXH3.
        assert_eq!(sum(b""), 0x2d06_8005_38d3_94c2);
    }

    #[test]
    fn a_block_without_bytes_has_no_sum() {
        let mut sums = BlockSums::default();
        assert_eq!(sums.changed(), []);
        let block = vec![1; usize::try_from(BLOCK_BYTES).unwrap()];
        sums.update(&block);
        assert_eq!(sums.changed(), [(0, sum(&block))]);
    }

    proptest! {
        #[test]
        fn a_block_that_came_in_pieces_has_its_sum(
            bytes in prop::collection::vec(any::<u8>(), 1..3000),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut sums = BlockSums::default();
            for piece in cuts.windows(2) {
                sums.update(&bytes[piece[0]..piece[1]]);
            }
            prop_assert_eq!(sums.changed(), [(0, sum(&bytes))]);
        }

        #[test]
        fn runs_that_were_summed_apart_have_the_sums_of_the_whole(
            length in 0_usize..300_000,
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let bytes: Vec<u8> = (0_u64..).map(|n| ((n * n) >> 7).to_le_bytes()[0]).take(length).collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(length + 1)).collect();
            cuts.extend([0, length]);
            cuts.sort_unstable();
            let (mut whole, mut parts) = (BlockSums::default(), BlockSums::default());
            whole.update(&bytes);
            for run in cuts.windows(2) {
                parts.take(ChecksummedBytes::of(run[0] as u64, &bytes[run[0]..run[1]]));
            }
            prop_assert_eq!(whole.changed(), parts.changed());
        }
    }
}
