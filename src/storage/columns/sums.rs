//! Checksums of a column, one for each 64 KiB of its data, kept in the index.

use super::column::ColumnView;
use crate::codec::u64_at;
use crate::error::Result;

/// Data bytes that one checksum covers; the last block of a column may be shorter.
pub(crate) const BLOCK_BYTES: u64 = 64 << 10;

/// The running checksums of a column that is being appended to.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    /// Number of the block that `current` covers so far.
    block: u64,
    fill: u64,
    current: blake3::Hasher,
    full: Vec<(u64, u64)>,
}

impl BlockSums {
    /// Takes up behind the bytes of `view`.
    pub(crate) fn resume(view: &ColumnView) -> Result<BlockSums> {
        let block = view.len() / BLOCK_BYTES;
        let mut sums = BlockSums {
            block,
            ..BlockSums::default()
        };
        sums.update(view.bytes(block * BLOCK_BYTES..view.len())?);
        Ok(sums)
    }

    /// Takes in the next bytes of the column.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = usize::try_from(BLOCK_BYTES - self.fill).unwrap_or(usize::MAX);
            let (now, rest) = bytes.split_at(room.min(bytes.len()));
            self.current.update(now);
            self.fill += now.len() as u64;
            bytes = rest;
            if self.fill == BLOCK_BYTES {
                self.full.push((self.block, finish(&self.current)));
                self.current.reset();
                self.block += 1;
                self.fill = 0;
            }
        }
    }

    /// Block numbers and checksums of the blocks that grew since the last commit.
    pub(crate) fn changed(&self) -> Vec<(u64, u64)> {
        let mut changed = self.full.clone();
        if self.fill > 0 {
            changed.push((self.block, finish(&self.current)));
        }
        changed
    }

    /// Takes note that the changed sums are committed.
    pub(crate) fn forget_changes(&mut self) {
        self.full.clear();
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
    u64_at(blake3::hash(block).as_bytes(), 0)
}

fn finish(hasher: &blake3::Hasher) -> u64 {
    u64_at(hasher.finalize().as_bytes(), 0)
}
