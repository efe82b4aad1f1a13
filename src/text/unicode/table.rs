//! The range tables, expanded for constant-time lookup.

use super::CharEntry;
use super::class::{IGNORED, SPACELESS, WHITE_SPACE, WORD};
use super::combining::COMBINING;
use super::lowercase::LOWERCASE;
use super::quick_check::{CONTEXTUAL, MAPPED};
use super::unassigned::UNASSIGNED;
use std::sync::OnceLock;

/// The number of characters in a block of the second stage.
const BLOCK: usize = 128;

/// The number of blocks that cover every code point.
const BLOCKS: usize = (char::MAX as usize + 1) / BLOCK;

/// The entries of U+0000 to U+007F, which need no expansion.
const ASCII: [CharEntry; BLOCK] = expand_ascii();

/// The entry of an ASCII byte.
///
/// # Panics
///
/// If the byte is not ASCII.
pub(in crate::text) fn ascii(byte: u8) -> CharEntry {
    ASCII[usize::from(byte)]
}

/// The entry of a character.
pub(in crate::text) fn entry_of(c: char) -> CharEntry {
    CharTable::get().entry(c.into())
}

/// The two-stage lookup: a character's block, then the entry in the block. Consecutive equal blocks
/// share one copy, which leaves some 200 kB.
#[derive(Debug)]
pub(in crate::text) struct CharTable {
    blocks: Vec<u16>,
    entries: Vec<[CharEntry; BLOCK]>,
}

impl CharTable {
    /// The expanded tables; the first call expands them.
    pub(in crate::text) fn get() -> &'static CharTable {
        static TABLE: OnceLock<CharTable> = OnceLock::new();
        TABLE.get_or_init(CharTable::expand)
    }

    /// The entry of a code point.
    #[inline]
    pub(in crate::text) fn entry(&self, code_point: u32) -> CharEntry {
        let code_point = code_point as usize;
        self.entries[usize::from(self.blocks[code_point / BLOCK])][code_point % BLOCK]
    }

    fn expand() -> CharTable {
        let mut painter = Painter::new();
        for &(first, last) in WORD {
            painter.paint(first, last, 1, CharEntry::WORD);
        }
        for &(first, last) in SPACELESS {
            painter.paint(first, last, 1, CharEntry::SPACELESS);
        }
        for &(first, last) in IGNORED {
            painter.paint(first, last, 1, CharEntry::IGNORED);
        }
        for &(first, last) in WHITE_SPACE {
            painter.paint(first, last, 1, CharEntry::WHITE_SPACE);
        }
        for &(first, last) in UNASSIGNED {
            painter.paint(first, last, 1, CharEntry::UNASSIGNED);
        }
        for &(first, last) in MAPPED {
            painter.paint(first, last, 1, CharEntry::MAPPED);
        }
        for &(first, last) in CONTEXTUAL {
            painter.paint(first, last, 1, CharEntry::CONTEXTUAL);
        }
        for &(first, last, class) in COMBINING {
            painter.paint(first, last, 1, CharEntry::combining(class));
        }
        for &(first, last, step, offset) in LOWERCASE {
            painter.paint(first, last, step, CharEntry::lowercase(offset));
        }
        painter.finish()
    }
}

/// A table under construction: a block is one plain entry until a part of it is painted.
struct Painter {
    plain: Vec<CharEntry>,
    /// Each block's place in `detailed`, if it has one.
    place: Vec<Option<usize>>,
    detailed: Vec<[CharEntry; BLOCK]>,
}

impl Painter {
    fn new() -> Painter {
        Painter {
            plain: vec![CharEntry::default(); BLOCKS],
            place: vec![None; BLOCKS],
            detailed: Vec::new(),
        }
    }

    /// Adds `entry` to every `step`-th code point of `first..=last`.
    fn paint(&mut self, first: u32, last: u32, step: usize, entry: CharEntry) {
        let (mut at, last) = (first as usize, last as usize);
        while at <= last {
            let (block, from) = (at / BLOCK, at % BLOCK);
            let to = (last - (at - from)).min(BLOCK - 1);
            if step == 1 && (from, to) == (0, BLOCK - 1) && self.place[block].is_none() {
                self.plain[block] = self.plain[block].and(entry);
            } else {
                for cell in self.cells(block)[from..=to].iter_mut().step_by(step) {
                    *cell = cell.and(entry);
                }
            }
            at += (to - from + 1).next_multiple_of(step);
        }
    }

    /// The block's own cells, which begin as copies of its plain entry.
    fn cells(&mut self, block: usize) -> &mut [CharEntry; BLOCK] {
        let place = *self.place[block].get_or_insert_with(|| {
            self.detailed.push([self.plain[block]; BLOCK]);
            self.detailed.len() - 1
        });
        &mut self.detailed[place]
    }

    /// Numbers the blocks. A plain block that equals the one before shares its number.
    fn finish(self) -> CharTable {
        let mut blocks = Vec::with_capacity(BLOCKS);
        let mut entries = Vec::new();
        let (mut number, mut shared) = (0, None);
        for (plain, place) in self.plain.into_iter().zip(self.place) {
            if place.is_some() || shared != Some(plain) {
                number = blocks.last().map_or(0, |_| number + 1);
                entries.push(place.map_or([plain; BLOCK], |place| self.detailed[place]));
                shared = place.is_none().then_some(plain);
            }
            blocks.push(number);
        }
        CharTable { blocks, entries }
    }
}

const fn expand_ascii() -> [CharEntry; BLOCK] {
    let mut entries = [CharEntry::combining(0); BLOCK];
    let mut byte = 0;
    while byte < 128u8 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            entries[byte as usize] = CharEntry::WORD;
        }
        if matches!(byte, b'\t'..=b'\r' | b' ') {
            entries[byte as usize] = CharEntry::WHITE_SPACE;
        }
        if byte.is_ascii_uppercase() {
            entries[byte as usize] = CharEntry::WORD.and(CharEntry::lowercase(32));
        }
        byte += 1;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::super::CharClass;
    use super::*;

    #[test]
    fn every_range_is_found_again() {
        let table = CharTable::get();
        let within = |ranges: &[(u32, u32)], c| ranges.iter().any(|&(a, b)| a <= c && c <= b);
        for c in (0..0x3_4000)
            .chain(0xD_FF00..0xE_0200)
            .chain(0xF_FF00..=0x10_FFFF)
        {
            let entry = table.entry(c);
            let class = match (within(WORD, c), within(SPACELESS, c)) {
                (_, true) => CharClass::Spaceless,
                (true, false) => CharClass::Word,
                (false, false) => CharClass::Separator,
            };
            assert_eq!(entry.class(), class, "{c:#X}");
            assert_eq!(entry.is_ignored(), within(IGNORED, c), "{c:#X}");
            assert_eq!(entry.is_white_space(), within(WHITE_SPACE, c), "{c:#X}");
            assert_eq!(entry.is_unassigned(), within(UNASSIGNED, c), "{c:#X}");
            assert_eq!(entry.is_mapped(), within(MAPPED, c), "{c:#X}");
            let contextual = within(CONTEXTUAL, c) || entry.is_ignored();
            assert_eq!(entry.is_kept(), !entry.is_mapped() && !contextual, "{c:#X}");
            let combining = COMBINING.iter().find(|&&(a, b, _)| a <= c && c <= b);
            let combining = combining.map_or(0, |&(_, _, class)| u32::from(class));
            assert_eq!(entry.combining_class(), combining, "{c:#X}");
            let covers = |&&(a, b, step, _): &&(u32, u32, usize, i32)| {
                a <= c && c <= b && ((c - a) as usize).is_multiple_of(step)
            };
            let offset = LOWERCASE
                .iter()
                .find(covers)
                .map_or(0, |&(_, _, _, offset)| offset);
            assert_eq!(entry.lowercase_offset().cast_signed(), offset, "{c:#X}");
        }
    }

    #[test]
    fn ascii_agrees_with_the_ranges() {
        for byte in 0..128 {
            assert_eq!(
                ascii(byte),
                CharTable::get().entry(byte.into()),
                "{byte:#X}"
            );
        }
    }

    #[test]
    fn lowercase_keeps_what_matters_and_needs_no_second_pass() {
        let table = CharTable::get();
        for c in '\0'..=char::MAX {
            let entry = table.entry(c.into());
            let lower = table.entry(u32::from(c).wrapping_add(entry.lowercase_offset()));
            assert_eq!(entry.class(), lower.class(), "{c:?}");
            assert_eq!(lower.lowercase_offset(), 0, "{c:?}");
            assert!(lower.is_kept() || !entry.is_kept(), "{c:?}");
            assert!(entry.continues() || !lower.continues(), "{c:?}");
        }
    }
}
