//! Decoding of bytes to text.

mod magic;
pub(crate) mod transcode;
mod utf32;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};
use utf32::ByteOrder;

use crate::skipped::{Hint, Reason, RecordFault};

/// The byte order mark that some programs begin a text with.
pub(crate) const MARK: &str = "\u{feff}";

/// The maximum number of bytes that detection examines, from the first non-ASCII byte on.
const DETECTED: usize = 1 << 20;

/// The number of bytes before these that it examines as well: the letters before an accented one say much about it.
const BEFORE: usize = 32;

/// The number of bytes that show UTF-16 without a byte order mark.
const SEEN: usize = 1 << 10;

/// Text, and how it was decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded<T = String> {
    pub(crate) text: T,
    /// The name of the encoding.
    pub(crate) encoding: &'static str,
    /// Whether invalid bytes were replaced.
    pub(crate) replaced: bool,
    /// The hash of the source that the text was extracted from, if the text has no words. Texts without words are copies
    /// only if their sources have the same bytes.
    pub(crate) source_hash: Option<[u8; 32]>,
    /// The hash of what its source has besides the text, such as the attachments of a message.
    pub(crate) attachments: Option<Box<[u8; 32]>>,
}

/// Whether a text that was extracted from something else says nothing about it.
pub(crate) fn is_wordless(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

impl Decoded<Cow<'_, str>> {
    /// Copies the text if it is borrowed.
    pub(crate) fn into_owned(self) -> Decoded {
        Decoded {
            text: self.text.into_owned(),
            encoding: self.encoding,
            replaced: self.replaced,
            source_hash: self.source_hash,
            attachments: self.attachments,
        }
    }
}

/// Refuses bytes that are not text in the encoding that they seem to have.
///
/// # Errors
///
/// A fault if the bytes are binary: they contain a NUL, or begin like a kind of file that is not text.
pub(crate) fn check(bytes: &[u8], given: Option<&'static Encoding>) -> Result<(), RecordFault> {
    if is_wide(bytes, given) {
        return Ok(());
    }
    if bytes.contains(&0) {
        let hint = unmarked(bytes);
        return Err(RecordFault {
            hint,
            ..binary(magic::kind(bytes).filter(|_| hint.is_none()))
        });
    }
    magic::surely(bytes).map_or(Ok(()), |kind| Err(binary(Some(kind))))
}

/// Refuses the same, but for a few NUL bytes: browsers pass over those of a page.
///
/// # Errors
///
/// Those of [`check`].
pub(crate) fn check_page(
    bytes: &[u8],
    given: Option<&'static Encoding>,
) -> Result<(), RecordFault> {
    /// The number of bytes of which one may be NUL.
    const EACH: usize = 100;
    let nuls: usize = bytes.iter().map(|&byte| usize::from(byte == 0)).sum();
    if nuls * EACH > bytes.len() || is_wide(bytes, given) {
        return check(bytes, given);
    }
    magic::surely(bytes).map_or(Ok(()), |kind| Err(binary(Some(kind))))
}

/// Whether NUL bytes are parts of characters.
fn is_wide(bytes: &[u8], given: Option<&'static Encoding>) -> bool {
    ByteOrderMark::of(bytes).is_some_and(ByteOrderMark::is_wide)
        || given.is_some_and(|given| is_utf16(given) && !is_surely_utf8(bytes, given))
}

fn is_utf16(encoding: &'static Encoding) -> bool {
    [UTF_16LE, UTF_16BE].contains(&encoding)
}

/// Whether bytes are UTF-8 although UTF-16 was given, as some files of a folder may be: they have no NUL byte, which
/// each line break in UTF-16 has, and are valid UTF-8.
fn is_surely_utf8(bytes: &[u8], given: &'static Encoding) -> bool {
    is_utf16(given) && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// Which encoding to name for bytes that seem to be UTF-16 without a byte order mark: nearly every second byte is NUL, and
/// the others are ASCII characters that a text has.
pub(crate) fn unmarked(bytes: &[u8]) -> Option<Hint> {
    let (pairs, _) = bytes[..bytes.len().min(SEEN)].as_chunks::<2>();
    let is_of_text = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let little = |&&[low, high]: &&[u8; 2]| high == 0 && is_of_text(low);
    let big = |&&[high, low]: &&[u8; 2]| high == 0 && is_of_text(low);
    let most = pairs.len() * 3 / 4;
    if pairs.iter().filter(little).count() > most {
        Some(Hint::Utf16Le)
    } else if pairs.iter().filter(big).count() > most {
        Some(Hint::Utf16Be)
    } else {
        None
    }
}

fn binary(kind: Option<&str>) -> RecordFault {
    RecordFault {
        reason: Reason::Binary,
        detail: kind.unwrap_or("it has a NUL byte").to_owned(),
        hint: None,
    }
}

/// Returns the text of a file.
///
/// # Errors
///
/// Those of [`check`], and a fault if text in a wide encoding contains a NUL.
pub(crate) fn file(bytes: &[u8], given: Option<&'static Encoding>) -> Result<Decoded, RecordFault> {
    check(bytes, given)?;
    let decoded = decode(bytes, given);
    if is_wide(bytes, given) && decoded.text.contains('\0') {
        return Err(binary(None));
    }
    Ok(decoded.into_owned())
}

/// Returns the text of `bytes`, without a byte order mark.
///
/// The encoding is that of the mark; without a mark, the given one; otherwise ISO-2022-JP if its escapes are found,
/// UTF-8 if the bytes are valid or nearly valid UTF-8, and else the detected one.
pub(crate) fn decode<'a>(
    bytes: &'a [u8],
    given: Option<&'static Encoding>,
) -> Decoded<Cow<'a, str>> {
    if let Some(mark) = ByteOrderMark::of(bytes) {
        return mark.decode(bytes);
    }
    if let Some(encoding) = given.filter(|given| !is_surely_utf8(bytes, given)) {
        return encoded(bytes, encoding);
    }
    if is_iso_2022_jp(bytes) {
        return encoded(bytes, ISO_2022_JP);
    }
    // In many scripts this is several times as fast as the standard library's.
    match UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => utf8(text, false),
        None if is_nearly_utf8(bytes) => utf8(String::from_utf8_lossy(bytes), true),
        None => encoded(bytes, detect(bytes)),
    }
}

/// Returns the bytes without the UTF-8 byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes)
}

fn utf8(text: Cow<'_, str>, replaced: bool) -> Decoded<Cow<'_, str>> {
    Decoded {
        text,
        encoding: UTF_8.name(),
        replaced,
        source_hash: None,
        attachments: None,
    }
}

fn encoded<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Decoded<Cow<'a, str>> {
    let (text, replaced) = encoding.decode_without_bom_handling(bytes);
    Decoded {
        text,
        encoding: encoding.name(),
        replaced,
        source_hash: None,
        attachments: None,
    }
}

/// Detects the encoding of bytes that are not UTF-8.
fn detect(bytes: &[u8]) -> &'static Encoding {
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    let end = bytes.len().min(first.saturating_add(DETECTED));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let start = first.saturating_sub(BEFORE);
    detector.feed(&bytes[start..end], end == bytes.len());
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether the bytes are ASCII with the escapes that switch to Japanese characters, and no others.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    if !bytes.is_ascii() || !bytes.contains(&0x1b) {
        return false;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny) == ISO_2022_JP
}

/// Whether the bytes are UTF-8 except for a few. Other encodings rarely produce valid UTF-8 sequences.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut characters, mut wrong) = (0usize, 0usize);
    for chunk in bytes[..bytes.len() - cut_off(bytes)].utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    characters > 4 * wrong
}

/// The number of bytes at the end that begin a character of UTF-8 whose other bytes were cut off.
fn cut_off(bytes: &[u8]) -> usize {
    let begins = |&count: &usize| match &bytes[bytes.len() - count..] {
        [first, rest @ ..] => {
            let needed = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => 0,
            };
            needed > count && rest.iter().all(|byte| (0x80..0xc0).contains(byte))
        }
        [] => false,
    };
    (1..=bytes.len().min(3)).find(begins).unwrap_or(0)
}

/// A byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrderMark {
    Utf8,
    Utf16(&'static Encoding),
    Utf32(ByteOrder),
}

impl ByteOrderMark {
    /// Returns the mark that the bytes begin with.
    pub(crate) fn of(bytes: &[u8]) -> Option<ByteOrderMark> {
        match bytes {
            // The UTF-32LE mark is the UTF-16LE mark with two NULs after it.
            [0xff, 0xfe, 0, 0, ..] => Some(ByteOrderMark::Utf32(ByteOrder::Little)),
            [0, 0, 0xfe, 0xff, ..] => Some(ByteOrderMark::Utf32(ByteOrder::Big)),
            [0xff, 0xfe, ..] => Some(ByteOrderMark::Utf16(UTF_16LE)),
            [0xfe, 0xff, ..] => Some(ByteOrderMark::Utf16(UTF_16BE)),
            [0xef, 0xbb, 0xbf, ..] => Some(ByteOrderMark::Utf8),
            _ => None,
        }
    }

    /// Whether text in the encoding may contain NUL bytes.
    fn is_wide(self) -> bool {
        self != ByteOrderMark::Utf8
    }

    fn decode(self, bytes: &[u8]) -> Decoded<Cow<'_, str>> {
        match self {
            ByteOrderMark::Utf8 => encoded(&bytes[MARK.len()..], UTF_8),
            ByteOrderMark::Utf16(encoding) => encoded(&bytes[2..], encoding),
            ByteOrderMark::Utf32(order) => {
                let (text, replaced) = utf32::text(&bytes[4..], order);
                Decoded {
                    text: text.into(),
                    encoding: order.name(),
                    replaced,
                    source_hash: None,
                    attachments: None,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, file};
    use crate::skipped::Reason;
    use encoding_rs::{ISO_8859_2, SHIFT_JIS, UTF_16LE, WINDOWS_1252};

    fn decoded(bytes: &[u8]) -> (String, &'static str, bool) {
        let decoded = decode(bytes, None).into_owned();
        (decoded.text, decoded.encoding, decoded.replaced)
    }

    /// The characters as numbers of `width` bytes.
    fn wide(text: &str, width: usize, is_little: bool) -> Vec<u8> {
        let bytes = |c: char| {
            let mut bytes = u32::from(c).to_le_bytes()[..width].to_vec();
            if !is_little {
                bytes.reverse();
            }
            bytes
        };
        text.chars().flat_map(bytes).collect()
    }

    #[test]
    fn a_text_that_was_cut_within_a_character_is_utf8() {
        let text = "Grüße aus Österreich, Deine Zoë";
        let cut = decode(&text.as_bytes()[..text.len() - 1], None);
        assert_eq!(cut.text, text.replace('ë', "\u{fffd}"));
        assert_eq!(super::cut_off("—".as_bytes()), 0);
        assert_eq!(super::cut_off(b"\xe2\x80"), 2);
    }

    #[test]
    fn marks_tell_the_encoding() {
        let text = "naïve 日本";
        let marked = format!("\u{feff}{text}");
        for (bytes, encoding) in [
            (marked.clone().into_bytes(), "UTF-8"),
            (wide(&marked, 2, true), "UTF-16LE"),
            (wide(&marked, 2, false), "UTF-16BE"),
            (wide(&marked, 4, true), "UTF-32LE"),
            (wide(&marked, 4, false), "UTF-32BE"),
        ] {
            assert_eq!(decoded(&bytes), (text.to_owned(), encoding, false));
            assert!(file(&bytes, Some(SHIFT_JIS)).unwrap().text == text);
        }
        let odd = [&wide("\u{feff}ab", 2, true)[..], b"c"].concat();
        assert_eq!(decoded(&odd), ("ab\u{fffd}".to_owned(), "UTF-16LE", true));
        let lone = [0xff, 0xfe, 0, 0, 0, 0xd8, 0, 0];
        assert_eq!(decoded(&lone), ("\u{fffd}".to_owned(), "UTF-32LE", true));
    }

    #[test]
    fn what_is_no_utf8_is_detected() {
        let french = "Le café était fermé, mais la forêt était à côté.";
        let russian = "Ночной трамвай снова ходит с пятницы, каждые полчаса до четырёх.";
        let japanese = "夜の路面電車は金曜日から四時まで三十分おきにまた走ります。";
        for (text, encoding) in [
            (french, WINDOWS_1252),
            ("et chacun a reçu un cadeau", WINDOWS_1252),
            ("Mañana será otro día", WINDOWS_1252),
            ("się na podwórku", encoding_rs::WINDOWS_1250),
            (russian, encoding_rs::KOI8_R),
            (russian, encoding_rs::WINDOWS_1251),
            (japanese, SHIFT_JIS),
            (japanese, encoding_rs::EUC_JP),
            (japanese, encoding_rs::ISO_2022_JP),
        ] {
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable);
            let (found, name, replaced) = decoded(&bytes);
            assert_eq!((found.as_str(), replaced), (text, false), "{name}");
        }
    }

    #[test]
    fn a_few_wrong_bytes_leave_utf8_what_it_is() {
        let mut bytes = "日本語の文章".as_bytes().to_vec();
        bytes.push(0xff);
        let expected = ("日本語の文章\u{fffd}".to_owned(), "UTF-8", true);
        assert_eq!(decoded(&bytes), expected);
    }

    #[test]
    fn a_given_encoding_is_taken() {
        let (bytes, _, _) = ISO_8859_2.encode("żółw");
        let text = decode(&bytes, Some(ISO_8859_2));
        assert_eq!((&*text.text, text.encoding), ("żółw", "ISO-8859-2"));
        let text = file(&wide("wide", 2, true), Some(UTF_16LE)).unwrap();
        assert_eq!(text.text, "wide");
    }

    #[test]
    fn a_nul_makes_a_file_binary() {
        for bytes in [&b"a\0"[..], &wide("\u{feff}a\0", 2, true), b"\0\xff"] {
            let fault = file(bytes, None).unwrap_err();
            assert_eq!(fault.reason, Reason::Binary);
        }
    }

    #[test]
    fn escapes_alone_are_not_japanese() {
        let colours = "\u{1b}[31mred\u{1b}[0m";
        assert_eq!(decoded(colours.as_bytes()).0, colours);
    }
}
