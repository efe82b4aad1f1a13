//! One character's properties, packed.

/// How a character takes part in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text) enum CharClass {
    /// Belongs to no word.
    Separator,
    /// Runs together with its neighbours into a word.
    Word,
    /// Is a word by itself: a character of a script written without spaces.
    Spaceless,
}

/// The properties of one character in 32 bits.
///
/// | bits | property |
/// |---|---|
/// | 0 | makes words ([`CharClass::Word`] or [`CharClass::Spaceless`]) |
/// | 1 | with bit 0, [`CharClass::Spaceless`]; without it, ignored: folding drops the character |
/// | 2 | white space |
/// | 3 | unassigned |
/// | 4 | mapped: NFKC replaces it by starters that never combine with what precedes them |
/// | 5 | contextual: its NFKC form depends on its neighbours, or it is ignored |
/// | 6..14 | canonical combining class |
/// | 15..32 | distance to the lowercase character, signed |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::text) struct CharEntry(u32);

impl CharEntry {
    pub(super) const WORD: CharEntry = CharEntry(1);
    pub(super) const SPACELESS: CharEntry = CharEntry(0b11);
    pub(super) const WHITE_SPACE: CharEntry = CharEntry(1 << 2);
    pub(super) const UNASSIGNED: CharEntry = CharEntry(1 << 3);
    pub(super) const MAPPED: CharEntry = CharEntry(1 << 4);
    pub(super) const CONTEXTUAL: CharEntry = CharEntry(1 << 5);
    /// Contextual, too, because dropping it may join a mark with the letter before it.
    pub(super) const IGNORED: CharEntry = CharEntry(0b10 | 1 << 5);

    /// An entry with only this combining class.
    pub(super) const fn combining(class: u8) -> CharEntry {
        CharEntry((class as u32) << 6)
    }

    /// An entry with only this distance to the lowercase character, below 2^16 either way.
    pub(super) const fn lowercase(offset: i32) -> CharEntry {
        CharEntry(offset.cast_unsigned() << 15)
    }

    /// The properties of both entries.
    pub(super) const fn and(self, other: CharEntry) -> CharEntry {
        CharEntry(self.0 | other.0)
    }

    /// How the character takes part in words.
    pub(in crate::text) fn class(self) -> CharClass {
        match self.0 & 0b11 {
            1 => CharClass::Word,
            3 => CharClass::Spaceless,
            _ => CharClass::Separator,
        }
    }

    /// Whether folding drops the character, because nobody sees it.
    pub(in crate::text) fn is_ignored(self) -> bool {
        self.0 & 0b11 == 0b10
    }

    /// Whether the character is white space.
    pub(in crate::text) fn is_white_space(self) -> bool {
        self.0 & Self::WHITE_SPACE.0 != 0
    }

    /// Whether the code point is unassigned in Unicode 17.0.0.
    pub(in crate::text) fn is_unassigned(self) -> bool {
        self.0 & Self::UNASSIGNED.0 != 0
    }

    /// Whether NFKC replaces the character by its decomposition, whatever its neighbours.
    pub(in crate::text) fn is_mapped(self) -> bool {
        self.0 & Self::MAPPED.0 != 0
    }

    /// Whether NFKC keeps the character, as long as combining marks are in order.
    pub(in crate::text) fn is_kept(self) -> bool {
        self.0 & (Self::MAPPED.0 | Self::CONTEXTUAL.0) == 0
    }

    /// Whether the character may combine, or change places, with what precedes it. Text may be
    /// normalized piece by piece as long as no piece begins with such a character.
    pub(in crate::text) fn continues(self) -> bool {
        self.0 & (Self::CONTEXTUAL.0 | CharEntry::combining(u8::MAX).0) != 0
    }

    /// The canonical combining class.
    pub(in crate::text) fn combining_class(self) -> u32 {
        (self.0 >> 6) & 0xFF
    }

    /// What to add to the character (modulo 2^32) to get its lowercase.
    pub(in crate::text) fn lowercase_offset(self) -> u32 {
        (self.0.cast_signed() >> 15).cast_unsigned()
    }
}
