//! Up to 64 bytes of text, folded in place and classified.

use super::fold::{Fold, lowercase};
use super::marks::is_folded_letter;
use super::unicode::{CharClass, CharEntry, CharTable};

/// Bytes in a full block: one for each bit of a mask.
pub(super) const BLOCK: usize = 64;

/// How characters count that are neither of words nor white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolRule {
    /// They separate words.
    Separate,
    /// Each is a word.
    Words,
}

impl SymbolRule {
    /// How a character takes part in words.
    #[inline]
    pub(super) fn class(self, entry: CharEntry) -> CharClass {
        match entry.class() {
            CharClass::Separator if self == SymbolRule::Words && !entry.is_white_space() => {
                CharClass::Spaceless
            }
            class => class,
        }
    }
}

/// A piece of folded text, with masks that have a bit for each byte.
///
/// A block takes in characters as long as folding does not change their length and they need no
/// normalization. It ends before the first other character, and before a character that may have to
/// be normalized together with one beyond the block's end.
pub(super) struct FoldedBlock {
    /// The folded bytes; those from `taken` on mean nothing.
    pub(super) folded: [u8; BLOCK],
    /// The number of bytes that are taken from the text, and in use in `folded`.
    pub(super) taken: usize,
    /// Whether a segment for [`Fold::segment`] follows.
    pub(super) cut: bool,
    /// The bytes of words.
    pub(super) word: u64,
    /// The bytes of characters that are a word each.
    pub(super) spaceless: u64,
    /// The first byte of each such character.
    pub(super) lead: u64,
}

impl FoldedBlock {
    /// Reads the block at `at`, which must be the start of a character and before the text's end.
    #[inline]
    pub(super) fn read(fold: Fold, symbols: SymbolRule, text: &str, at: usize) -> FoldedBlock {
        let rest = &text.as_bytes()[at..];
        let taken = rest.len().min(BLOCK);
        // Near the end of the text, the block is filled up, because classifying always takes a whole one.
        let mut padded = [0; BLOCK];
        let input = rest.first_chunk().unwrap_or_else(|| {
            padded[..taken].copy_from_slice(rest);
            &padded
        });
        let (folded, word) = classify(input, fold.lowercase);
        let mut block = FoldedBlock {
            folded,
            taken,
            cut: false,
            word,
            spaceless: 0,
            lead: 0,
        };
        let beyond = beyond_ascii(input);
        if symbols == SymbolRule::Words {
            let symbol = !(word | white_space(input) | beyond);
            block.word |= symbol;
            (block.spaceless, block.lead) = (symbol, symbol);
        }
        let boundary = match beyond {
            0 => taken - 1,
            beyond => block.read_beyond_ascii(fold, symbols, rest, beyond),
        };
        // The next character may combine with the last ones, so these are left to the segment that follows.
        if fold.nfkc
            && !block.cut
            && let Some(0x80..) = rest.get(block.taken)
            && CharTable::get()
                .entry(decode(&rest[block.taken..]).0)
                .continues()
        {
            block.cut(boundary);
        }
        block.keep_taken();
        block
    }

    /// Folds and classifies the characters beyond ASCII, whose bytes are in `beyond`, as far as
    /// possible. Returns the last boundary: the start of the last character taken that does not
    /// combine with an earlier one.
    fn read_beyond_ascii(
        &mut self,
        fold: Fold,
        symbols: SymbolRule,
        rest: &[u8],
        mut beyond: u64,
    ) -> usize {
        let table = CharTable::get();
        // The end of the previous character, the last boundary, and the previous character's
        // combining class.
        let (mut end, mut boundary, mut class) = (0, 0, 0);
        while beyond != 0 {
            let start = beyond.trailing_zeros() as usize;
            let (code_point, length) = decode(&rest[start..]);
            // ASCII characters are in between, and these combine with nothing before them.
            if start != end {
                (boundary, class) = (start - 1, 0);
            }
            end = start + length;
            if end > BLOCK {
                self.taken = start;
                return boundary;
            }
            let entry = table.entry(code_point);
            if fold.nfkc {
                if !entry.continues() {
                    boundary = start;
                } else if fold.marks || !entry.is_kept() || entry.combining_class() < class {
                    // Marks that folding drops or changes, or that are out of order, are left to the segment.
                    self.cut(boundary);
                    return boundary;
                }
                class = entry.combining_class();
            }
            // So are other characters that folding drops or replaces, unless by a lowercase letter of as many bytes.
            let changed = entry.is_ignored()
                || (fold.nfkc && entry.is_mapped())
                || (fold.marks && is_folded_letter(code_point))
                || (fold.lowercase && !self.lowercase(entry, code_point, start, length));
            if changed {
                self.cut(start);
                return boundary;
            }
            let mask = (1 << length) - 1;
            beyond &= !(mask << start);
            self.classify(symbols.class(entry), start, mask);
        }
        if end == self.taken {
            boundary
        } else {
            self.taken - 1
        }
    }

    /// Replaces a character by its lowercase, or returns false if that has another length.
    #[inline]
    fn lowercase(
        &mut self,
        entry: CharEntry,
        code_point: u32,
        start: usize,
        length: usize,
    ) -> bool {
        if entry.lowercase_offset() == 0 {
            return true;
        }
        let lower = lowercase(code_point, entry);
        let fits = lower.len_utf8() == length;
        if fits {
            lower.encode_utf8(&mut self.folded[start..]);
        }
        fits
    }

    #[inline]
    fn classify(&mut self, class: CharClass, start: usize, mask: u64) {
        if class != CharClass::Separator {
            self.word |= mask << start;
        }
        if class == CharClass::Spaceless {
            self.spaceless |= mask << start;
            self.lead |= 1 << start;
        }
    }

    /// Ends the block before `at`, where a segment starts.
    fn cut(&mut self, at: usize) {
        self.taken = at;
        self.cut = true;
    }

    /// Clears the bits of the masks from `taken` on.
    fn keep_taken(&mut self) {
        let keep = if self.taken == BLOCK {
            u64::MAX
        } else {
            (1 << self.taken) - 1
        };
        self.word &= keep;
        self.spaceless &= keep;
        self.lead &= keep;
    }
}

/// The bytes, with ASCII capitals lowered if asked for, and a mask of the ASCII word characters.
#[inline]
fn classify(input: &[u8; BLOCK], lower: bool) -> ([u8; BLOCK], u64) {
    let case = if lower { 0x20 } else { 0 };
    let (mut folded, mut word) = ([0; BLOCK], [0; BLOCK]);
    for ((&byte, folded), word) in input.iter().zip(&mut folded).zip(&mut word) {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        *folded = if letter { byte | case } else { byte };
        // Bitwise, because the branches of `||` would keep the loop from being vectorized.
        *word = u8::from(letter) | u8::from(digit) | u8::from(byte == b'_');
    }
    (folded, gather(&word))
}

/// A mask of the bytes that are not ASCII.
#[inline]
fn beyond_ascii(input: &[u8; BLOCK]) -> u64 {
    if input.iter().fold(0, |all, byte| all | byte) < 0x80 {
        return 0;
    }
    gather(&input.map(|byte| byte >> 7))
}

/// Bit i of the result is byte i, which must be 0 or 1.
#[inline]
fn gather(bytes: &[u8; BLOCK]) -> u64 {
    let (eights, _) = bytes.as_chunks();
    let mut mask = 0;
    for (i, eight) in eights.iter().enumerate() {
        // The factor moves byte i's bit to bit 56 + i, and no two products overlap.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * i);
    }
    mask
}

/// A mask of the white space of ASCII.
#[inline]
fn white_space(input: &[u8; BLOCK]) -> u64 {
    gather(&input.map(|byte| u8::from(byte == b' ') | u8::from(byte.wrapping_sub(b'\t') < 5)))
}

/// The code point and the length of the first character, which must be valid UTF-8 and beyond
/// ASCII.
#[inline]
fn decode(bytes: &[u8]) -> (u32, usize) {
    let bits = |i: usize| u32::from(bytes[i] & 0x3F);
    let lead = u32::from(bytes[0]);
    match lead {
        0..0xE0 => ((lead & 0x1F) << 6 | bits(1), 2),
        0xE0..0xF0 => ((lead & 0x0F) << 12 | bits(1) << 6 | bits(2), 3),
        _ => (
            (lead & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3),
            4,
        ),
    }
}
