//! The messages of a mailbox in one file (mbox, RFC 4155), each behind a line that begins with `From `.
//!
//! Programs differ in what they do about such lines in bodies. They put `>` before them (mboxo), also before those that have
//! it (mboxrd), or write the length of the body into a header, with the `>` (mboxcl) or without (mboxcl2).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::mem::take;
use std::path::Path;

use super::look_ahead::LookAhead;
use crate::decode::{MARK, without_mark};
use crate::formats::record::RawRecord;
use crate::options::Options;
use crate::skipped::{Nth, RecordFault};
use crate::walk::folder::starts_with;

/// What the line before a message begins with.
const FROM: &[u8; 5] = b"From ";

/// How the weekdays of that line are written.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// How the months are written.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The header with the number of bytes of a body.
const LENGTH: &str = "content-length:";

/// The usual first headers of messages.
const HEADERS: [&str; 19] = [
    "authentication-results",
    "bcc",
    "cc",
    "date",
    "delivered-to",
    "dkim-signature",
    "envelope-to",
    "from",
    "in-reply-to",
    "message-id",
    "mime-version",
    "received",
    "references",
    "reply-to",
    "return-path",
    "sender",
    "status",
    "subject",
    "to",
];

/// The bytes of a line that are read at a time.
const PIECE: u64 = 1 << 16;

/// The messages of a mailbox.
pub(crate) struct MboxMessages<R> {
    reader: LookAhead<R>,
    limit: u64,
    number: u64,
    is_verbatim: bool,
    /// The line before the next message, once it is reached.
    from: Vec<u8>,
    /// The line after one that may stand before a message.
    following: Option<Vec<u8>>,
}

/// A message so far.
#[derive(Default)]
struct MessageBytes {
    /// All bytes, with the line before them.
    verbatim: Vec<u8>,
    /// Without that line, and without escapes.
    body: Vec<u8>,
    /// The number of all bytes, also of those beyond the limit.
    length: u64,
}

impl<R: BufRead> MboxMessages<R> {
    /// Reads a mailbox.
    pub(crate) fn new(reader: R, options: &Options) -> MboxMessages<R> {
        MboxMessages {
            reader: LookAhead::new(reader),
            limit: options.max_record(),
            number: 0,
            is_verbatim: options.verbatim,
            from: Vec::new(),
            following: None,
        }
    }

    fn read(&mut self) -> io::Result<Option<RawRecord<Vec<u8>>>> {
        let from = take(&mut self.from);
        let has_begun = !from.is_empty();
        let mut message = MessageBytes {
            length: from.len() as u64,
            verbatim: from,
            ..MessageBytes::default()
        };
        self.read_to_next(&mut message)?;
        if message.length == 0 && self.from.is_empty() {
            return Ok(None);
        }
        if !has_begun && message.body.trim_ascii().is_empty() {
            return self.read();
        }
        self.number += 1;
        let body = if !has_begun {
            Err(RecordFault::bad(
                "no message begins here: no line `From `, with a sender and a time",
            ))
        } else if message.length > self.limit {
            Err(RecordFault::too_large())
        } else {
            Ok(message.body)
        };
        let is_kept = self.is_verbatim && body.is_ok();
        Ok(Some(RawRecord {
            nth: Nth::Record(self.number),
            bytes: message.length,
            verbatim: if is_kept {
                message.verbatim
            } else {
                Vec::new()
            },
            body,
        }))
    }

    /// Reads up to the line before the next message, or to the end.
    fn read_to_next(&mut self, message: &mut MessageBytes) -> io::Result<()> {
        // Only the start of the file needs no empty line. Long lines come in pieces.
        let (mut is_after_empty, mut is_at_start) = (self.number == 0, true);
        // The length of the body that the headers tell, and the bytes of it in which no message begins.
        let has_begun = message.length > 0;
        let (mut is_in_headers, mut told, mut whole) = (has_begun, None, 0_usize);
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
                return Ok(());
            }
            let may_separate = is_at_start && whole == 0 && line.starts_with(FROM);
            if may_separate && self.separates(&line, is_after_empty, has_begun)? {
                self.from = line;
                return Ok(());
            }
            message.length += line.len() as u64;
            if message.length <= self.limit {
                let is_escaped = is_at_start && is_escaped(&line);
                message
                    .body
                    .extend_from_slice(&line[usize::from(is_escaped)..]);
                if self.is_verbatim {
                    message.verbatim.extend_from_slice(&line);
                }
            }
            is_after_empty = is_at_start && line.trim_ascii().is_empty();
            whole = whole.saturating_sub(line.len());
            if is_in_headers && is_after_empty {
                is_in_headers = false;
                whole = told.filter(|length| self.ends_after(*length)).unwrap_or(0);
            } else if is_in_headers && is_at_start {
                told = told.or_else(|| body_length(&line));
            }
            is_at_start = line.ends_with(b"\n");
        }
    }

    /// Whether a body of this length ends before a line `From ` or at the end of the file. Headers that were copied from
    /// elsewhere tell other lengths.
    fn ends_after(&mut self, length: usize) -> bool {
        const LINE_ENDS: usize = 4;
        if length as u64 > self.limit {
            return false;
        }
        let wanted = length.saturating_add(LINE_ENDS + FROM.len());
        let ahead = self.reader.peek(wanted).unwrap_or_default();
        let Some((body, rest)) = ahead.split_at_checked(length) else {
            return false;
        };
        let is_line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let ends = rest.iter().take_while(is_line_end).count();
        let is_line = ends > 0 || body.is_empty() || body.ends_with(b"\n");
        let is_last = ends == rest.len() && ahead.len() < wanted;
        is_line && rest[ends..].starts_with(FROM) || is_last
    }

    /// Whether a line stands before a message: a header follows, and it has a time, or follows an empty line and begins with a
    /// sender; or one of the usual headers follows, and it follows an empty line or names no more than a sender. What has no
    /// header is part of the message before, if one `has_begun`.
    fn separates(
        &mut self,
        line: &[u8],
        is_after_empty: bool,
        has_begun: bool,
    ) -> io::Result<bool> {
        let is_dated = is_dated(line);
        if is_dated && !has_begun {
            return Ok(true);
        }
        let words = line.split(u8::is_ascii_whitespace);
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        let is_brief = words.len() <= 2;
        let names_sender = is_brief || words[1].contains(&b'@');
        if !is_after_empty && !is_dated && !is_brief {
            return Ok(false);
        }
        let following = self.next_line()?;
        let separates = if is_dated || is_after_empty && names_sender {
            // Systems that passed messages on put such a line before the headers.
            is_header(&following) || is_dated && is_escaped(&following)
        } else {
            is_usual_header(&following)
        };
        self.following = Some(following);
        Ok(separates)
    }

    /// The next line, or a part of it; nothing at the end. The mark that some files begin with is left out.
    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        if let Some(following) = self.following.take() {
            return Ok(following);
        }
        let line = line(&mut self.reader)?;
        let is_first = self.number == 0 && line.starts_with(MARK.as_bytes());
        Ok(if is_first {
            without_mark(&line).to_vec()
        } else {
            line
        })
    }
}

impl<R: BufRead> Iterator for MboxMessages<R> {
    type Item = io::Result<RawRecord<Vec<u8>>>;

    fn next(&mut self) -> Option<io::Result<RawRecord<Vec<u8>>>> {
        self.read().transpose()
    }
}

/// Whether a file begins with a message. Of most files, only the first bytes are read.
pub(crate) fn begins(path: &Path) -> bool {
    let begins = || -> io::Result<bool> {
        let mut reader = BufReader::new(File::open(path)?);
        let first = line(&mut reader)?;
        Ok(begins_with(&first, &line(&mut reader)?))
    };
    path.is_file() && starts_with(path, FROM) && begins().unwrap_or(false)
}

/// Whether a text begins with a message.
pub(crate) fn is_mailbox(text: &str) -> bool {
    let mut lines = text.lines().map(str::as_bytes);
    let mut next = || lines.next().unwrap_or_default();
    let first = next();
    first.starts_with(FROM) && begins_with(first, next())
}

/// Whether these are the first lines of a message of a mailbox, if the first one begins with `From `.
fn begins_with(first: &[u8], second: &[u8]) -> bool {
    is_dated(first) || is_usual_header(second)
}

/// A line, or a part of it, with its end.
fn line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.take(PIECE).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Whether a line has, behind `From ` and a sender, a time as `asctime` or mail writes it, and nothing else. A sentence that
/// begins like that goes on.
fn is_dated(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(FROM.as_slice()) else {
        return false;
    };
    let rest = String::from_utf8_lossy(rest);
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let is_day = |word: &&str| DAYS.contains(&word.trim_end_matches(','));
    let Some(day) = words.iter().position(is_day).filter(|day| *day > 0) else {
        return false;
    };
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_year = |word: &str| word.len() == 4 && is_number(word);
    let is_month = |word: &str| MONTHS.contains(&word);
    let is_time = |word: &str| word.contains(':') && is_number(&word.replace(':', ""));
    let is_zone = |word: &str| {
        let name = word.trim_matches(['(', ')']);
        word.starts_with(['+', '-']) && is_number(&word[1..])
            || name.len() <= 5 && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let is_of_time = |word: &str| {
        let is_day = word.len() <= 2 && is_number(word);
        is_day || is_year(word) || is_month(word) || is_time(word) || is_zone(word)
    };
    // Old systems name the one that the message comes from.
    let is_local = |word: &&&str| **word != "remote";
    let time = words[day + 1..].iter().take_while(is_local);
    let time: Vec<&str> = time.copied().collect();
    let has = |is: &dyn Fn(&str) -> bool| time.iter().any(|word| is(word));
    has(&is_year) && has(&is_month) && has(&is_time) && time.iter().all(|word| is_of_time(word))
}

/// The length of the body, if a line is the header that tells it.
fn body_length(line: &[u8]) -> Option<usize> {
    let (name, value) = line.split_at_checked(LENGTH.len())?;
    let is_length = name.eq_ignore_ascii_case(LENGTH.as_bytes());
    let value = std::str::from_utf8(value).ok().filter(|_| is_length)?;
    value.trim().parse().ok()
}

/// Whether a line is a header (RFC 5322, section 2.2): a name without blanks, and a colon, before which old messages have
/// blanks (section 4.5).
fn is_header(line: &[u8]) -> bool {
    let is_of_name = |byte: &&u8| byte.is_ascii_graphic() && **byte != b':';
    let length = line.iter().take_while(is_of_name).count();
    length > 0 && line[length..].trim_ascii_start().starts_with(b":")
}

/// Whether a line is a header with which messages usually begin.
fn is_usual_header(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    is_header(line) && (HEADERS.contains(&&*name) || name.starts_with("x-"))
}

/// Whether a line would begin a message without its first `>`, or the others.
fn is_escaped(line: &[u8]) -> bool {
    let quoted = line.iter().take_while(|byte| **byte == b'>').count();
    quoted > 0 && line[quoted..].starts_with(FROM)
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use proptest::prelude::*;

    use super::{MboxMessages, is_dated};
    use crate::options::Options;
    use crate::skipped::RecordFault;

    const FROM: &str = "From ada@example.org Tue Mar  5 09:30:00 2024\n";

    /// The bodies of the messages, or what is wrong with them.
    fn bodies(mailbox: &str) -> Vec<String> {
        let messages = MboxMessages::new(mailbox.as_bytes(), &Options::new().verbatim(true));
        let messages: Vec<_> = messages.map(Result::unwrap).collect();
        let whole: u64 = messages.iter().map(|message| message.bytes).sum();
        assert!(whole <= mailbox.len() as u64);
        let body = |body: Result<Vec<u8>, RecordFault>| match body {
            Ok(body) => String::from_utf8(body).unwrap(),
            Err(fault) => format!("! {}", fault.detail),
        };
        messages
            .into_iter()
            .map(|message| body(message.body))
            .collect()
    }

    #[test]
    fn messages_end_before_a_line_that_begins_the_next_one() {
        let mailbox = format!(
            "{FROM}A: 1\n\none\n>From here\n>>From there\n\n{FROM}B: 2\n\nFrom me to you\n"
        );
        assert_eq!(
            bodies(&mailbox),
            [
                "A: 1\n\none\nFrom here\n>From there\n\n",
                "B: 2\n\nFrom me to you\n"
            ]
        );
        // Without an empty line before it, it is a line of the message.
        let mailbox = format!("\n{FROM}A: 1\n\none\n{FROM}two\n");
        assert_eq!(bodies(&mailbox), [format!("A: 1\n\none\n{FROM}two\n")]);
        // Nor is it one if no header follows: a body may quote it.
        let mailbox = format!("{FROM}A: 1\n\none\n\n{FROM}\nmore\n\n{FROM}B: 2\n\ntwo\n");
        let quoted = format!("A: 1\n\none\n\n{FROM}\nmore\n\n");
        assert_eq!(bodies(&mailbox), [&quoted, "B: 2\n\ntwo\n"]);
        for first in ["A : 1", ">From ada Tue Mar  5 09:30:00 2024\nA: 1"] {
            let mailbox = format!("{FROM}{first}\n\none\n\n{FROM}{first}\n\ntwo\n");
            assert_eq!(bodies(&mailbox).len(), 2, "{first}");
        }
        let mailbox = format!("{FROM}\nno header\n\n{FROM}B: 2\n\ntwo\n");
        assert_eq!(bodies(&mailbox).len(), 2);
        // Unless a message begins there.
        let mailbox = format!("\u{feff}{FROM}A: 1\n\none\n{FROM}Message-ID: <2>\n\ntwo\n");
        assert_eq!(
            bodies(&mailbox),
            ["A: 1\n\none\n", "Message-ID: <2>\n\ntwo\n"]
        );
        // Thunderbird writes no sender and no time.
        for from in ["From \r\n", "From - 2024-03-05\n", "From a@b Di 5. Mär\n"] {
            let message = |number| format!("{from}Subject: {number}\n\ntext\n\n");
            assert_eq!(bodies(&(message(1) + &message(2))).len(), 2, "{from}");
        }
        // As other programs do, before any header, or right behind the last message.
        let mailbox =
            format!("{FROM}A: 1\n\none\n\nFrom ada\nPath: x\n\ntwo\nFrom \nSubject: 3\n\nthree\n");
        assert_eq!(bodies(&mailbox).len(), 3);
        let sentence = format!("{FROM}A: 1\n\nFrom me to you\nCall me: 12\n\nFrom here on\n");
        assert_eq!(bodies(&sentence).len(), 1);
        let sentence = format!("{FROM}A: 1\n\nFrom me to you\nNote: 12\n");
        assert_eq!(bodies(&sentence).len(), 1);
        assert_eq!(bodies(""), [""; 0]);
        assert_eq!(bodies("\n\n"), [""; 0]);
    }

    #[test]
    fn what_stands_before_the_first_message_is_reported() {
        let found = bodies(&format!("no mail\n\n{FROM}A: 1\n\none\n"));
        assert!(
            found[0].starts_with("! no message begins here"),
            "{found:?}"
        );
        assert_eq!(found[1], "A: 1\n\none\n");
    }

    /// A mailbox of messages with these bodies. Each tells the length of its body, and adds so much to it.
    fn with_lengths(bodies: &[&str], added: usize) -> String {
        let message = |body: &&str| {
            let length = body.len() + added;
            format!("{FROM}A: 1\nContent-Length: {length}\n\n{body}\n")
        };
        bodies.iter().map(message).collect()
    }

    #[test]
    fn the_length_of_a_body_leads_to_the_next_message() {
        let quoting = format!("one\n\n{FROM}Subject: quoted\n\ntwo\n");
        let mailbox = with_lengths(&[&quoting, "From\n", &quoting], 0);
        assert_eq!(bodies(&mailbox).len(), 3);
        let unended = quoting.trim_end();
        assert_eq!(bodies(&with_lengths(&[unended, unended], 0)).len(), 2);
        let crlf = with_lengths(&[&quoting.replace('\n', "\r\n"), "\r\n"], 0);
        assert_eq!(bodies(&crlf).len(), 2);
        // One that leads elsewhere, or too far, tells nothing.
        for added in [3, 5000, usize::MAX - 5000] {
            assert_eq!(bodies(&with_lengths(&["one\n", "two\n"], added)).len(), 2);
            assert_eq!(bodies(&with_lengths(&[&quoting], added)).len(), 2);
        }
    }

    /// A reader that fails at its end.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("damaged"))
        }
    }

    #[test]
    fn messages_before_a_damaged_place_are_read() {
        let mailbox = with_lengths(&["one\n", "two\n", "three\n"], 4000);
        let reader = BufReader::new(mailbox.as_bytes().chain(Failing));
        let mut messages = MboxMessages::new(reader, &Options::new());
        let found: Vec<_> = messages.by_ref().take(3).map(|it| it.is_ok()).collect();
        assert_eq!(found, [true, true, false]);
    }

    /// Lines of bodies. The last ones stand before messages, unless a header tells where the body ends.
    const LINES: [&str; 12] = [
        "text",
        "",
        "Subject: x",
        "Note: x",
        "From here on nobody knows",
        "From me to you",
        "From Tue 10:30 to Wed",
        ">From there",
        ">>From there",
        "From ada@example.org Tue Mar  5 09:30:00 2024",
        "From ada",
        "From ada@example.org again",
    ];

    /// A body of these lines, with `>` before those that are chosen.
    fn body(lines: &[usize], is_escaped: fn(&str) -> bool) -> String {
        let lines = lines.iter().map(|line| LINES[*line]);
        let lines =
            lines.map(|line| format!("{}{line}\n", if is_escaped(line) { ">" } else { "" }));
        lines.collect()
    }

    proptest! {
        #[test]
        fn there_are_as_many_messages_as_were_written(
            lines in prop::collection::vec(prop::collection::vec(0..LINES.len(), 0..6), 1..6),
        ) {
            let each = |is_escaped: fn(&str) -> bool| -> Vec<String> {
                lines.iter().map(|lines| body(lines, is_escaped)).collect()
            };
            let messages = |bodies: &[String]| -> String {
                let message = |body: &String| format!("{FROM}A: 1\n\n{body}\n");
                bodies.iter().map(message).collect()
            };
            let plain = each(|_| false);
            let starts = each(|line| line.starts_with("From "));
            prop_assert_eq!(bodies(&messages(&starts)).len(), lines.len());
            let quoted = each(|line| line.trim_start_matches('>').starts_with("From "));
            let expected: Vec<String> = plain.iter().map(|body| format!("A: 1\n\n{body}\n")).collect();
            prop_assert_eq!(bodies(&messages(&quoted)), expected);
            for written in [&plain, &starts] {
                let written: Vec<&str> = written.iter().map(String::as_str).collect();
                prop_assert_eq!(bodies(&with_lengths(&written, 0)).len(), lines.len());
            }
            let harmless = |lines: &Vec<usize>| lines.iter().all(|line| !(2..3).contains(line) && *line < 9);
            if lines.iter().all(harmless) {
                prop_assert_eq!(bodies(&messages(&plain)).len(), lines.len());
            }
        }
    }

    #[test]
    fn a_sentence_begins_no_message() {
        for line in [
            "From - Tue Mar 05 12:00:00 2024",
            "From 1790@xxx Tue Mar 05 12:00:00 +0000 2024",
            "From MAILER-DAEMON Fri Jul  8 12:08:34 2011",
            "From a@b Thu, 7 Mar 2024 10:00:00 +0100",
            "From ada at example.org  Tue Mar  5 09:30:00 MET DST 2024",
            "From uucp Wed Dec 19 14:12:30 1990 remote from elsewhere",
        ] {
            assert!(is_dated(line.as_bytes()), "{line}");
        }
        for line in [
            "From here on, the tram runs at 10:30",
            "From Mon to Fri",
            "From x Tue Mar 5 09:30 2024 on, the tram runs",
            "From Tue Mar  5 09:30:00 2024",
            "from a Tue 12:00 2024",
            ">From x Tue 12:00 2024",
        ] {
            assert!(!is_dated(line.as_bytes()), "{line}");
        }
    }
}
