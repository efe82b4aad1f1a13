//! HTML as tags and the text between them, in one pass.
//!
//! This follows the tokenizer of the HTML standard wherever that decides where text begins and ends, and ignores the
//! contents of attributes and comments. **Invariant: no recursion, and no byte is examined more than a few times**,
//! whatever the page contains. Libraries recurse once per attribute, or compare each attribute with all others.

/// A piece of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkupPiece<'a> {
    /// Characters with unresolved references such as `&amp;`.
    Text(&'a str),
    /// Characters that stand for themselves.
    Raw(&'a str),
    /// The name of a start tag, as written.
    Start(&'a str),
    /// The name of an end tag, or of an empty element in XML, as written.
    End(&'a str),
}

/// The pieces of a page. Constructs that are not closed at its end are left out.
#[derive(Clone, Debug)]
pub(crate) struct MarkupPieces<'a> {
    html: &'a str,
    at: usize,
    content: ContentModel<'a>,
    /// The tag or raw text after the text that was just returned.
    after: Option<MarkupPiece<'a>>,
    /// Whether a slash before `>` ends an element, and CDATA sections are text.
    is_xml: bool,
    /// The number of open drawings (SVG) and formulas, in which these rules of XML hold, too.
    foreign: usize,
}

/// What a CDATA section begins with.
const CDATA: &str = "<![CDATA[";

/// What it ends with.
const CDATA_END: &str = "]]>";

/// Whether a page says before its head that it is XHTML.
fn is_xml(html: &str) -> bool {
    const DOCTYPE: &str = "//DTD XHTML";
    const NAMESPACE: &str = "http://www.w3.org/1999/xhtml";
    let start = html.split("<head").next().unwrap_or_default();
    start.trim_start().starts_with("<?xml") || start.contains(DOCTYPE) || start.contains(NAMESPACE)
}

/// The kind of text that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentModel<'a> {
    /// Text among elements.
    Data,
    /// Text up to the end tag of this name, without elements.
    Until { name: &'a str, has_references: bool },
    /// A script, which may hide its end tag in comments.
    Script,
    /// Text to the end of the page.
    Plain,
}

/// Whether comments hide the content of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    No,
    /// Within `<!--`.
    Once,
    /// Within `<!-- <script>`.
    Twice,
}

impl<'a> MarkupPieces<'a> {
    pub(crate) fn new(html: &'a str) -> MarkupPieces<'a> {
        MarkupPieces {
            html,
            at: 0,
            content: ContentModel::Data,
            after: None,
            is_xml: is_xml(html),
            foreign: 0,
        }
    }

    fn follows_xml(&self) -> bool {
        self.is_xml || self.foreign > 0
    }

    /// Returns the bytes from `at` on.
    fn rest(&self, at: usize) -> &'a [u8] {
        &self.html.as_bytes()[at..]
    }

    /// Returns the next place of `byte` from `at` on, or the end.
    fn place_of(&self, byte: u8, at: usize) -> usize {
        let found = self.rest(at).iter().position(|&found| found == byte);
        found.map_or(self.html.len(), |found| at + found)
    }

    /// Returns the place of the first byte from `at` on that satisfies `is_end`, or the end.
    fn place_where(&self, at: usize, is_end: impl Fn(u8) -> bool) -> usize {
        let found = self.rest(at).iter().position(|&byte| is_end(byte));
        found.map_or(self.html.len(), |found| at + found)
    }

    /// Reads text among elements, and the tag after it.
    fn data(&mut self) -> MarkupPiece<'a> {
        let start = self.at;
        loop {
            let open = self.place_of(b'<', self.at);
            self.at = match self.rest(open) {
                [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                    self.take_tag(open + 2, MarkupPiece::End)
                }
                [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                    self.take_tag(open + 1, MarkupPiece::Start)
                }
                [b'<', b'!', b'-', b'-', ..] => self.comment_end(open),
                rest if self.follows_xml() && rest.starts_with(CDATA.as_bytes()) => {
                    self.take_cdata(open)
                }
                // A doctype, a bogus comment, or a tag without a name.
                [b'<', b'!' | b'?', ..] | [b'<', b'/', _, ..] => self.past(b'>', open),
                [_, ..] => {
                    self.at = open + 1;
                    continue;
                }
                [] => open,
            };
            return MarkupPiece::Text(&self.html[start..open]);
        }
    }

    /// Returns the place after the next `byte` from `at` on.
    fn past(&self, byte: u8, at: usize) -> usize {
        self.html.len().min(self.place_of(byte, at) + 1)
    }

    /// Returns the place after the comment that begins at `open`.
    fn comment_end(&self, open: usize) -> usize {
        let inside = open + b"<!--".len();
        let rest = self.rest(inside);
        if rest.starts_with(b">") {
            return inside + 1;
        }
        if rest.starts_with(b"->") {
            return inside + 2;
        }
        let mut at = inside;
        loop {
            at = self.place_of(b'-', at);
            match self.rest(at) {
                [] => return at,
                [b'-', b'-', b'>', ..] => return at + 3,
                [b'-', b'-', b'!', b'>', ..] => return at + 4,
                _ => at += 1,
            }
        }
    }

    /// Reads the tag whose name begins at `name`, to be returned next. Returns the place where it ends.
    fn take_tag(&mut self, name: usize, piece: fn(&'a str) -> MarkupPiece<'a>) -> usize {
        let name_end = self.place_where(name, ends_name);
        let Some(end) = self.tag_end(name_end) else {
            return self.html.len();
        };
        let name = &self.html[name..name_end];
        let is_root = ["svg", "math"]
            .iter()
            .any(|it| name.eq_ignore_ascii_case(it));
        let is_empty = (self.follows_xml() || is_root) && self.html[..end].ends_with("/>");
        let tag = if is_empty {
            MarkupPiece::End(name)
        } else {
            piece(name)
        };
        if is_root && !is_empty {
            self.foreign = match tag {
                MarkupPiece::Start(_) => self.foreign + 1,
                _ => self.foreign.saturating_sub(1),
            };
        }
        self.after = Some(tag);
        self.content = match tag {
            MarkupPiece::Start(name) => ContentModel::of(name),
            _ => ContentModel::Data,
        };
        end
    }

    /// Reads the CDATA section that begins at `open`, to be returned next. Returns the place where it ends.
    fn take_cdata(&mut self, open: usize) -> usize {
        let inside = &self.html[open + CDATA.len()..];
        let (text, end) = inside.split_once(CDATA_END).unwrap_or((inside, ""));
        self.after = Some(MarkupPiece::Raw(text));
        self.html.len() - end.len()
    }

    /// Returns the place after the `>` of the tag whose attributes begin at `at`, unless the page ends before.
    fn tag_end(&self, mut at: usize) -> Option<usize> {
        let bytes = self.html.as_bytes();
        loop {
            at = self.place_where(at, |byte| !is_space(byte) && byte != b'/');
            if *bytes.get(at)? == b'>' {
                return Some(at + 1);
            }
            // A name may begin with `=`.
            at = self.place_where(at + 1, |byte| ends_name(byte) || byte == b'=');
            let next = self.place_where(at, |byte| !is_space(byte));
            if *bytes.get(next)? != b'=' {
                at = next;
                continue;
            }
            at = self.place_where(next + 1, |byte| !is_space(byte));
            at = match *bytes.get(at)? {
                b'>' => return Some(at + 1),
                quote @ (b'"' | b'\'') => self.place_of(quote, at + 1) + 1,
                _ => self.place_where(at, |byte| is_space(byte) || byte == b'>'),
            };
            at = at.min(bytes.len());
        }
    }

    /// Reads text up to an end tag, if one was found, and the tag.
    fn until(
        &mut self,
        end: Option<usize>,
        piece: fn(&'a str) -> MarkupPiece<'a>,
    ) -> MarkupPiece<'a> {
        let start = self.at;
        let end = end.unwrap_or(self.html.len());
        self.content = ContentModel::Data;
        self.at = end;
        if end < self.html.len() {
            self.at = self.take_tag(end + b"</".len(), MarkupPiece::End);
        }
        piece(&self.html[start..end])
    }

    /// Returns the place where the end tag of `name` begins.
    fn end_tag(&self, name: &str) -> Option<usize> {
        let mut at = self.at;
        loop {
            at = self.place_of(b'<', at);
            if at == self.html.len() {
                return None;
            }
            if is_end_tag(self.rest(at), name) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Returns the place where the end tag of a script begins.
    fn script_end(&self) -> Option<usize> {
        const NAME: &str = "script";
        let (mut at, mut escape) = (self.at, Escape::No);
        loop {
            at = self.place_where(at, |byte| byte == b'<' || byte == b'-');
            let rest = self.rest(at);
            let is_start = || rest.get(1..).is_some_and(|rest| is_name(rest, NAME));
            match (escape, rest) {
                (_, []) => return None,
                (Escape::Once | Escape::Twice, [b'-', b'-', b'>', ..]) => escape = Escape::No,
                // These dashes may also be the first of `-->`.
                (Escape::No, [b'<', b'!', b'-', b'-', ..]) => {
                    escape = Escape::Once;
                    at += 1;
                }
                (Escape::Twice, _) if is_end_tag(rest, NAME) => escape = Escape::Once,
                (Escape::No | Escape::Once, _) if is_end_tag(rest, NAME) => return Some(at),
                (Escape::Once, [b'<', ..]) if is_start() => escape = Escape::Twice,
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'a> Iterator for MarkupPieces<'a> {
    type Item = MarkupPiece<'a>;

    fn next(&mut self) -> Option<MarkupPiece<'a>> {
        if let Some(piece) = self.after.take() {
            return Some(piece);
        }
        if self.at == self.html.len() {
            return None;
        }
        Some(match self.content {
            ContentModel::Data => self.data(),
            ContentModel::Until {
                name,
                has_references,
            } => {
                let piece = if has_references {
                    MarkupPiece::Text
                } else {
                    MarkupPiece::Raw
                };
                self.until(self.end_tag(name), piece)
            }
            ContentModel::Script => self.until(self.script_end(), MarkupPiece::Raw),
            ContentModel::Plain => self.until(None, MarkupPiece::Raw),
        })
    }
}

impl<'a> ContentModel<'a> {
    /// Returns the kind of text that follows the start tag of `name`.
    fn of(name: &'a str) -> ContentModel<'a> {
        let is = |others: &[&str]| others.iter().any(|other| name.eq_ignore_ascii_case(other));
        let has_references = is(&["textarea", "title"]);
        if has_references || is(&["iframe", "noembed", "noscript", "style", "xmp"]) {
            ContentModel::Until {
                name,
                has_references,
            }
        } else if is(&["script"]) {
            ContentModel::Script
        } else if is(&["plaintext"]) {
            ContentModel::Plain
        } else {
            ContentModel::Data
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Whether the name of a tag or an attribute ends before `byte`.
fn ends_name(byte: u8) -> bool {
    is_space(byte) || byte == b'/' || byte == b'>'
}

/// Whether `rest` begins with exactly `name`, ignoring ASCII case.
fn is_name(rest: &[u8], name: &str) -> bool {
    let found = rest.get(..name.len());
    found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        && rest.get(name.len()).is_some_and(|&byte| ends_name(byte))
}

/// Whether `rest` begins with the end tag of `name`.
fn is_end_tag(rest: &[u8], name: &str) -> bool {
    rest.strip_prefix(b"</")
        .is_some_and(|rest| is_name(rest, name))
}
