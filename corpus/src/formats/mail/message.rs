//! The text of a mail message.

use encoding_rs::UTF_8;
use mail_parser::{Message, MessageParser, MessagePart, PartType};

use crate::decode::{Decoded, is_wordless};
use crate::formats::record::Record;
use crate::formats::web::html;
use crate::options::Options;
use crate::skipped::RecordFault;

/// The header with a message's key.
const ID: &str = "Message-ID";

/// Returns the text of a message's body, without headers and attachments: the plain text, or that of the page where there
/// is no plain one.
///
/// # Errors
///
/// It has no headers.
pub(crate) fn record(bytes: &[u8], options: &Options) -> Result<Record, RecordFault> {
    let parsed = MessageParser::default().parse(bytes);
    let message = parsed.filter(|message| !message.headers().is_empty());
    let fault = "it begins with no header, so it is no mail message";
    let message = message.ok_or_else(|| RecordFault::bad(fault))?;
    let mut text = joined(message.text_bodies(), options.quoted);
    if is_wordless(&text) {
        text = joined(message.html_bodies(), options.quoted);
    }
    let id = id(&message, options.id_field.as_deref().unwrap_or(ID));
    let is_replaced = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
    Ok(Record {
        is_lossy: id.as_deref().is_some_and(is_replaced),
        id,
        decoded: Decoded {
            encoding: UTF_8.name(),
            replaced: is_replaced(&text),
            source_hash: is_wordless(&text).then(|| *blake3::hash(bytes).as_bytes()),
            text,
        },
        strings: None,
    })
}

/// The value of a header, without angle brackets.
fn id(message: &Message<'_>, header: &str) -> Option<String> {
    let value = message.header_raw(header.to_owned())?.trim();
    let bare = value.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
    let id = bare.unwrap_or(value);
    (!id.is_empty()).then(|| id.to_owned())
}

/// The texts of parts, with an empty line between two.
fn joined<'m>(parts: impl Iterator<Item = &'m MessagePart<'m>>, quoted: bool) -> String {
    let texts = parts.filter_map(|part| match &part.body {
        PartType::Html(page) => Some(html::text(page.as_bytes(), Some(UTF_8)).text),
        PartType::Text(text) if quoted => Some(text.clone().into_owned()),
        PartType::Text(text) => {
            let own = text
                .split_inclusive('\n')
                .filter(|line| !line.starts_with('>'));
            Some(own.collect())
        }
        _ => None,
    });
    texts.collect::<Vec<String>>().join("\n\n")
}
