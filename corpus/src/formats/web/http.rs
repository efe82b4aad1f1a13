//! The text of an archived page.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::Encoding;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::decode::{self, Decoded};
use crate::formats::record::Record;
use crate::formats::web::html;
use crate::formats::web::warc::{WarcRecord, no_page};
use crate::options::Options;
use crate::skipped::RecordFault;

/// Returns the record of a page.
///
/// # Errors
///
/// The block is not a page, or is malformed.
pub(crate) fn record(block: WarcRecord, options: &Options) -> Result<Record, RecordFault> {
    let decoded = if block.is_response {
        response(&block.bytes, options)?
    } else {
        text(&block.bytes, &block.content_type, options.given_encoding())?
    };
    Ok(Record {
        is_lossy: block.is_lossy,
        id: block.id,
        decoded,
        strings: None,
    })
}

/// Returns the text of bytes of a content type.
fn text(
    bytes: &[u8],
    content_type: &str,
    given: Option<&'static Encoding>,
) -> Result<Decoded, RecordFault> {
    let given = given.or_else(|| html::charset(content_type));
    let kind = content_type
        .split([';', ','])
        .next()
        .unwrap_or_default()
        .trim();
    let kind = if kind.is_empty() && begins_as_page(bytes) {
        "text/html"
    } else {
        kind
    };
    // Servers call anything a page.
    let check = || {
        let checked = decode::check_page(bytes, given);
        checked.map_err(|fault| no_page(&format!("content of type {kind:?}: {}", fault.detail)))
    };
    match kind {
        "text/html" | "application/xhtml+xml" => {
            check()?;
            Ok(html::text(bytes, given))
        }
        "text/plain" => {
            check()?;
            // Text that servers call plain is UTF-8 more often than what they declare.
            let given = given.filter(|_| std::str::from_utf8(bytes).is_err());
            Ok(decode::decode(bytes, given).into_owned())
        }
        _ => Err(no_page(&format!("content of type {kind:?}"))),
    }
}

/// Whether bytes without a type begin as a page does (MIME Sniffing Standard, section 7.1).
fn begins_as_page(bytes: &[u8]) -> bool {
    const TAGS: [&[u8]; 17] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
    ];
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    TAGS.iter().any(|tag| {
        let start = bytes.get(..tag.len());
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag))
            && (*tag == b"<!--" || bytes.get(tag.len()).is_some_and(is_end))
    })
}

/// Returns the text of an HTTP response.
fn response(bytes: &[u8], options: &Options) -> Result<Decoded, RecordFault> {
    let unended = || RecordFault::bad("its HTTP header has no end");
    let (mut head, mut body) = split(bytes).ok_or_else(unended)?;
    // What is said before the answer, such as `100 Continue`.
    while is_interim(head) {
        (head, body) = split(body).ok_or_else(unended)?;
    }
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let header = |name: &str| {
        let headers = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = headers.filter(|(found, _)| found.trim() == name);
        found.next().map_or("", |(_, value)| value.trim())
    };
    let status = head.split_ascii_whitespace().nth(1).unwrap_or_default();
    if !status.starts_with('2') {
        return Err(no_page(&format!("a response of status {status:?}")));
    }
    let whole;
    if header("transfer-encoding").contains("chunked")
        && let Some(joined) = unchunked(body)
    {
        whole = joined;
        body = &whole;
    }
    let body = decompressed(body, header("content-encoding"), options.max_record())?;
    text(&body, header("content-type"), options.given_encoding())
}

fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|&byte| byte == b' ').nth(1);
    head.starts_with(b"HTTP/") && status.is_some_and(|status| status.starts_with(b"1"))
}

/// Splits a response into head and body.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let end = start + line.len();
        if line.trim_ascii().is_empty() {
            return Some((&bytes[..start], &bytes[end..]));
        }
        start = end;
    }
    None
}

/// Joins the chunks of a body. Returns `None` if there are none: some archives remove the chunking but keep the header.
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let end = body.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&body[..end]).ok()?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16).ok()?;
        body = &body[end + 1..];
        if length == 0 {
            return Some(whole);
        }
        // A truncated body yields what there is.
        let (chunk, rest) = body.split_at(length.min(body.len()));
        whole.extend_from_slice(chunk);
        body = rest.strip_prefix(b"\r").unwrap_or(rest);
        body = body.strip_prefix(b"\n").unwrap_or(body);
        if body.is_empty() {
            return Some(whole);
        }
    }
}

/// Returns the decompressed body, up to `limit` bytes.
fn decompressed<'a>(
    body: &'a [u8],
    coding: &str,
    limit: u64,
) -> Result<Cow<'a, [u8]>, RecordFault> {
    let decoder: Box<dyn Read + 'a> = match coding {
        // Some archives decompress the body but keep the header.
        "gzip" | "x-gzip" if body.starts_with(&[0x1f, 0x8b]) => Box::new(MultiGzDecoder::new(body)),
        "deflate" if body.first().is_some_and(|first| first & 0xf == 8) => {
            Box::new(ZlibDecoder::new(body))
        }
        "deflate" => Box::new(DeflateDecoder::new(body)),
        "zstd" => {
            let decoder = zstd::Decoder::with_buffer(body);
            Box::new(decoder.map_err(|error| damaged(&error))?)
        }
        // Some servers name an encoding of characters here.
        "" | "identity" | "none" | "utf-8" | "gzip" | "x-gzip" => return Ok(Cow::Borrowed(body)),
        other => {
            let what = format!("its content is compressed with {other:?}, which is not read");
            return Err(RecordFault::bad(what));
        }
    };
    let mut bytes = Vec::new();
    let mut limited = decoder.take(limit.saturating_add(1));
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| damaged(&error))?;
    if bytes.len() as u64 > limit {
        return Err(RecordFault::too_large());
    }
    Ok(Cow::Owned(bytes))
}

fn damaged(error: &io::Error) -> RecordFault {
    RecordFault::bad(format!("its compressed content is damaged: {error}"))
}
