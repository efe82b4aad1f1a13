//! Marks above and below letters that some writers leave out.
//!
//! Folded are the harakat, the Quranic marks and the tatweel of Arabic, the niqqud and the cantillation of Hebrew, and
//! the diacritics of Latin letters. Letters stay: й, آ, ø and ł are letters of their own, not letters with a mark that
//! may be left out.

use super::unicode::{CharEntry, entry_of};

/// The tatweel, which only makes a word longer.
const TATWEEL: u32 = 0x640;

/// Whether a character of a text may be, or may have, a mark that is folded.
pub(super) fn may_fold(code_point: u32, entry: CharEntry) -> bool {
    entry.continues() || entry.is_mapped() || is_folded_letter(code_point)
}

/// Whether the character may decompose into a letter and folded marks, or is the tatweel.
#[inline]
pub(super) fn is_folded_letter(code_point: u32) -> bool {
    matches!(code_point, 0xC0..=0x24F | TATWEEL | 0x1E00..=0x1EFF)
}

/// Drops the marks of decomposed characters.
pub(super) fn without(decomposed: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut is_on_latin = false;
    decomposed.filter(move |&c| {
        if entry_of(c).combining_class() == 0 {
            is_on_latin = is_latin(c.into());
            return u32::from(c) != TATWEEL;
        }
        let is_folded = is_semitic(c.into()) || is_on_latin && is_diacritic(c.into());
        !is_folded
    })
}

/// Whether it is a letter of the Latin script.
fn is_latin(code_point: u32) -> bool {
    matches!(
        code_point,
        0x41..=0x5A | 0x61..=0x7A | 0xC0..=0x2AF | 0x1E00..=0x1EFF | 0x2C60..=0x2C7F | 0xA722..=0xA7FF | 0xAB30..=0xAB6F
    )
}

/// Whether it is a mark that stands on letters of several scripts.
fn is_diacritic(code_point: u32) -> bool {
    matches!(
        code_point,
        0x300..=0x36F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
    )
}

/// Whether it is a mark of Arabic or Hebrew. The hamza and the madda of Arabic make other letters, and stay.
fn is_semitic(code_point: u32) -> bool {
    matches!(
        code_point,
        0x591..=0x5C7 | 0x610..=0x61A | 0x64B..=0x652 | 0x656..=0x65F | 0x670 | 0x6D6..=0x6ED | 0x897..=0x8FF
    )
}
