//! The text of a mail message.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::{Encoding, UTF_8};
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::transfer;
use crate::decode::{self, Decoded, is_wordless};
use crate::formats::record::Record;
use crate::formats::web::html;
use crate::options::Options;
use crate::skipped::RecordFault;

/// The header with a message's key.
const ID: &str = "Message-ID";

/// Plain text of more bytes than this is not what programs write that can only write pages.
const LONGEST_STUB: usize = 10_000;

/// Returns the text of a message's body, without headers and attachments: the plain text, or that of the page where there
/// is no plain one, or one that says less than half as much, or something else.
///
/// # Errors
///
/// It has no headers.
pub(crate) fn record(bytes: &[u8], options: &Options) -> Result<Record, RecordFault> {
    let fault = "it begins with no header, so it is no mail message";
    let message = parsed(bytes).ok_or_else(|| RecordFault::bad(fault))?;
    let ends = missing_ends(&message, bytes);
    if ends.is_empty() {
        return Ok(record_of(&message, bytes, options));
    }
    let closed = [bytes, &ends].concat();
    let message = parsed(&closed).ok_or_else(|| RecordFault::bad(fault))?;
    let mut record = record_of(&message, &closed, options);
    // Parts may stand behind an end that is missing within another list, and nobody sees them.
    let outermost = message.parts.first().and_then(boundary_of);
    if outermost.is_some_and(|boundary| end_of(boundary).as_bytes() == ends) {
        return Ok(record);
    }
    let whole = *blake3::hash(bytes).as_bytes();
    record.decoded.attachments = Some(Box::new(whole));
    record.decoded.source_hash = record.decoded.source_hash.map(|_| whole);
    Ok(record)
}

/// The record of a parsed message.
fn record_of(message: &Message<'_>, bytes: &[u8], options: &Options) -> Record {
    let text = body(message, bytes, options);
    let id = id(message, options.id_field.as_deref().unwrap_or(ID));
    let is_replaced = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
    Record {
        is_lossy: id.as_deref().is_some_and(is_replaced),
        id,
        decoded: Decoded {
            encoding: UTF_8.name(),
            replaced: is_replaced(&text),
            source_hash: is_wordless(&text).then(|| *blake3::hash(bytes).as_bytes()),
            attachments: attachments(message),
            text,
        },
        strings: None,
    }
}

fn parsed(bytes: &[u8]) -> Option<Message<'_>> {
    let parsed = MessageParser::default().parse(bytes);
    parsed.filter(|message| !message.headers().is_empty())
}

/// The ends of the lists of parts that have none, as in a message that was cut off. Without them, the parser drops the last
/// part.
fn missing_ends(message: &Message<'_>, bytes: &[u8]) -> Vec<u8> {
    let lists = message.parts.iter().rev();
    let boundaries = lists.filter_map(boundary_of);
    let mut ends = Vec::new();
    for boundary in boundaries {
        let end = end_of(boundary);
        let is_end = |line: &[u8]| line.starts_with(end.trim().as_bytes());
        if !bytes.rsplit(|&byte| byte == b'\n').any(is_end) {
            ends.extend_from_slice(end.as_bytes());
        }
    }
    ends
}

/// The line that ends a list of parts.
fn end_of(boundary: &str) -> String {
    format!("\r\n--{boundary}--\r\n")
}

fn boundary_of<'m>(part: &'m MessagePart<'_>) -> Option<&'m str> {
    part.content_type()?.attribute("boundary")
}

/// The text of the body. If no part of it is text that is shown, that of any other text, or what stands behind the headers.
fn body(message: &Message<'_>, raw: &[u8], options: &Options) -> String {
    let plain = joined(message.text_bodies(), raw, options);
    if plain.len() <= LONGEST_STUB {
        let page = joined(message.html_bodies(), raw, options);
        let words = |text: &str| text.split_whitespace().count();
        let (of_page, of_plain) = (words(&page), words(&plain));
        if of_page > 2 * of_plain || 2 * of_page > of_plain && says_other(&page, &plain) {
            return page;
        }
    }
    if !is_wordless(&plain) {
        return plain;
    }
    let others = message.parts.iter();
    let other = joined(others.filter(|part| !is_attachment(part)), raw, options);
    if !is_wordless(&other) {
        return other;
    }
    let is_one = message.parts.len() <= 1 && message.attachments.is_empty();
    let is_page = |part: &MessagePart<'_>| matches!(part.body, PartType::Html(_));
    match message
        .parts
        .first()
        .filter(|part| is_one && !is_page(part))
    {
        Some(part) => {
            let bytes = contents(part, raw);
            trimmed(&decode::decode(&bytes, options.given_encoding()).text).to_owned()
        }
        None => plain,
    }
}

/// Whether most words of a page are not in the plain text, such as one that only says that there is a page.
fn says_other(page: &str, plain: &str) -> bool {
    let words = |text: &'_ str| -> HashSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let plain = words(plain);
    let page = words(page);
    2 * page.intersection(&plain).count() < page.len()
}

fn is_attachment(part: &MessagePart<'_>) -> bool {
    let disposition = part.content_disposition();
    disposition.is_some_and(mail_parser::ContentType::is_attachment)
}

/// The value of a header, without angle brackets.
fn id(message: &Message<'_>, header: &str) -> Option<String> {
    let value = message.header_raw(header.to_owned())?.trim();
    let bare = value.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
    let id = bare.unwrap_or(value);
    (!id.is_empty()).then(|| id.to_owned())
}

/// The hash of what a message has besides its body, if it has anything.
fn attachments(message: &Message<'_>) -> Option<Box<[u8; 32]>> {
    let is_of_body =
        |place: &u32| message.text_body.contains(place) || message.html_body.contains(place);
    let mut hasher = blake3::Hasher::new();
    for place in &message.attachments {
        let Some(part) = message.part(*place) else {
            continue;
        };
        // A picture that is shown between two texts is none of them.
        if !(part.is_text() && is_of_body(place)) {
            hasher.update(blake3::hash(part.contents()).as_bytes());
        }
        // A file that is elsewhere is named in the header of its part.
        if part.is_content_type("message", "external-body") {
            let header = part.offset_header as usize..part.offset_body as usize;
            hasher.update(message.raw_message.get(header).unwrap_or_default());
        }
    }
    for text in around_parts(message) {
        hasher.update(blake3::hash(text).as_bytes());
    }
    (hasher.count() > 0).then(|| Box::new(*hasher.finalize().as_bytes()))
}

/// What stands before the first part of a message and behind the last one, if that is more than white space. No program
/// shows it, but it may be a message of a mailbox that was not told from the one before it.
fn around_parts<'m>(message: &'m Message<'_>) -> Vec<&'m [u8]> {
    let list = message.parts.first();
    let boundary = list.and_then(boundary_of);
    let Some((list, boundary)) = list.zip(boundary) else {
        return Vec::new();
    };
    let bytes = &message.raw_message[..];
    let bytes = bytes.get(list.offset_body as usize..).unwrap_or_default();
    let line = format!("--{boundary}");
    let end = format!("{line}--");
    let (mut at, mut first, mut behind) = (0, None, None);
    for part in bytes.split_inclusive(|&byte| byte == b'\n') {
        if part.starts_with(line.as_bytes()) {
            first.get_or_insert(at);
        }
        at += part.len();
        if part.starts_with(end.as_bytes()) {
            behind.get_or_insert(at);
        }
    }
    let texts = [&bytes[..first.unwrap_or(0)], &bytes[behind.unwrap_or(at)..]];
    let texts = texts.map(<[u8]>::trim_ascii);
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

/// The texts of parts, with an empty line between two.
fn joined<'m>(
    parts: impl Iterator<Item = &'m MessagePart<'m>>,
    raw: &[u8],
    options: &Options,
) -> String {
    let texts = parts.filter_map(|part| {
        let (bytes, charset) = (contents(part, raw), charset(part));
        let given = charset.or(options.given_encoding());
        match &part.body {
            PartType::Html(page) if is_foreign(part) => {
                Some(html::text(page.as_bytes(), Some(UTF_8)).text)
            }
            PartType::Html(_) => Some(html::text(&bytes, given).text),
            PartType::Text(text) if is_foreign(part) => Some(text.clone().into_owned()),
            PartType::Text(_) => Some(decode::decode(&bytes, given).text.into_owned()),
            _ => None,
        }
    });
    let texts = texts.map(|text| {
        let quoted = |line: &&str| line.starts_with('>') && !options.quoted;
        let lines = text.split_inclusive('\n').filter(|line| !quoted(line));
        let text = lines.collect::<String>();
        trimmed(&text).to_owned()
    });
    texts.collect::<Vec<String>>().join("\n\n")
}

/// A text without line ends behind it, which programs add and take away.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

/// The bytes of a part, without the encoding of their transfer. Behind a part in Base64, lists and companies add plain text.
fn contents<'r>(part: &MessagePart<'_>, raw: &'r [u8]) -> Cow<'r, [u8]> {
    let bytes = raw.get(part.offset_body as usize..part.offset_end as usize);
    let bytes = bytes.unwrap_or_default();
    let transfer = part.content_transfer_encoding().unwrap_or_default().trim();
    if transfer.eq_ignore_ascii_case("base64") {
        Cow::Owned(transfer::base64(bytes))
    } else if transfer.eq_ignore_ascii_case("quoted-printable") {
        Cow::Owned(transfer::quoted_printable(bytes))
    } else {
        Cow::Borrowed(bytes)
    }
}

/// The encoding that a part names, if it is one that other files have, too.
fn charset(part: &MessagePart<'_>) -> Option<&'static Encoding> {
    let label = part.content_type()?.attribute("charset")?;
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// Whether a part names an encoding that only mail has.
fn is_foreign(part: &MessagePart<'_>) -> bool {
    let label = part.content_type().and_then(|it| it.attribute("charset"));
    label.is_some_and(|label| {
        let is_known = mail_parser::decoders::charsets::map::charset_decoder(label.as_bytes());
        is_known.is_some() && Encoding::for_label_no_replacement(label.as_bytes()).is_none()
    })
}
