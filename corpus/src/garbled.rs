//! Places of a text that were decoded wrongly.

use std::borrow::Cow;
use std::sync::LazyLock;

use encoding_rs::{
    Encoding, IBM866, KOI8_R, MACINTOSH, WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1253,
    WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258,
};

/// Ends of the names that pages give to letters: `uuml`, `eacute`.
const LETTER_ENDS: [&str; 12] = [
    "acute", "caron", "cedil", "circ", "eth", "grave", "lig", "ring", "slash", "thorn", "tilde",
    "uml",
];

/// Ends of the names that they give to other characters: `rsquo`.
const SIGN_ENDS: [&str; 21] = [
    "Arr", "amp", "apos", "arr", "bull", "copy", "dash", "deg", "euro", "gt", "hellip", "lt",
    "middot", "nbsp", "pound", "quo", "quot", "reg", "sect", "shy", "times",
];

/// The signs of Windows-1252 beyond Latin-1, without the punctuation that stands behind words.
const WINDOWS_1252: &str = "€‚ƒ„†‡ˆ‰Š‹ŒŽ•˜™š›œžŸ";

/// The punctuation of Windows-1252 and Windows-1250 that stands behind words.
const PUNCTUATION: &str = "\u{a0}\u{ab}\u{bb}–—‘’“”…";

/// Other encodings of Latin letters that UTF-8 is read as, and then those of other letters.
const OTHER_ENCODINGS: [&Encoding; 11] = [
    WINDOWS_1250,
    WINDOWS_1257,
    WINDOWS_1258,
    MACINTOSH,
    WINDOWS_1251,
    WINDOWS_1253,
    WINDOWS_1255,
    WINDOWS_1256,
    WINDOWS_874,
    KOI8_R,
    IBM866,
];

/// The number of the first ones, of Latin letters.
const LATIN_ENCODINGS: usize = 4;

/// Their signs beyond ASCII with their bytes, in the order of the signs.
static OTHER_SIGNS: LazyLock<[Vec<(char, u8)>; 11]> =
    LazyLock::new(|| OTHER_ENCODINGS.map(signs_of));

/// The signs there that may begin what is read wrongly, in order: few letters of a text are among them.
static FIRST_SIGNS: LazyLock<Vec<char>> = LazyLock::new(|| {
    let signs = OTHER_SIGNS.iter().flatten();
    let first = signs.filter(|(_, byte)| matches!(byte, 0xc2..=0xc5 | 0xd0 | 0xd1 | 0xe2));
    let mut first: Vec<char> = first.map(|&(sign, _)| sign).collect();
    first.sort_unstable();
    first.dedup();
    first
});

/// A letter in place of one that was decoded wrongly. Few texts have it.
const LETTER: &str = "\u{195}";

/// The text with a letter in place of what probably was one, at these places, and a space in place of another sign, so that
/// each word that was decoded wrongly is one word.
pub(crate) fn with_letters<'t>(text: &'t str, garbled: &[usize]) -> Cow<'t, str> {
    let mut mended = String::new();
    let mut end = 0;
    for &start in garbled {
        // What stands at a place may reach over the next ones.
        if start < end {
            continue;
        }
        mended.push_str(&text[end..start]);
        let length = length_of_place(&text[start..]);
        end = start + length;
        let before = text[..start].chars().next_back();
        let behind = text[end..].chars().next();
        mended.push_str(stand_in(&text[start..end], before, behind));
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[end..]);
    Cow::Owned(mended)
}

/// The number of bytes, from the start of this text on, that stand for one or more characters.
fn length_of_place(text: &str) -> usize {
    let bytes = text.as_bytes();
    let run = |is_one: fn(char) -> bool| text.find(|c| !is_one(c)).unwrap_or(text.len());
    let length = match bytes {
        [b'&', ..] => length_of_reference(text),
        [b'\\', b'u', ..] => 6,
        [b'=', b'\r', b'\n', ..] => 3,
        [b'=', b'\n' | b'\r', ..] => 2,
        [b'\\', ..] | [b'=', b'2', b'0', b'\n' | b'\r', ..] => 4,
        [sign @ (b'=' | b'%'), ..] => {
            let is_byte = |triple: &[u8]| {
                triple.starts_with(&[*sign]) && triple[1..].iter().all(u8::is_ascii_hexdigit)
            };
            3 * bytes.chunks(3).take_while(|triple| is_byte(triple)).count()
        }
        [b'?', ..] => run(|c| c == '?'),
        _ => run(|c| !c.is_ascii()),
    };
    length.min(text.len())
}

/// The number of bytes of a reference, also of one whose `&` was written as one: `&uuml;`, `&amp;#8217;`.
fn length_of_reference(text: &str) -> usize {
    let end_of_next = |text: &str| {
        let end = text.find(';')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
        ((1..9).contains(&end) && text[..end].bytes().all(is_name)).then_some(end + 1)
    };
    let mut length = text.find(';').map_or(1, |end| end + 1);
    while text[..length].ends_with("amp;")
        && let Some(next) = end_of_next(&text[length..])
    {
        length += next;
    }
    length
}

/// The character that a number stands for in a reference: `#8217`, `#x2019`.
fn numbered(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    match number.strip_prefix(['x', 'X']) {
        Some(digits) => char_of(digits.as_bytes()),
        None => char::from_u32(number.parse().ok()?),
    }
}

/// What takes the place of this, which was decoded wrongly, between two characters.
fn stand_in(garbled: &str, before: Option<char>, behind: Option<char>) -> &'static str {
    let is_in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_alone = !is_in_word(before) && !is_in_word(behind);
    let mut names = garbled.trim_end_matches(';').rsplit(['&', ';']);
    let name = names.next().unwrap_or_default();
    let is_letter = match garbled.as_bytes() {
        [b'=', b'\n' | b'\r', ..] => return "",
        [b'&', ..] => match numbered(name) {
            Some(sign) => sign.is_alphabetic(),
            None => !SIGN_ENDS.iter().any(|end| name.ends_with(end)),
        },
        [b'?' | b'%', ..] => true,
        [b'\\', b'u' | b'x', digits @ ..] => char_of(digits).is_none_or(char::is_alphabetic),
        [b'=', high, ..] => matches!(high, b'C'..=b'F') && !garbled.starts_with("=E2"),
        // The rest was cut off.
        _ if behind.is_none() && garbled.chars().all(|c| c == '\u{fffd}') => false,
        // Dashes, bullets and pictures of their own, and not words.
        _ => !is_alone || !garbled.starts_with('ð') && garbled.chars().count() > 3,
    };
    let is_apostrophe = || {
        ["rsquo", "apos", "=E2=80=99"].contains(&name)
            || matches!(numbered(name), Some('\'' | '\u{2019}'))
    };
    if is_letter {
        LETTER
    } else if is_apostrophe() {
        "\u{2019}"
    } else if name == "shy" {
        ""
    } else {
        " "
    }
}

/// The character with this number, in hexadecimal digits.
fn char_of(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    // A sign before them is no digit.
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok()?;
    char::from_u32(number).filter(|_| is_number)
}

/// The places of characters in place of bytes that could not be decoded, of places where UTF-8 was read in another
/// encoding, such as `Ã¼`, `ĂĽ` or `√º` for `ü` and `â€™` for `’`, of Cyrillic letters in Latin words, and of characters that
/// are written as pages, mail or programs have them: `&uuml;`, `=C3=BC`, `\u00fc`, and a line that ends within a word, with
/// `=`.
pub(crate) fn garbled_places(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut last = None;
    let starts = text.char_indices().filter(|(start, c)| {
        let before = last.replace(*c);
        let behind = &bytes[start + c.len_utf8()..bytes.len().min(start + 12)];
        match c {
            '\u{fffd}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' => true,
            '&' => is_reference(behind),
            '=' | '%' | '\\' | '?' => {
                let before = start.checked_sub(1).map(|before| bytes[before]);
                is_escape(*c, before, behind)
            }
            _ if c.is_ascii() => false,
            _ => {
                let text = &text[*start..];
                is_misread(before, text) || is_misread_elsewhere(before, text)
            }
        }
    });
    starts.map(|(start, _)| start).collect()
}

/// Whether a text begins with a character of UTF-8 that was read as Windows-1252: a letter for its first byte, and other
/// signs for the bytes behind it. A letter may well stand before punctuation, so one other sign is needed, unless it is a
/// capital letter before a space or `«`, at the start of a word or behind a small letter.
fn is_misread(before: Option<char>, text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    if [
        "\u{c2}\u{a0}",
        "\u{c2} ",
        "\u{c2}\u{ab}",
        "\u{c2}\u{bb}",
        "\u{c3}\u{a0}",
        "\u{c3} ",
    ]
    .iter()
    .any(|start| text.starts_with(start))
    {
        return !before.is_some_and(char::is_uppercase);
    }
    let behind = match first {
        '\u{c2}'..='\u{de}' => 1,
        '\u{e0}'..='\u{ef}' => 2,
        '\u{f0}'..='\u{f4}' => 3,
        _ => return false,
    };
    let signs: Vec<char> = characters.take(behind).collect();
    if let ('\u{c3}'..='\u{c5}', [sign]) = (first, &signs[..])
        && PUNCTUATION.contains(*sign)
    {
        // A letter within a word, or at its start; or `×`.
        let next = text.chars().nth(2);
        let is_small = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase());
        let is_edge = |c: Option<char>| c.is_none_or(char::is_whitespace);
        return is_small(before)
            || !before.is_some_and(char::is_alphabetic) && is_small(next)
            || is_edge(before) && is_edge(next);
    }
    let is_sign = |&sign: &char| {
        matches!(sign, '\u{80}'..='\u{bf}')
            || WINDOWS_1252.contains(sign)
            || PUNCTUATION.contains(sign)
    };
    signs.len() == behind
        && signs.iter().all(is_sign)
        && signs.iter().any(|&sign| !PUNCTUATION.contains(sign))
}

fn signs_of(encoding: &'static Encoding) -> Vec<(char, u8)> {
    let signs = (0x80..=0xff).filter_map(|byte| {
        let bytes = [byte];
        let (sign, _) = encoding.decode_without_bom_handling(&bytes);
        Some((sign.chars().next()?, byte))
    });
    let mut signs: Vec<(char, u8)> = signs.collect();
    signs.sort_unstable();
    signs
}

/// Whether a text begins with a character whose bytes were read in another encoding, or with a Cyrillic letter within a
/// Latin word.
fn is_misread_elsewhere(before: Option<char>, text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    let next = characters.next();
    let is_latin = |c: &char| c.is_ascii_lowercase();
    let is_foreign = matches!(first, '\u{430}'..='\u{44f}')
        && (before.is_some_and(|it| is_latin(&it)) || next.is_some_and(|it| is_latin(&it)));
    if is_foreign || FIRST_SIGNS.binary_search(&first).is_err() {
        return is_foreign;
    }
    OTHER_SIGNS.iter().enumerate().any(|(number, signs)| {
        let is_letter = |c: char| c.is_ascii_alphabetic();
        let behind = || text.chars().nth(2).is_some_and(is_letter);
        let may_be_letter =
            || number < LATIN_ENCODINGS || before.is_some_and(is_letter) || behind();
        is_misread_in(signs, text, may_be_letter)
    })
}

/// Whether a text begins with punctuation, a sign such as `£`, two Cyrillic letters, or a Latin letter with an accent, if it
/// `may_be_letter`, whose UTF-8 was read as these signs. The first bytes of other characters are quotation marks and other letters there, which
/// stand before any letter.
fn is_misread_in(signs: &[(char, u8)], text: &str, may_be_letter: impl Fn() -> bool) -> bool {
    let byte = |sign: char| {
        let place = signs.binary_search_by_key(&sign, |(sign, _)| *sign);
        place.map_or(0, |place| signs[place].1)
    };
    let mut characters = text.chars();
    let mut next = || characters.next().unwrap_or_default();
    let behind = 0x80..=0xbf;
    match byte(next()) {
        // `§`, `©`, `®`, `°` and `±`, and `£` before a digit.
        0xc2 => {
            let sign = next();
            match byte(sign) {
                0xa7 | 0xa9 | 0xae | 0xb0 | 0xb1 => !sign.is_alphabetic(),
                0xa3 => next().is_ascii_digit(),
                _ => false,
            }
        }
        0xc3..=0xc5 => {
            let sign = next();
            behind.contains(&byte(sign)) && !PUNCTUATION.contains(sign) && may_be_letter()
        }
        // Two Cyrillic letters.
        0xd0 | 0xd1 => {
            behind.contains(&byte(next()))
                && matches!(byte(next()), 0xd0 | 0xd1)
                && behind.contains(&byte(next()))
        }
        0xe2 => matches!(byte(next()), 0x80 | 0x82) && behind.contains(&byte(next())),
        _ => false,
    }
}

/// Whether this, behind `&`, is the name or number of a character and `;`.
fn is_reference(behind: &[u8]) -> bool {
    let end = behind.iter().position(|&byte| byte == b';');
    end.is_some_and(|end| match &behind[..end] {
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_alphanumeric),
        name => {
            let mut ends = LETTER_ENDS.iter().chain(&SIGN_ENDS);
            ends.any(|end| name.ends_with(end.as_bytes()))
        }
    })
}

/// Whether this, behind a sign, is a character as mail, addresses or programs write it: `=C3=BC`, `M=FCller`, `=3D`,
/// `%C3%BC`, `\u00fc`; the end of a line of mail that goes on; or a question mark within a word. `before` is the byte before
/// the sign.
fn is_escape(sign: char, before: Option<u8>, behind: &[u8]) -> bool {
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    let is_in_word = before.is_some_and(|before| before.is_ascii_alphabetic());
    let is_letter = |digits| char_of(digits).is_some_and(char::is_alphabetic);
    match (sign, behind) {
        ('=', [b'\n' | b'\r', ..]) => before.is_some_and(|before| before.is_ascii_alphanumeric()),
        ('=', [b'2', b'0', b'\n' | b'\r', ..] | [b'3', b'D', ..]) => true,
        ('=' | '%', [b'C'..=b'F', low, next, rest @ ..]) if char::from(*next) == sign => {
            is_hex(low) && rest.first().is_some_and(is_hex)
        }
        ('=', [b'C'..=b'F', low, next, ..]) => {
            is_hex(low) && is_in_word && next.is_ascii_lowercase()
        }
        // Programs write other signs in this way.
        ('\\', [b'u', digits @ ..]) if digits.len() >= 4 => is_letter(&digits[..4]),
        ('\\', [b'x', digits @ ..]) if digits.len() >= 2 => is_letter(&digits[..2]),
        ('?', rest) => {
            let next = rest.iter().find(|&&next| next != b'?');
            is_in_word && next.is_some_and(u8::is_ascii_lowercase)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with one place that was decoded wrongly.
    const GARBLED: &[&str] = &[
        "fÃ¼r",
        "StraÃŸe",
        "Ã„rger",
        "itâ€™s",
        "a\u{fffd}b",
        "5 Â°C",
        "f&uuml;r",
        "f&#252;r",
        "f&#xfc;r",
        "f=C3=BCr",
        "fo=\nr",
        "for=20\nall",
        "M=FCller",
        "M?ller",
        "M%C3%BCller",
        r"M\u00fcller",
        "&pound;5",
        "a=3Db",
        "20â‚¬",
        "ðŸ˜€",
        "tÅ±r",
        "fĂĽr",
        "StraĂźe",
        "wÄ™ze",
        "ĹĽona",
        "bĂłl",
        "itâ€™s",
        "itâ€śs",
        "f√ºr",
        "Stra√üe",
        "√Ñrger",
        "it‚Äôs",
        "wƒôze",
        "≈ºona",
        "fГјr",
        "fΓΌr",
        "fأ¼r",
        "fรผr",
        "fĆ¼r",
        "fĂ¼r",
        "donвЂ™t",
        "β€“yes",
        "ВЈ5",
        "ÂŁ5",
        "¬£5",
        "f├╝r",
        "cafй",
        "РџСЂр",
        "w Â\u{a0}x",
        "xÂ\u{a0}y",
        "voilÃ\u{a0} il",
        "Ã l'heure",
        "Â« oui",
        "f\u{81}r",
        r"f\xfcr",
        "Gr??e",
        "NoÃ«l",
        "Ã–sterreich",
        "Å“uf",
        "ksiÄ…ka",
        "3 Ã— 4",
        "&Scaron;koda",
        "Acme&reg;",
    ];

    /// Texts without one.
    const DECODED: &[&str] = &[
        "für",
        "IRMÃ",
        "NÃO",
        "Âge",
        "pâte",
        "it’s",
        "5 °C",
        "Âşık",
        "“Über” l’été",
        "—Él dijo «être»",
        "‚Ärger‘",
        "√2 ≈ 1.4",
        "LĂSĂ… ĂŢ",
        "ŽĹR",
        "â’r",
        "naïve",
        "voilà\u{a0}» il",
        "der „Spaß“ am",
        "“CAFÉ” ist",
        "what? no",
        "AT&T; x",
        "p = &buffer;",
        "x=20 y",
        "a ==\nb",
        "====\n",
        "a=C3",
        "ВЫХОДÂ\u{a0}",
        "Різдво в Україні. Діти",
        "в Москве, В\u{a0}Москве",
        "группа «В»",
        "เสียง เพียง",
        "5 μm, kΩ, Δt",
        "IRMÃ e NÃO",
        "SMSки",
        r"/\u00a0/",
        r"\x00\x1b[0m",
        r"a\u+0e9",
    ];

    #[test]
    fn a_word_that_was_decoded_wrongly_is_one_word() {
        for (garbled, clean) in [
            ("der fÃ¼r die StraÃŸe", "der für die Straße"),
            (
                "Ã„rger â€“ und itâ€™s it=E2=80=99s",
                "Ärger – und it’s it’s",
            ),
            ("f&uuml;r &amp; it&rsquo;s a&nbsp;b", "für & it’s a b"),
            ("f=C3=BCr fo=\nr all=20\nis a=3Db", "für for all \nis a=b"),
            (r"M\u00fcller und J\xe4ger", "Müller und Jäger"),
            ("Gr??e und M?ller", "Größe und Müller"),
            ("РџСЂРёРІРµС‚ РјРёСЂ", "Привет мир"),
            ("5 \u{fffd}C a\u{fffd}b \u{fffd} c", "5 °C aäb – c"),
            (
                "NoÃ«l Ã–sterreich 3 Ã— 4 ðŸ˜€ðŸ˜€ so",
                "Noël Österreich 3 × 4 so",
            ),
            (
                "a &#8212; b &#252;ber &times; it&#8217;s &amp;#8217; c",
                "a — b über × it’s ’ c",
            ),
            ("Ste&shy;fan &amp;amp; M&amp;uuml;ller", "Stefan & Müller"),
        ] {
            let mended = with_letters(garbled, &garbled_places(garbled)).into_owned();
            let counted = |text: &str| {
                let is_word = |it: &&str| it.contains(char::is_alphanumeric);
                let parts = text.split(|c: char| !c.is_alphanumeric() && c != '\u{2019}');
                parts.filter(is_word).count()
            };
            assert_eq!(counted(&mended), counted(clean), "{mended}");
        }
        assert!(matches!(with_letters("für", &[]), Cow::Borrowed(_)));
    }

    #[test]
    fn text_that_was_decoded_wrongly_is_garbled() {
        for (texts, places) in [(GARBLED, 1), (DECODED, 0)] {
            for text in texts {
                assert_eq!(garbled_places(text).len(), places, "{text}");
            }
        }
    }
}
