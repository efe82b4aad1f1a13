//! The frozen hash of a band.

use super::bands::Bands;
use crate::sketch::SlotWidth;

/// The fractional part of the golden ratio, odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The bytes of a word.
const WORD: usize = 8;

impl Bands {
    /// Appends the hash of each of the b bands of a signature row.
    ///
    /// See [`Bands::hash`] for the function.
    ///
    /// # Panics
    ///
    /// Panics if the row is shorter than [`Bands::used`] slots of `width`.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let (shape, row) = (Bands::new(2, 2, 4)?, [1, 2, 3, 4]);
    /// let mut hashes = Vec::new();
    /// shape.hashes(&row, SlotWidth::Bits8, &mut hashes);
    /// assert_eq!(hashes[1], shape.hash(&row, SlotWidth::Bits8, 1));
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn hashes(&self, signature: &[u8], width: SlotWidth, out: &mut Vec<u32>) {
        out.extend(self.each_key(signature, width).map(upper));
    }

    /// Appends the key of each of the b bands of a signature row: the hashes, with 64 bits each.
    ///
    /// # Panics
    ///
    /// Panics if the row is shorter than [`Bands::used`] slots of `width`.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let (shape, row) = (Bands::new(2, 2, 4)?, [1, 2, 3, 4]);
    /// let mut keys = Vec::new();
    /// shape.keys(&row, SlotWidth::Bits8, &mut keys);
    /// assert_eq!(keys[1], shape.key(&row, SlotWidth::Bits8, 1));
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn keys(&self, signature: &[u8], width: SlotWidth, out: &mut Vec<u64>) {
        out.extend(self.each_key(signature, width));
    }

    fn each_key(self, signature: &[u8], width: SlotWidth) -> impl Iterator<Item = u64> {
        let bytes = &signature[..self.used() as usize * width.bytes()];
        let length = self.rows() as usize * width.bytes();
        let numbered = bytes.chunks_exact(length).zip(0_u32..);
        numbered.map(move |(band, number)| match two_words(band) {
            Some([first, second]) => finish(absorb(absorb(start(number), first), second)),
            None => self.key(signature, width, number),
        })
    }

    /// Returns the hash of one band of a signature row: the upper half of its [`key`](Bands::key).
    ///
    /// 32-bit hashes of unequal bands collide once in 2^32 times.
    ///
    /// # Panics
    ///
    /// Panics if the row ends before the band does.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let row: Vec<u8> = (0..28).collect();
    /// let shape = Bands::new(2, 7, 14)?;
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits16, 0), 0xC79F_5820);
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits16, 1), 0x00F5_6573);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    #[inline]
    pub fn hash(&self, signature: &[u8], width: SlotWidth, band: u32) -> u32 {
        upper(self.key(signature, width, band))
    }

    /// Returns the key of one band of a signature row: a hash of 64 bits, of the slots and the band's
    /// number.
    ///
    /// The function is frozen, for stores keep its upper half. With all arithmetic modulo 2^64 and
    /// `g` = 0x9E3779B97F4A7C15, the state starts as `g` times the band's number plus one. Each
    /// eight bytes of the band, little-endian and the last ones filled up with zeros, are
    /// exclusive-ored into the state, which is then multiplied by `g` and exclusive-ored with
    /// itself shifted right by 32. The key is the state after the finalizer of `SplitMix64` (Steele,
    /// Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014). Keys of unequal bands
    /// collide once in 2^64 times; those of bands that differ in one eight-byte word alone never do.
    ///
    /// # Panics
    ///
    /// Panics if the row ends before the band does.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let row: Vec<u8> = (0..28).collect();
    /// let shape = Bands::new(2, 7, 14)?;
    /// assert_eq!(shape.key(&row, SlotWidth::Bits16, 0) >> 32, 0xC79F_5820);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    #[inline]
    pub fn key(&self, signature: &[u8], width: SlotWidth, band: u32) -> u64 {
        let range = self.range(band, width);
        if let Some([first, last]) = two_words(&signature[range.clone()]) {
            return finish(absorb(absorb(start(band), first), last));
        }
        let (words, rest) = signature[range.clone()].as_chunks::<WORD>();
        let mut state = start(band);
        for &word in words {
            state = absorb(state, u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            let start = range.end - rest.len();
            state = absorb(state, partial_word(&signature[start..], rest.len()));
        }
        finish(state)
    }
}

/// Returns the key that copies of a text without shingles share: that of a band whose bytes are the
/// first eight of the text's hash. Frozen, as [`Bands::key`] is.
pub(crate) fn copies_key(band: u32, hash: &[u8; 32]) -> u64 {
    let (words, _) = hash.as_chunks::<WORD>();
    let state = words.first().map(|&word| u64::from_le_bytes(word));
    finish(absorb(start(band), state.unwrap_or_default()))
}

/// Returns the words of a band of more than one and at most two, the length of the usual shapes;
/// without a loop over them, hashing takes two thirds of the time.
#[inline]
fn two_words(band: &[u8]) -> Option<[u64; 2]> {
    if !(WORD + 1..=2 * WORD).contains(&band.len()) {
        return None;
    }
    // The last eight bytes overlap the first word; the shift drops what is in both.
    let (first, last) = (band.first_chunk::<WORD>()?, band.last_chunk::<WORD>()?);
    let overlap = 8 * (2 * WORD - band.len());
    Some([
        u64::from_le_bytes(*first),
        u64::from_le_bytes(*last) >> overlap,
    ])
}

/// Returns the first `length` bytes, fewer than a word, as a word filled up with zeros.
#[inline]
fn partial_word(bytes: &[u8], length: usize) -> u64 {
    if let Some(&word) = bytes.first_chunk::<WORD>() {
        // What follows the band is read with it and masked away: cheaper than a short copy.
        u64::from_le_bytes(word) & ((1 << (8 * length)) - 1)
    } else {
        let mut word = [0; WORD];
        word[..length].copy_from_slice(&bytes[..length]);
        u64::from_le_bytes(word)
    }
}

#[inline]
fn start(band: u32) -> u64 {
    GOLDEN.wrapping_mul(u64::from(band) + 1)
}

#[inline]
fn absorb(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word).wrapping_mul(GOLDEN);
    mixed ^ (mixed >> 32)
}

#[inline]
fn finish(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[inline]
fn upper(key: u64) -> u32 {
    let [.., h0, h1, h2, h3] = key.to_le_bytes();
    u32::from_le_bytes([h0, h1, h2, h3])
}
