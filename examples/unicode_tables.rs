//! Writes the frozen Unicode tables of `src/text/unicode/`.
//!
//! ```text
//! cargo run --example unicode_tables
//! ```
//!
//! Stored hashes depend on these tables, so the tables keep the Unicode version in which they were first released
//! ([`FROZEN`]) for as long as the store's format stays the same. The program refuses to run if the standard library or
//! `unicode-script` (pinned for this reason) has another version. `unicode-normalization` may be newer, because the
//! properties read from it never change for a character once assigned (Unicode Normalization Stability Policy).

use std::fmt::Write as _;
use std::path::Path;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{
    canonical_combining_class, decompose_compatible, is_combining_mark,
};
use unicode_normalization::{IsNormalized, is_nfkc_quick};
use unicode_script::{Script, UnicodeScript};

/// The Unicode version of the tables.
const FROZEN: (u8, u8, u8) = (17, 0, 0);

/// Connector punctuation (general category Pc), which none of the crates lists.
const CONNECTORS: &str =
    "_\u{203F}\u{2040}\u{2054}\u{FE33}\u{FE34}\u{FE4D}\u{FE4E}\u{FE4F}\u{FF3F}";

/// The prolonged sound marks: written only among kana, though their script is Common.
const PROLONGED: &str = "\u{30FC}\u{FF70}";

/// Scripts written without spaces between words.
const SPACELESS: [Script; 7] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

fn main() -> std::io::Result<()> {
    if !sources_are_frozen() {
        return Err(std::io::Error::other(format!(
            "the tables are frozen at Unicode {FROZEN:?}, std speaks {:?}, unicode-script {:?}",
            char::UNICODE_VERSION,
            unicode_script::UNICODE_VERSION
        )));
    }
    for (name, text) in files() {
        std::fs::write(folder().join(name), text)?;
    }
    Ok(())
}

/// Whether this toolchain and these crates describe the frozen version.
fn sources_are_frozen() -> bool {
    let (major, minor, patch) = unicode_script::UNICODE_VERSION;
    char::UNICODE_VERSION == FROZEN
        && (major, minor, patch) == (u64::from(FROZEN.0), FROZEN.1.into(), FROZEN.2.into())
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/unicode")
}

/// Every generated file: name and content.
fn files() -> Vec<(&'static str, String)> {
    let class = [
        table(
            "WORD",
            "Word characters that run together into one token.",
            |c| is_word(c) && !is_spaceless(c),
        ),
        table(
            "SPACELESS",
            "Word characters that are a token each.",
            is_spaceless,
        ),
        table(
            "IGNORED",
            "Characters that nobody sees and that separate nothing.",
            is_ignored,
        ),
        table(
            "WHITE_SPACE",
            "The property `White_Space`.",
            char::is_whitespace,
        ),
    ];
    let quick_check = [
        table(
            "MAPPED",
            "Characters NFKC replaces by others, whatever stands beside them.",
            is_mapped,
        ),
        table(
            "CONTEXTUAL",
            "Characters whose NFKC form depends on, or reaches into, their neighbours.",
            |c| is_assigned(c) && !is_nfkc(c) && !is_mapped(c),
        ),
    ];
    vec![
        (
            "class.rs",
            file("Which characters make words.", &class.join("\n")),
        ),
        (
            "lowercase.rs",
            file(
                "Full lowercase mapping, one character at a time.",
                &lowercase(),
            ),
        ),
        (
            "combining.rs",
            file("Canonical combining classes other than 0.", &combining()),
        ),
        (
            "quick_check.rs",
            file("Which characters NFKC may change.", &quick_check.join("\n")),
        ),
        (
            "unassigned.rs",
            file(
                "Code points without a meaning yet.",
                &table("UNASSIGNED", "General category Cn.", |c| !is_assigned(c)),
            ),
        ),
    ]
}

fn is_assigned(c: char) -> bool {
    let private =
        matches!(u32::from(c), 0xE000..=0xF8FF | 0xF_0000..=0xF_FFFD | 0x10_0000..=0x10_FFFD);
    private || c.script() != Script::Unknown
}

fn is_word(c: char) -> bool {
    is_assigned(c)
        && (c.is_alphabetic() || c.is_numeric() || is_combining_mark(c) || CONNECTORS.contains(c))
        && !is_ignored(c)
}

/// The property `Word_Break=Format` (UAX #29), the joiners, the variation selectors and the tags.
fn is_ignored(c: char) -> bool {
    let format = matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0001}');
    let joiner = matches!(c, '\u{200C}' | '\u{200D}');
    let variation_selector = matches!(c,
        '\u{180B}'..='\u{180D}' | '\u{180F}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}');
    let tag = matches!(c, '\u{E0020}'..='\u{E007F}');
    format || joiner || variation_selector || tag
}

fn is_spaceless(c: char) -> bool {
    is_word(c) && (SPACELESS.contains(&c.script()) || PROLONGED.contains(c))
}

/// Whether NFKC keeps the character and never composes it with an earlier one.
fn is_nfkc(c: char) -> bool {
    is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// Whether NFKC replaces the character with starters that never compose with an earlier character.
fn is_mapped(c: char) -> bool {
    let mut decomposed = String::new();
    decompose_compatible(c, |d| decomposed.push(d));
    let settled = |d| is_nfkc(d) && canonical_combining_class(d) == 0;
    is_assigned(c)
        && !is_nfkc(c)
        && decomposed.chars().all(settled)
        && std::iter::once(c).nfkc().eq(decomposed.chars())
}

/// The first character of the lowercase mapping. Only İ has a second one, which the code adds.
fn lower(c: char) -> char {
    let first = c.to_lowercase().next().unwrap_or(c);
    match c {
        'ς' => 'σ',
        _ if is_assigned(c) => first,
        _ => c,
    }
}

/// A file of tables below its header.
fn file(about: &str, tables: &str) -> String {
    let (major, minor, patch) = FROZEN;
    format!(
        "//! {about}\n//!\n//! Unicode {major}.{minor}.{patch}, frozen. Written by \
         `examples/unicode_tables.rs`; not to be edited.\n\n{tables}"
    )
}

/// A constant of `(first, last)` ranges of the characters that `has` accepts.
fn table(name: &str, about: &str, has: impl Fn(char) -> bool) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for c in every_char().filter(|&c| has(c)).map(u32::from) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == c => *last = c,
            _ => ranges.push((c, c)),
        }
    }
    let cells = ranges
        .iter()
        .map(|(first, last)| format!("({}, {})", hex(*first), hex(*last)));
    constant(name, about, "(u32, u32)", cells)
}

/// `(first, last, class)` ranges.
fn combining() -> String {
    let mut ranges: Vec<(u32, u32, u8)> = Vec::new();
    for c in every_char().filter(|&c| is_assigned(c)) {
        let class = canonical_combining_class(c);
        match (u32::from(c), ranges.last_mut()) {
            (_, _) if class == 0 => {}
            (c, Some((_, last, same))) if *last + 1 == c && *same == class => *last = c,
            (c, _) => ranges.push((c, c, class)),
        }
    }
    let cells = ranges
        .iter()
        .map(|(first, last, class)| format!("({}, {}, {class})", hex(*first), hex(*last)));
    constant(
        "COMBINING",
        "`(first, last, class)`.",
        "(u32, u32, u8)",
        cells,
    )
}

/// `(first, last, step, offset)` ranges: every `step`-th character maps to itself plus `offset`.
fn lowercase() -> String {
    let mut ranges: Vec<(u32, u32, u32, i64)> = Vec::new();
    for c in every_char().filter(|&c| lower(c) != c) {
        let offset = i64::from(u32::from(lower(c))) - i64::from(u32::from(c));
        let c = u32::from(c);
        match ranges.last_mut() {
            Some((first, last, step, same))
                if *same == offset && (c - *last == *step || (first == last && c - *last <= 2)) =>
            {
                *step = c - *last;
                *last = c;
            }
            _ => ranges.push((c, c, 1, offset)),
        }
    }
    let cells = ranges.iter().map(|(first, last, step, offset)| {
        format!("({}, {}, {step}, {offset})", hex(*first), hex(*last))
    });
    let about =
        "`(first, last, step, offset)`: every `step`-th character maps to itself plus `offset`.";
    constant("LOWERCASE", about, "(u32, u32, usize, i32)", cells)
}

/// A literal in the form that clippy wants: long ones have groups of digits.
fn hex(c: u32) -> String {
    if c > 0xF_FFFF {
        format!("{:#06X}_{:04X}", c >> 16, c & 0xFFFF)
    } else {
        format!("{c:#X}")
    }
}

fn every_char() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

/// Lays the cells out in lines of at most 100 columns.
fn constant(name: &str, about: &str, of: &str, cells: impl Iterator<Item = String>) -> String {
    let mut out = format!("/// {about}\n#[rustfmt::skip]\npub(super) const {name}: &[{of}] = &[");
    let mut column = usize::MAX / 2;
    for cell in cells {
        if column + cell.len() + 2 > 100 {
            out.push_str("\n   ");
            column = 3;
        }
        let _ = write!(out, " {cell},");
        column += cell.len() + 2;
    }
    out + "\n];\n"
}

#[test]
fn the_committed_tables_are_what_the_sources_say() {
    if !sources_are_frozen() {
        return;
    }
    for (name, text) in files() {
        let committed = std::fs::read_to_string(folder().join(name)).unwrap();
        assert!(
            committed == text,
            "{name} differs: run `cargo run --example unicode_tables`"
        );
    }
}
