//! The text of a page, as a reader would see it.

use std::borrow::Cow;
use std::convert::Infallible;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};

use crate::decode::{ByteOrderMark, Decoded, decode, is_wordless};
use crate::formats::web::markup::{MarkupPiece, MarkupPieces};

/// Returns the text of a page. `given` is its encoding if it is known from elsewhere. Otherwise the encoding is the one
/// that the page names, unless the page is valid UTF-8.
pub(crate) fn text(bytes: &[u8], given: Option<&'static Encoding>) -> Decoded {
    let named = given.or_else(|| named_encoding(bytes));
    let is_utf8 = !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
    let is_known = ByteOrderMark::of(bytes).is_some() || is_utf8;
    let decoded = decode(bytes, named.filter(|_| !is_known));
    let text = plain(&decoded.text);
    let source_hash = is_wordless(&text).then(|| *blake3::hash(bytes).as_bytes());
    Decoded {
        text,
        encoding: decoded.encoding,
        replaced: decoded.replaced,
        source_hash,
        attachments: None,
    }
}

/// Returns the encoding that the start of a page declares.
fn named_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    /// The number of bytes that browsers examine.
    const LOOKED_AT: usize = 1024;
    let head = bytes.get(..LOOKED_AT).unwrap_or(bytes).to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head);
    let declaration = head.trim_start().strip_prefix("<?xml");
    let declaration = declaration.and_then(|it| it.split("?>").next());
    let metas = head.split("<meta").skip(1);
    let mut tags = metas.filter_map(|meta| meta.split('>').next());
    let of_xml = declaration.and_then(|it| encoding_behind("encoding", it));
    of_xml.or_else(|| tags.find_map(charset))
}

/// Returns the encoding that a header or tag names after `charset=`.
pub(crate) fn charset(header: &str) -> Option<&'static Encoding> {
    encoding_behind("charset", header)
}

fn encoding_behind(name: &str, header: &str) -> Option<&'static Encoding> {
    let lower = header.to_ascii_lowercase();
    let rest = lower[lower.find(name)? + name.len()..].trim_start();
    let rest = rest.strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| "\"';>/ \t".contains(c));
    let encoding =
        Encoding::for_label_no_replacement(&rest.as_bytes()[..end.unwrap_or(rest.len())]);
    // A page that was readable so far is not UTF-16.
    encoding.map(|encoding| {
        let is_wide = [UTF_16LE, UTF_16BE].contains(&encoding);
        if is_wide { UTF_8 } else { encoding }
    })
}

/// Returns the text of HTML without its tags: one line per block, with white space as displayed.
fn plain(html: &str) -> String {
    let mut page = HtmlText::default();
    for piece in MarkupPieces::new(html) {
        page.take(piece);
    }
    page.text.truncate(page.text.trim_end().len());
    page.text
}

/// Resolves the character references in a text.
fn resolved(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let callback = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        if let CallbackEvent::String { value } = event {
            bytes.extend_from_slice(value);
        }
        None
    };
    let mut tokenizer = Tokenizer::new_with_emitter(text, CallbackEmitter::new(callback));
    // In this state, no tags are recognized before an element has begun.
    tokenizer.set_state(State::RcData);
    let Ok(()) = tokenizer.finish();
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// A page that is being read.
#[derive(Debug, Default)]
struct HtmlText {
    text: String,
    /// The current element whose content is not shown.
    hidden: Option<&'static str>,
    /// Whether white space precedes the next character.
    is_apart: bool,
}

impl HtmlText {
    fn take(&mut self, piece: MarkupPiece<'_>) {
        match piece {
            MarkupPiece::Start(name) => {
                if self.hidden.is_none() {
                    self.hidden = find(&HIDDEN, name);
                }
                self.border(name);
            }
            MarkupPiece::End(name) => {
                if self
                    .hidden
                    .is_some_and(|hidden| name.eq_ignore_ascii_case(hidden))
                {
                    self.hidden = None;
                }
                self.border(name);
            }
            MarkupPiece::Text(text) if self.hidden.is_none() => self.push(&resolved(text)),
            MarkupPiece::Raw(text) if self.hidden.is_none() => self.push(text),
            MarkupPiece::Text(_) | MarkupPiece::Raw(_) => {}
        }
    }

    /// Starts a line where a block begins or ends.
    fn border(&mut self, name: &str) {
        if self.text.is_empty() || self.text.ends_with('\n') || find(&INLINE, name).is_some() {
            return;
        }
        self.is_apart = false;
        self.text.push('\n');
    }

    fn push(&mut self, text: &str) {
        for character in text.chars() {
            if character.is_ascii_whitespace() {
                self.is_apart = true;
                continue;
            }
            if self.is_apart && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.is_apart = false;
            self.text.push(if character == '\0' {
                char::REPLACEMENT_CHARACTER
            } else {
                character
            });
        }
    }
}

/// Returns the name among `names`, ignoring ASCII case.
fn find(names: &[&'static str], name: &str) -> Option<&'static str> {
    let mut names = names.iter().copied();
    names.find(|other| other.eq_ignore_ascii_case(name))
}

/// Elements whose content is not shown.
const HIDDEN: [&str; 7] = [
    "iframe", "noembed", "noframes", "noscript", "script", "style", "template",
];

/// Elements that do not start a line.
const INLINE: [&str; 36] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "u", "var", "wbr",
];

#[cfg(test)]
mod tests {
    use super::{charset, plain, text};
    use encoding_rs::{SHIFT_JIS, WINDOWS_1251};

    #[test]
    fn what_is_shown_is_kept() {
        let page = "<!doctype html><html><head><title>The title</title>\
            <style>p { color: red }</style><script>if (a < b) { '</p>' }</script></head>\
            <body><!-- no --><p>One &amp; <b>t</b>wo\n  three<br>four<P>five</p>\
            <table><tr><td>a</td><td>b</td></tr></table><noscript>no</noscript>\
            <template><p>no</p></template>&eacute;&#x65e5; <a href='x>y'>link</a>.</body>";
        let expected = "The title\nOne & two three\nfour\nfive\na\nb\né日 link.";
        assert_eq!(plain(page), expected);
        for odd in [
            "",
            "<",
            "<p",
            "a < b",
            "<script>never ends",
            "</p></p>",
            "&#xfffffff;",
            "<a b='",
        ] {
            assert!(plain(odd).len() <= odd.len());
        }
    }

    #[test]
    fn a_slash_ends_an_element_and_cdata_is_text_only_in_xhtml() {
        let names = [
            "script", "style", "iframe", "template", "noscript", "title", "textarea",
        ];
        let page =
            |name: &str| format!("<head><{name} a=\"b\"/></head><p>a<![CDATA[ <b> &amp;]]> c");
        for start in [
            "\n<?xml version='1.0'?><html>",
            "<html xmlns=\"http://www.w3.org/1999/xhtml\">",
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"xhtml11.dtd\"><html>",
        ] {
            for name in names {
                let xhtml = format!("{start}{}", page(name));
                assert_eq!(plain(&xhtml), "a <b> &amp; c", "{xhtml}");
            }
        }
        for name in names {
            assert!(
                !plain(&format!("<html>{}", page(name))).starts_with("a "),
                "{name}"
            );
        }
        assert_eq!(plain("<?xml?><p>a<![CDATA[never ends"), "anever ends");
        assert_eq!(plain("<html><p>a<![CDATA[ b]]> c"), "a c");
        // Drawings and formulas in a page follow XML.
        for drawing in ["<svg><style/></svg>", "<MATH><script/></MATH>", "<svg/>"] {
            assert_eq!(plain(&format!("{drawing}<p>a<p>b")), "a\nb", "{drawing}");
            let page = format!("{drawing}<script/>hidden</script><p>a");
            assert_eq!(plain(&page), "a", "{drawing}");
        }
    }

    #[test]
    fn deep_and_long_pages_take_no_longer_than_others() {
        let deep = "<div>".repeat(200_000) + "x";
        assert_eq!(plain(&deep), "x");
        let attributes = (0..100_000).map(|index| format!(" a{index}"));
        let long = format!("<p{}>x", attributes.collect::<String>());
        assert_eq!(plain(&long), "x");
        let quoted = format!("<p {}>words</p>", "a=\"\" ".repeat(10_000));
        assert_eq!(plain(&quoted), "words");
        assert_eq!(plain(&"<!--".repeat(100_000)), "");
        assert_eq!(plain(&("&".repeat(100_000) + "x")).len(), 100_001);
    }

    #[test]
    fn a_page_says_how_it_is_encoded() {
        assert_eq!(
            charset("text/html; charset=\"Windows-1251\""),
            Some(WINDOWS_1251)
        );
        assert_eq!(charset("text/html; charset=nonsense"), None);
        assert_eq!(charset("text/html"), None);
        let page = |meta: &str| format!("<html><META {meta}><p>夜の電車");
        let metas = ["charset=Shift_JIS", "content=\"text/html; charset=x-sjis\""];
        let declared = "<?xml version='1.0' encoding='Shift_JIS'?><html><p>夜の電車";
        for meta in metas.map(page).into_iter().chain([declared.to_owned()]) {
            let (bytes, _, _) = SHIFT_JIS.encode(&meta);
            let decoded = text(&bytes, None);
            assert_eq!(
                (decoded.text.as_str(), decoded.encoding),
                ("夜の電車", "Shift_JIS")
            );
            // A UTF-8 page that was re-encoded still declares its old encoding.
            assert_eq!(text(meta.as_bytes(), None).encoding, "UTF-8");
        }
        let (bytes, _, _) = WINDOWS_1251.encode("<p>ночь");
        assert_eq!(text(&bytes, Some(WINDOWS_1251)).text, "ночь");
    }
}
