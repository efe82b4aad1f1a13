//! Lowercasing and normalization, character by character.

use super::marks;
use super::unicode::{CharEntry, ascii, entry_of};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;

/// The differences of spelling that folding removes: first those that nobody sees, then those of NFKC, then marks, if
/// asked for, then those of case.
///
/// With NFKC and case, the lowercase text is composed once more, because some letters are one character only in
/// lowercase: W̊ is two, ẘ one.
///
/// Case is the full default lowercase mapping of Unicode, with one change: ς becomes σ, and Σ
/// becomes σ everywhere. Unicode turns a Σ at a word's end into ς. The form of a letter would then
/// depend on its neighbours, and ΟΔΟΣ and ΟΔΟΣ7 would not begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fold {
    pub(super) lowercase: bool,
    pub(super) nfkc: bool,
    /// Drops the marks that [`marks`] lists. It needs NFKC.
    pub(super) marks: bool,
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

    /// Like [`Fold::chars`], with the bytes of the text that a character comes from. Characters that are normalized
    /// together come from all of their bytes.
    pub(super) fn pieces(self, text: &str, mut push: impl FnMut(Range<usize>, char, CharEntry)) {
        let mut at = 0;
        let (bytes, mut folded) = (text.as_bytes(), Vec::new());
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
                // Nothing is normalized together with it.
                let first = char::from(byte);
                self.lowered(first, entry_of(first), &mut |c, entry| {
                    push(at..at + 1, c, entry);
                });
                at += 1;
                continue;
            }
            let end = self.segment(text, at, &mut |c, entry| folded.push((c, entry)));
            for (c, entry) in folded.drain(..) {
                push(at..end, c, entry);
            }
            at = end;
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
            if !entry.is_ignored() {
                self.lowered(first, entry, push);
            }
            return first_end;
        }
        // The quick check of NFKC (Unicode Standard Annex #15): the segment is normal already if NFKC keeps each of its
        // characters, and their combining classes do not decrease, which is the order that NFKC gives to marks. `İ` is
        // not: its lowercase ends in a mark, which may have to be ordered among those that follow.
        let mut normal = (entry.is_kept() || entry.is_ignored()) && first != DOTTED;
        let (mut end, mut class) = (first_end, entry.combining_class());
        for (c, entry) in rest
            .map(|c| (c, entry_of(c)))
            .take_while(|(_, entry)| entry.continues())
        {
            end += c.len_utf8();
            if entry.is_ignored() {
                continue;
            }
            normal &= entry.is_kept() && class <= entry.combining_class();
            class = entry.combining_class();
        }
        let seen = |piece: Range<usize>| {
            let chars = text[piece].chars();
            chars.filter(|&c| !entry_of(c).is_ignored())
        };
        let marked = self.marks && seen(at..end).any(|c| marks::may_fold(c.into(), entry_of(c)));
        if normal && !marked {
            seen(at..end).for_each(|c| self.lowered(c, entry_of(c), push));
        } else if end == first_end && entry.is_mapped() && !marked {
            decompose_compatible(first, |c| self.lowered(c, entry_of(c), push));
        } else if entry.is_unassigned() {
            // An unassigned code point is its own normal form, and nothing composes with it.
            push(first, entry);
            self.normalized(seen(first_end..end), push);
        } else {
            self.normalized(seen(at..end), push);
        }
        end
    }

    /// Folds what the table cannot.
    fn normalized(self, piece: impl Iterator<Item = char>, push: &mut impl FnMut(char, CharEntry)) {
        if self.marks {
            self.composed(marks::without(piece.nfkd()).nfc(), push);
        } else {
            self.composed(piece.nfkc(), push);
        }
    }

    /// Folds the case of normalized characters.
    fn composed(self, normal: impl Iterator<Item = char>, push: &mut impl FnMut(char, CharEntry)) {
        if self.lowercase {
            let lower = normal.flat_map(|c| lowercase_of(c, entry_of(c)));
            lower.nfc().for_each(|c| push(c, entry_of(c)));
        } else {
            normal.for_each(|c| push(c, entry_of(c)));
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
