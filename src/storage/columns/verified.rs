//! Which blocks of a column were verified.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::sums::BLOCK_BYTES;

/// A bit for each block that the file had when it was opened, or when this process last took over what others wrote,
/// shared by all readers.
///
/// Later blocks were written by this process and count as verified.
#[derive(Debug)]
pub(crate) struct VerifiedBlocks {
    words: Box<[AtomicU64]>,
}

impl VerifiedBlocks {
    /// No block of the first `bytes` bytes is verified.
    pub(crate) fn none_of(bytes: u64) -> VerifiedBlocks {
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        let word = |first: u64| {
            // The last word has bits for blocks that did not exist.
            let own = u64::MAX.checked_shl(u32::try_from(blocks - first).unwrap_or(u64::BITS));
            AtomicU64::new(own.unwrap_or(0))
        };
        let words = (0..blocks).step_by(64).map(word).collect();
        VerifiedBlocks { words }
    }

    /// All blocks are verified, or will be by other means.
    pub(crate) fn all() -> VerifiedBlocks {
        VerifiedBlocks::none_of(0)
    }

    /// Whether all blocks that overlap these bytes are verified.
    #[inline]
    pub(crate) fn has_all(&self, bytes: &Range<u64>) -> bool {
        blocks_of(bytes).all(|block| self.has(block))
    }

    /// Whether a block is verified.
    #[inline]
    pub(crate) fn has(&self, block: u64) -> bool {
        self.word(block)
            .is_none_or(|word| word.load(Ordering::Relaxed) & 1 << (block % 64) != 0)
    }

    /// Records that a block is verified.
    pub(crate) fn set(&self, block: u64) {
        if let Some(word) = self.word(block) {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }

    /// Takes over what is known of the first `blocks` blocks from an earlier state of the same file.
    pub(crate) fn take_over(&self, earlier: &VerifiedBlocks, blocks: u64) {
        let whole = usize::try_from(blocks / 64).unwrap_or(usize::MAX);
        for (index, word) in self.words.iter().enumerate().take(whole) {
            // Blocks that the earlier state has no bits for count as verified.
            let known = earlier.words.get(index);
            let known = known.map_or(u64::MAX, |word| word.load(Ordering::Relaxed));
            word.fetch_or(known, Ordering::Relaxed);
        }
        // The last word is shared with blocks that are not taken over, so its bits are set one by one.
        for block in (blocks - blocks % 64..blocks).filter(|&block| earlier.has(block)) {
            self.set(block);
        }
    }

    #[inline]
    fn word(&self, block: u64) -> Option<&AtomicU64> {
        usize::try_from(block / 64)
            .ok()
            .and_then(|index| self.words.get(index))
    }
}

/// The blocks that overlap these bytes.
#[inline]
pub(crate) fn blocks_of(bytes: &Range<u64>) -> Range<u64> {
    bytes.start / BLOCK_BYTES..bytes.end.div_ceil(BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_verified_one_by_one_and_new_ones_from_the_start() {
        for blocks in [0, 1, 63, 64, 65, 130] {
            let verified = VerifiedBlocks::none_of(blocks * BLOCK_BYTES);
            assert!((0..blocks).all(|block| !verified.has(block)), "{blocks}");
            assert!((blocks..300).all(|block| verified.has(block)), "{blocks}");
            for block in 0..blocks {
                verified.set(block);
                assert!(verified.has(block));
                assert!((block + 1..blocks).all(|block| !verified.has(block)));
            }
            let again = VerifiedBlocks::none_of(blocks * BLOCK_BYTES);
            again.take_over(&verified, blocks.saturating_sub(1));
            assert_eq!(
                (0..blocks).filter(|&block| !again.has(block)).count(),
                usize::from(blocks > 0)
            );
        }
        assert!(VerifiedBlocks::none_of(1).has_all(&(0..0)));
        assert!(!VerifiedBlocks::none_of(1).has_all(&(0..1)));
        let verified = VerifiedBlocks::none_of(2 * BLOCK_BYTES);
        verified.set(1);
        assert!(verified.has_all(&(BLOCK_BYTES..BLOCK_BYTES + 1)));
        assert!(!verified.has_all(&(BLOCK_BYTES - 1..BLOCK_BYTES + 1)));
    }
}
