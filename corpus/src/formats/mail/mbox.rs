//! The messages of a mailbox in one file (mbox, RFC 4155), each behind a line that begins with `From `.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::mem::take;
use std::path::Path;

use crate::decode::{MARK, without_mark};
use crate::formats::record::RawRecord;
use crate::options::Options;
use crate::skipped::{Nth, RecordFault};
use crate::walk::folder::starts_with;

/// What the line before a message begins with.
const FROM: &[u8; 5] = b"From ";

/// How the weekdays of that line are written.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

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
    reader: R,
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
            reader,
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
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
                return Ok(());
            }
            if is_at_start && line.starts_with(FROM) && self.separates(&line, is_after_empty)? {
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
            is_at_start = line.ends_with(b"\n");
        }
    }

    /// Whether a line stands before a message: it has a time and follows an empty line, or a header follows and it has one of
    /// both; or else it names no more than a sender, and one of the usual headers follows.
    fn separates(&mut self, line: &[u8], is_after_empty: bool) -> io::Result<bool> {
        let is_dated = is_dated(line);
        if is_after_empty && is_dated {
            return Ok(true);
        }
        let words = line.split(u8::is_ascii_whitespace);
        let is_brief = words.filter(|word| !word.is_empty()).count() <= 2;
        if !is_after_empty && !is_dated && !is_brief {
            return Ok(false);
        }
        let following = self.next_line()?;
        let separates = if is_after_empty || is_dated {
            is_header(&following)
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
        Ok(is_dated(&first) || is_usual_header(&line(&mut reader)?))
    };
    path.is_file() && starts_with(path, FROM) && begins().unwrap_or(false)
}

/// A line, or a part of it, with its end.
fn line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.take(PIECE).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Whether a line has, behind `From ` and a sender, a time with its weekday and year. A sentence that begins like that has
/// no such time.
fn is_dated(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(FROM.as_slice()) else {
        return false;
    };
    let rest = String::from_utf8_lossy(rest);
    let has = |is: fn(&str) -> bool| rest.split_ascii_whitespace().any(is);
    has(|word| DAYS.contains(&word.trim_end_matches(',')))
        && has(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))
        && has(|word| {
            let is_of_time = |byte: u8| byte == b':' || byte.is_ascii_digit();
            word.contains(':') && word.bytes().all(is_of_time)
        })
}

/// Whether a line is a header (RFC 5322, section 2.2): a name without blanks, and a colon.
fn is_header(line: &[u8]) -> bool {
    let is_of_name = |byte: &&u8| byte.is_ascii_graphic() && **byte != b':';
    let length = line.iter().take_while(is_of_name).count();
    length > 0 && line.get(length) == Some(&b':')
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

    #[test]
    fn a_sentence_begins_no_message() {
        for line in [
            "From - Tue Mar 05 12:00:00 2024",
            "From 1790@xxx Tue Mar 05 12:00:00 +0000 2024",
            "From MAILER-DAEMON Fri Jul  8 12:08:34 2011",
            "From a@b Thu, 7 Mar 2024 10:00:00 +0100",
        ] {
            assert!(is_dated(line.as_bytes()), "{line}");
        }
        for line in [
            "From here on, the tram runs at 10:30",
            "From Mon to Fri",
            "from a Tue 12:00 2024",
            ">From x Tue 12:00 2024",
        ] {
            assert!(!is_dated(line.as_bytes()), "{line}");
        }
    }
}
