//! The path from text to shingles in plain code, with the Unicode tables of the standard library.

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

/// Whether the standard library knows the Unicode version the crate is frozen at.
pub(crate) fn applies() -> bool {
    char::UNICODE_VERSION == (17, 0, 0)
}

pub(crate) fn is_assigned(c: char) -> bool {
    let private = ('\u{E000}'..='\u{F8FF}').contains(&c)
        || ('\u{F0000}'..='\u{FFFFD}').contains(&c)
        || ('\u{100000}'..='\u{10FFFD}').contains(&c);
    private || c.script() != Script::Unknown
}

/// `Word_Break=Format`, joiners, variation selectors and tags.
fn is_ignored(c: char) -> bool {
    matches!(
        u32::from(c),
        0xAD | 0x61C
            | 0x180B..=0x180F
            | 0x200C..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x2064
            | 0x2066..=0x206F
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xFFF9..=0xFFFB
            | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A
            | 0xE0001
            | 0xE0020..=0xE007F
            | 0xE0100..=0xE01EF
    )
}

fn is_word(c: char) -> bool {
    is_assigned(c)
        && (c.is_alphanumeric()
            || is_combining_mark(c)
            || "_\u{203F}\u{2040}\u{2054}\u{FE33}\u{FE34}\u{FE4D}\u{FE4E}\u{FE4F}\u{FF3F}"
                .contains(c))
}

fn is_spaceless(c: char) -> bool {
    use Script::{Han, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai};
    is_word(c)
        && ([Han, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai].contains(&c.script())
            || c == 'ー'
            || c == 'ｰ')
}

/// Applies a normalization to the text between unassigned code points, which it must not see.
fn between_unassigned(text: &str, normalize: impl Fn(&str) -> String) -> String {
    let pieces = text.split_inclusive(|c| !is_assigned(c)).map(|piece| {
        let unassigned = piece.chars().next_back().filter(|&c| !is_assigned(c));
        let assigned = piece.len() - unassigned.map_or(0, char::len_utf8);
        normalize(&piece[..assigned]) + &piece[assigned..]
    });
    pieces.collect()
}

pub(crate) fn folded(text: &str, lowercase: bool, nfkc: bool) -> String {
    let mut folded: String = text.chars().filter(|&c| !is_ignored(c)).collect();
    if nfkc {
        folded = between_unassigned(&folded, |piece| piece.nfkc().collect());
    }
    if lowercase {
        let lower = |c: char| {
            if is_assigned(c) {
                c.to_lowercase().collect()
            } else {
                c.to_string()
            }
        };
        folded = folded
            .chars()
            .map(lower)
            .collect::<String>()
            .replace('ς', "σ");
    }
    if lowercase && nfkc {
        folded = between_unassigned(&folded, |piece| piece.nfc().collect());
    }
    folded
}

pub(crate) fn words(folded: &str) -> Vec<String> {
    words_and(folded, |_| false)
}

/// Words, and each symbol.
pub(crate) fn code(folded: &str) -> Vec<String> {
    words_and(folded, |c| !is_word(c) && !c.is_whitespace())
}

fn words_and(folded: &str, is_token: impl Fn(char) -> bool) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in folded.chars() {
        if !is_word(c) || is_spaceless(c) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if is_spaceless(c) || is_token(c) {
            words.push(c.to_string());
        } else if is_word(c) {
            word.push(c);
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

pub(crate) fn chars(folded: &str) -> Vec<String> {
    let joined = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().map(String::from).collect()
}

pub(crate) fn chars_without_space(folded: &str) -> Vec<String> {
    folded
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(String::from)
        .collect()
}

pub(crate) fn terms(folded: &str) -> Vec<String> {
    let kept = folded.replace(['.', ',', ':', ';', '\''], "");
    let is_term = |word: &&str| word.chars().count() >= 3 && *word != "the";
    kept.split_whitespace()
        .filter(is_term)
        .map(String::from)
        .collect()
}

/// The shingles of every `k` consecutive tokens.
pub(crate) fn shingles<T: AsRef<[u8]>>(tokens: &[T], k: usize) -> BTreeSet<u32> {
    let hashes: Vec<u64> = tokens
        .iter()
        .map(|token| token_hash(token.as_ref()))
        .collect();
    match hashes.len() {
        0 => BTreeSet::new(),
        n => hashes.windows(k.min(n)).map(shingle).collect(),
    }
}

fn token_hash(bytes: &[u8]) -> u64 {
    const S0: u64 = 0xA076_1D64_78BD_642F;
    const S1: u64 = 0xE703_7ED1_A0B4_28DB;
    let blocks = bytes.len().div_ceil(16);
    let mut state = S0;
    for (i, block) in bytes.chunks(16).enumerate() {
        let mut padded = [0; 16];
        padded[..block.len()].copy_from_slice(block);
        let a = u64::from_le_bytes(padded[..8].try_into().unwrap());
        let b = u64::from_le_bytes(padded[8..].try_into().unwrap());
        let length = if i + 1 == blocks {
            bytes.len() as u64
        } else {
            0
        };
        let product = u128::from(state ^ a) * u128::from(S1 ^ b ^ length);
        state = u64::try_from(product >> 64).unwrap()
            ^ u64::try_from(product & u128::from(u64::MAX)).unwrap();
    }
    state
}

fn shingle(tokens: &[u64]) -> u32 {
    const M: u64 = 0x5899_65CC_7537_4CC3;
    let mut x = 0u64;
    for (token, exponent) in tokens.iter().rev().zip(0..) {
        x = x.wrapping_add(token.wrapping_mul(M.wrapping_pow(exponent)));
    }
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^= x >> 33;
    u32::try_from(x >> 32).unwrap()
}
