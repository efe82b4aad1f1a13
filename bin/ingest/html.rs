//! The text of a page, as a reader would see it.

use std::convert::Infallible;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use crate::ingest::decode::{Decoded, Mark, decode};

/// The text of a page. `given` is its encoding as it is known from elsewhere; else it is the one
/// that the page names, unless it is UTF-8 all the same.
pub(crate) fn text(bytes: &[u8], given: Option<&'static Encoding>) -> Decoded {
    let named = given.or_else(|| named_encoding(bytes));
    let is_utf8 = !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
    let is_known = Mark::of(bytes).is_some() || is_utf8;
    let decoded = decode(bytes, named.filter(|_| !is_known));
    Decoded {
        text: plain(&decoded.text),
        encoding: decoded.encoding,
        replaced: decoded.replaced,
    }
}

/// The encoding that the beginning of a page says it is in.
fn named_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    /// As much as browsers look at.
    const LOOKED_AT: usize = 1024;
    let head = bytes.get(..LOOKED_AT).unwrap_or(bytes).to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head);
    let metas = head.split("<meta").skip(1);
    let mut tags = metas.filter_map(|meta| meta.split('>').next());
    tags.find_map(charset)
}

/// The encoding that a header or tag names behind `charset=`.
pub(crate) fn charset(header: &str) -> Option<&'static Encoding> {
    const NAME: &str = "charset";
    let lower = header.to_ascii_lowercase();
    let rest = lower[lower.find(NAME)? + NAME.len()..].trim_start();
    let rest = rest.strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| "\"';>/ \t".contains(c));
    let encoding =
        Encoding::for_label_no_replacement(&rest.as_bytes()[..end.unwrap_or(rest.len())]);
    // What could be read so far is not UTF-16.
    encoding.map(|encoding| {
        let is_wide = [UTF_16LE, UTF_16BE].contains(&encoding);
        if is_wide { UTF_8 } else { encoding }
    })
}

/// The text of HTML without its tags: a line for each block, white space as it is shown.
fn plain(html: &str) -> String {
    let mut page = Page::default();
    let callback = |event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        page.take(&event);
        None
    };
    let mut emitter = CallbackEmitter::new(callback);
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    page.text.truncate(page.text.trim_end().len());
    page.text
}

/// A page that is being read.
#[derive(Debug, Default)]
struct Page {
    text: String,
    /// The element whose content is not shown.
    hidden: Option<&'static [u8]>,
    /// White space is to come before the next character.
    is_apart: bool,
}

impl Page {
    fn take(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => {
                if self.hidden.is_none() {
                    self.hidden = HIDDEN.into_iter().find(|hidden| *hidden == name);
                }
                self.border(name);
            }
            CallbackEvent::EndTag { name } => {
                if self.hidden == Some(name) {
                    self.hidden = None;
                }
                self.border(name);
            }
            CallbackEvent::String { value } if self.hidden.is_none() => {
                self.push(&String::from_utf8_lossy(value));
            }
            _ => {}
        }
    }

    /// Begins a line where a block begins or ends.
    fn border(&mut self, name: &[u8]) {
        if INLINE.contains(&name) || self.text.is_empty() || self.text.ends_with('\n') {
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
            self.text.push(character);
        }
    }
}

/// Elements whose content is not shown.
const HIDDEN: [&[u8]; 7] = [
    b"iframe",
    b"noembed",
    b"noframes",
    b"noscript",
    b"script",
    b"style",
    b"template",
];

/// Elements that do not begin a line.
const INLINE: [&[u8]; 36] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del",
    b"dfn", b"em", b"font", b"i", b"img", b"ins", b"kbd", b"label", b"mark", b"nobr", b"q", b"rp",
    b"rt", b"ruby", b"s", b"samp", b"small", b"span", b"strike", b"strong", b"sub", b"sup", b"u",
    b"var", b"wbr",
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
    fn deep_and_long_pages_take_no_longer_than_others() {
        let deep = "<div>".repeat(200_000) + "x";
        assert_eq!(plain(&deep), "x");
        let attributes = (0..100_000).map(|index| format!(" a{index}"));
        let long = format!("<p{}>x", attributes.collect::<String>());
        assert_eq!(plain(&long), "x");
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
        for meta in metas.map(page) {
            let (bytes, _, _) = SHIFT_JIS.encode(&meta);
            let decoded = text(&bytes, None);
            assert_eq!(
                (decoded.text.as_str(), decoded.encoding),
                ("夜の電車", "Shift_JIS")
            );
            // A page that is UTF-8 was saved anew and kept its name for another encoding.
            assert_eq!(text(meta.as_bytes(), None).encoding, "UTF-8");
        }
        let (bytes, _, _) = WINDOWS_1251.encode("<p>ночь");
        assert_eq!(text(&bytes, Some(WINDOWS_1251)).text, "ночь");
    }
}
