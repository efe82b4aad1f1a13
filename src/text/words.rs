//! Text to word tokens, a block at a time.

use super::block::{BLOCK, FoldedBlock, SymbolRule};
use super::fold::Fold;
use super::hash;
use super::sink::ShingleSink;
use super::unicode::CharClass;
use super::windows::Windows;

/// The number of folded bytes to gather before their tokens are hashed, unless one token is longer.
const GATHER: usize = 8 << 10;

/// The bytes that stay free after the folded ones: a block, and those that hashing reads past a
/// token's end.
const SLACK: usize = BLOCK + hash::BLOCK;

/// The working memory of a reader of words.
#[derive(Debug, Default)]
pub(super) struct WordMemory {
    folded: Vec<u8>,
    edges: Vec<usize>,
}

impl WordMemory {
    /// The number of bytes held.
    pub(super) fn capacity(&self) -> usize {
        self.folded.capacity() + size_of::<usize>() * self.edges.capacity()
    }
}

/// Reads a text's words.
///
/// Folded text goes to a buffer, and the places where tokens begin and end go to a list. When
/// enough has gathered, the complete tokens are hashed and rolled over.
struct WordReader<'a, 'm> {
    folded: &'a mut Vec<u8>,
    /// The number of folded bytes in use; the buffer is at least [`SLACK`] longer.
    filled: usize,
    /// The beginning and end of each token in turn; the last end is missing while a token is open.
    edges: &'a mut Vec<usize>,
    /// Whether the last folded character belongs to a word.
    open: bool,
    /// Whether it is a word by itself.
    spaceless: bool,
    windows: &'a mut Windows,
    sink: &'a mut ShingleSink<'m>,
}

/// Rolls the windows over the words of a text.
pub(super) fn read(
    fold: Fold,
    symbols: SymbolRule,
    text: &str,
    memory: &mut WordMemory,
    windows: &mut Windows,
    sink: &mut ShingleSink<'_>,
) {
    let WordMemory { folded, edges } = memory;
    edges.clear();
    folded.resize(folded.len().max(GATHER + SLACK), 0);
    let (filled, open, spaceless) = (0, false, false);
    let mut words = WordReader {
        folded,
        filled,
        edges,
        open,
        spaceless,
        windows,
        sink,
    };
    let mut at = 0;
    while at < text.len() {
        let block = FoldedBlock::read(fold, symbols, text, at);
        words.take(&block);
        at += block.taken;
        // Characters that folding replaces or normalizes come one by one.
        if block.cut {
            at = fold.segment(text, at, &mut |c, entry| {
                words.push(c, symbols.class(entry));
            });
        }
    }
    words.end();
}

impl WordReader<'_, '_> {
    /// Appends a block.
    fn take(&mut self, block: &FoldedBlock) {
        if block.taken == 0 {
            return;
        }
        self.make_room();
        self.folded[self.filled..self.filled + BLOCK].copy_from_slice(&block.folded);
        let FoldedBlock {
            word,
            spaceless,
            lead,
            ..
        } = *block;
        let before = word << 1 | u64::from(self.open);
        // Where no token continues: at a character that is a word by itself, and right after one.
        let apart = lead | ((spaceless << 1 | u64::from(self.spaceless)) & !spaceless);
        let begins = word & (!before | apart);
        let ends = before & (!word | apart) & (u64::MAX >> (BLOCK - block.taken));
        // A token ends where another begins only next to a character that is a word by itself.
        if begins & ends == 0 {
            self.edges_at(begins | ends);
        } else {
            self.edges_at_both(begins, ends);
        }
        let last = block.taken - 1;
        self.open = word >> last & 1 != 0;
        self.spaceless = spaceless >> last & 1 != 0;
        self.filled += block.taken;
    }

    /// Lists the edges of a block in which no token begins right where another ends.
    fn edges_at(&mut self, mut places: u64) {
        while places != 0 {
            self.edges
                .push(self.filled + places.trailing_zeros() as usize);
            places &= places - 1;
        }
    }

    /// Lists the edges of any block; an end comes before a beginning at the same place.
    fn edges_at_both(&mut self, begins: u64, ends: u64) {
        let mut either = begins | ends;
        while either != 0 {
            let place = either.trailing_zeros();
            let edge = self.filled + place as usize;
            if ends >> place & 1 != 0 {
                self.edges.push(edge);
            }
            if begins >> place & 1 != 0 {
                self.edges.push(edge);
            }
            either &= either - 1;
        }
    }

    /// Appends one folded character.
    fn push(&mut self, c: char, class: CharClass) {
        self.make_room();
        let word = class != CharClass::Separator;
        let spaceless = class == CharClass::Spaceless;
        let apart = spaceless || self.spaceless;
        if self.open && (!word || apart) {
            self.edges.push(self.filled);
        }
        if word && (!self.open || apart) {
            self.edges.push(self.filled);
        }
        (self.open, self.spaceless) = (word, spaceless);
        self.filled += c.encode_utf8(&mut self.folded[self.filled..]).len();
    }

    /// Makes room for [`SLACK`] bytes by hashing the complete tokens, or else by growing.
    #[inline]
    fn make_room(&mut self) {
        if self.filled + SLACK <= self.folded.len() {
            return;
        }
        self.hash_tokens();
        if self.filled + SLACK > self.folded.len() {
            self.folded.resize(2 * self.folded.len(), 0);
        }
    }

    /// Hashes the complete tokens and moves an open one to the front.
    ///
    /// An open token moves at most once: the next call with anything to hash completes it.
    fn hash_tokens(&mut self) {
        let (tokens, open) = self.edges.as_chunks();
        if tokens.is_empty() && !open.is_empty() {
            return;
        }
        let folded = &self.folded[..];
        self.windows
            .tokens()
            .extend(tokens.iter().map(|&[begin, end]| {
                let length = end - begin;
                // Most tokens are short. They are hashed from a fixed number of bytes, without a loop.
                match folded[begin..].first_chunk() {
                    Some(block) if length <= hash::BLOCK => hash::short_token(block, length),
                    _ => hash::token(&folded[begin..end]),
                }
            }));
        self.windows.roll(self.sink);
        let begin = open.first().copied();
        self.edges.clear();
        if let Some(begin) = begin {
            self.folded.copy_within(begin..self.filled, 0);
            self.filled -= begin;
            self.edges.push(0);
        } else {
            self.filled = 0;
        }
    }

    /// Ends the text, and with it the open token.
    fn end(mut self) {
        if self.open {
            self.edges.push(self.filled);
        }
        self.hash_tokens();
    }
}
