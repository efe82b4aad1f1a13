//! Lowercasing and normalization, character by character.

use super::unicode::{CharEntry, CharTable, ascii};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

/// The differences of spelling that folding removes: first those of NFKC, then those of case.
///
/// With both, the lowercase text is composed once more, because some letters are one character only
/// in lowercase: W̊ is two, ẘ one.
///
/// Case is the full default lowercase mapping of Unicode, with one change: ς becomes σ, and Σ
/// becomes σ everywhere. Unicode turns a Σ at a word's end into ς. The form of a letter would then
/// depend on its neighbours, and ΟΔΟΣ and ΟΔΟΣ7 would not begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fold {
    pub(super) lowercase: bool,
    pub(super) nfkc: bool,
}

impl Fold {
    /// Passes the folded text to `push`, each character with its entry.
    pub(super) fn chars(self, text: &str, mut push: impl FnMut(char, CharEntry)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
                self.lowered(byte.into(), ascii(byte), &mut push);
                at += 1;
            } else {
                at = self.segment(text, at, &mut push);
            }
        }
    }

    /// Folds the character at `at`, which must exist, with those after it that it must be
    /// normalized with. Returns where they end.
    pub(super) fn segment(
        self,
        text: &str,
        at: usize,
        push: &mut impl FnMut(char, CharEntry),
    ) -> usize {
        let mut rest = text[at..].chars();
        let Some(first) = rest.next() else {
            return text.len();
        };
        let entry = entry_of(first);
        let first_end = at + first.len_utf8();
        if !self.nfkc {
            self.lowered(first, entry, push);
            return first_end;
        }
        let mut normal = entry.is_kept() && first != DOTTED;
        let (mut end, mut class) = (first_end, entry.combining_class());
        for (c, entry) in rest
            .map(|c| (c, entry_of(c)))
            .take_while(|(_, entry)| entry.continues())
        {
            normal &= entry.is_kept() && class <= entry.combining_class();
            class = entry.combining_class();
            end += c.len_utf8();
        }
        if normal {
            text[at..end]
                .chars()
                .for_each(|c| self.lowered(c, entry_of(c), push));
        } else if end == first_end && entry.is_mapped() {
            decompose_compatible(first, |c| self.lowered(c, entry_of(c), push));
        } else if entry.is_unassigned() {
            // An unassigned code point is its own normal form, and nothing composes with it.
            push(first, entry);
            self.normalized(&text[first_end..end], push);
        } else {
            self.normalized(&text[at..end], push);
        }
        end
    }

    /// Folds what the table cannot.
    fn normalized(self, piece: &str, push: &mut impl FnMut(char, CharEntry)) {
        if self.lowercase {
            let lower = piece.nfkc().flat_map(|c| lowercase_of(c, entry_of(c)));
            lower.nfc().for_each(|c| push(c, entry_of(c)));
        } else {
            piece.nfkc().for_each(|c| push(c, entry_of(c)));
        }
    }

    /// Passes on the lowercase of a normalized character.
    fn lowered(self, c: char, entry: CharEntry, push: &mut impl FnMut(char, CharEntry)) {
        if !self.lowercase || entry.lowercase_offset() == 0 {
            push(c, entry);
        } else if c == DOTTED {
            lowercase_of(c, entry).for_each(|c| push(c, entry_of(c)));
        } else {
            push(lowercase(c.into(), entry), entry);
        }
    }
}

/// The only character whose lowercase is two: `i` and a dot.
const DOTTED: char = 'İ';

fn entry_of(c: char) -> CharEntry {
    CharTable::get().entry(c.into())
}

/// The full lowercase mapping.
fn lowercase_of(c: char, entry: CharEntry) -> impl Iterator<Item = char> {
    let dot = (c == DOTTED).then_some('\u{307}');
    std::iter::once(lowercase(c.into(), entry)).chain(dot)
}

/// The first character of a code point's lowercase mapping.
pub(super) fn lowercase(code_point: u32, entry: CharEntry) -> char {
    let lower = code_point.wrapping_add(entry.lowercase_offset());
    char::from_u32(lower).unwrap_or(char::REPLACEMENT_CHARACTER)
}
