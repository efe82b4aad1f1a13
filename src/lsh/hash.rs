//! The frozen hash of a band.

use std::ops::Range;

use super::bands::Bands;
use crate::sketch::SlotWidth;

/// The fractional part of the golden ratio, which is odd.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The size of a word in bytes.
const WORD: usize = 8;

impl Bands {
    /// Appends the hash of each of the b bands of a signature row.
    ///
    /// Returns `None` and appends nothing if the row is shorter than [`Bands::used`] slots of `width`.
    ///
    /// See [`Bands::hash`] for the function.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let (shape, row) = (Bands::new(2, 2, 4)?, [1, 2, 3, 4]);
    /// let mut hashes = Vec::new();
    /// shape.hashes(&row, SlotWidth::Bits8, &mut hashes).unwrap();
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits8, 1), Some(hashes[1]));
    /// assert_eq!(shape.hashes(&row[..3], SlotWidth::Bits8, &mut hashes), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn hashes(&self, signature: &[u8], width: SlotWidth, out: &mut Vec<u32>) -> Option<()> {
        out.extend(self.each_key(signature, width)?.map(upper));
        Some(())
    }

    /// Appends the key of each of the b bands of a signature row: a 64-bit hash of the slots and the band's number.
    ///
    /// The function is frozen, because stores keep its upper half. With all arithmetic modulo 2^64 and `g` =
    /// 0x9E3779B97F4A7C15, the state starts as `g` times the band's number plus one. Each eight bytes of the band,
    /// little-endian and the last ones padded with zeros, are exclusive-ored into the state, which is then multiplied
    /// by `g` and exclusive-ored with itself shifted right by 32. The key is the state after the finalizer of
    /// `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014). The keys of
    /// unequal bands collide with a probability of 2^-64. Those of bands that differ in a single eight-byte word never
    /// collide.
    ///
    /// Returns `None` and appends nothing if the row is shorter than [`Bands::used`] slots of `width`.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let row: Vec<u8> = (0..28).collect();
    /// let mut keys = Vec::new();
    /// Bands::new(2, 7, 14)?.keys(&row, SlotWidth::Bits16, &mut keys).unwrap();
    /// assert_eq!([keys[0] >> 32, keys[1] >> 32], [0xC79F_5820, 0x00F5_6573]);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    pub fn keys(&self, signature: &[u8], width: SlotWidth, out: &mut Vec<u64>) -> Option<()> {
        out.extend(self.each_key(signature, width)?);
        Some(())
    }

    fn each_key(self, signature: &[u8], width: SlotWidth) -> Option<impl Iterator<Item = u64>> {
        let length = self.rows() as usize * width.bytes();
        let ends = (1..).map(move |number| number * length);
        let numbered = self.cut(signature, width)?.zip(0_u32..).zip(ends);
        Some(
            numbered.map(move |((band, number), end)| match two_words(band) {
                Some([first, second]) => finish(absorb(absorb(start(number), first), second)),
                // This cannot fail, since the band was cut from the row.
                None => key_of(number, signature, end - length..end).unwrap_or_default(),
            }),
        )
    }

    /// Returns the hash of one band of a signature row: the upper half of its [key](Bands::keys).
    ///
    /// The 32-bit hashes of unequal bands collide with a probability of 2^-32. Returns `None` if the row ends before
    /// the band does.
    ///
    /// ```
    /// use dedupdb::sketching::{Bands, SlotWidth};
    ///
    /// let row: Vec<u8> = (0..28).collect();
    /// let shape = Bands::new(2, 7, 14)?;
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits16, 0), Some(0xC79F_5820));
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits16, 1), Some(0x00F5_6573));
    /// assert_eq!(shape.hash(&row, SlotWidth::Bits16, 2), None);
    /// # Ok::<(), dedupdb::Error>(())
    /// ```
    #[inline]
    pub fn hash(&self, signature: &[u8], width: SlotWidth, band: u32) -> Option<u32> {
        key_of(band, signature, self.range(band, width)?).map(upper)
    }
}

/// Returns the key of band `number`, which is at `range` in its row.
#[inline]
fn key_of(number: u32, row: &[u8], range: Range<usize>) -> Option<u64> {
    let end = range.end;
    let band = row.get(range)?;
    if let Some([first, last]) = two_words(band) {
        return Some(finish(absorb(absorb(start(number), first), last)));
    }
    let (words, rest) = band.as_chunks::<WORD>();
    let mut state = start(number);
    for &word in words {
        state = absorb(state, u64::from_le_bytes(word));
    }
    if !rest.is_empty() {
        let from = row.get(end - rest.len()..)?;
        state = absorb(state, partial_word(from, rest.len()));
    }
    Some(finish(state))
}

/// Returns the key that copies of a text without shingles share.
///
/// It is that of a band whose bytes are the first eight of the text's hash. It is frozen, like [`Bands::keys`].
pub(crate) fn copies_key(band: u32, hash: &[u8; 32]) -> u64 {
    let (words, _) = hash.as_chunks::<WORD>();
    let state = words.first().map(|&word| u64::from_le_bytes(word));
    finish(absorb(start(band), state.unwrap_or_default()))
}

/// Returns the words of a band longer than one word and at most two words long.
///
/// Usual shapes have bands of this length. Without a loop over the words, hashing takes two thirds of the time.
#[inline]
fn two_words(band: &[u8]) -> Option<[u64; 2]> {
    if !(WORD + 1..=2 * WORD).contains(&band.len()) {
        return None;
    }
    // The last eight bytes overlap the first word. The shift drops the overlap.
    let (first, last) = (band.first_chunk::<WORD>()?, band.last_chunk::<WORD>()?);
    let overlap = 8 * (2 * WORD - band.len());
    Some([
        u64::from_le_bytes(*first),
        u64::from_le_bytes(*last) >> overlap,
    ])
}

/// Returns the first `length` bytes, fewer than a word, as a word padded with zeros.
#[inline]
fn partial_word(bytes: &[u8], length: usize) -> u64 {
    if let Some(&word) = bytes.first_chunk::<WORD>() {
        // The bytes after the band are read with it and masked out, which is cheaper than a short copy.
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
