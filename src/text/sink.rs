//! Where the shingles of a text go.

use super::{ShingleSet, hash};

/// Takes the windows' sums of a text, or its integer ids, as they are read.
#[derive(Debug)]
pub(super) enum ShingleSink<'m> {
    /// Takes each 32-bit shingle, in the order of the text.
    Hashes(&'m mut Vec<u32>),
    /// Takes the tails of the shingles of a text whose shingles are already known.
    Tails {
        /// The text's distinct shingles, ascending.
        hashes: &'m [u32],
        /// The tails found so far, for each shingle.
        met: &'m mut [Tails],
    },
}

/// The tails found for one shingle: one, unless the 32-bit hashes of two runs of tokens collide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tails {
    least: u32,
    greatest: u32,
}

impl Tails {
    /// No tails so far.
    const NONE: Tails = Tails {
        least: u32::MAX,
        greatest: 0,
    };

    /// The tail that stands for all of them, whatever their order and number. Frozen: stores keep it.
    fn tail(self) -> u32 {
        if self.least == self.greatest {
            self.least
        } else {
            self.least.wrapping_add(self.greatest.rotate_left(16))
        }
    }
}

/// The tails of a text's distinct shingles, which are ascending; empty if there are more than [`ShingleSet::SMALL`].
/// `read` reads the text into a sink once more.
pub(super) fn tails(hashes: &[u32], read: impl FnOnce(&mut ShingleSink<'_>)) -> Vec<u32> {
    let mut met = [Tails::NONE; ShingleSet::SMALL];
    let Some(met) = met.get_mut(..hashes.len()) else {
        return Vec::new();
    };
    read(&mut ShingleSink::Tails { hashes, met });
    met.iter().map(|met| met.tail()).collect()
}

impl ShingleSink<'_> {
    /// Takes sums, or ids.
    #[inline]
    pub(super) fn extend(&mut self, sums: impl Iterator<Item = u64>) {
        match self {
            ShingleSink::Hashes(hashes) => hashes.extend(sums.map(hash::finish)),
            ShingleSink::Tails { hashes, met } => {
                for sum in sums {
                    let (hash, tail) = hash::finish_with_tail(sum);
                    if let Ok(place) = hashes.binary_search(&hash) {
                        let tails = &mut met[place];
                        tails.least = tails.least.min(tail);
                        tails.greatest = tails.greatest.max(tail);
                    }
                }
            }
        }
    }
}
