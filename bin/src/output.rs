//! Results on standard output: lines for people, tab-separated columns, or JSON.

use std::io::{self, BufWriter, StdoutLock, Write};

use anyhow::{Context as _, Result, bail};
pub(crate) use dedupdb_corpus::publish::{escape, printable};
use dedupdb_corpus::{dedup, publish};
use serde::Serialize;

use dedupdb_lab::eval::wrap;

use crate::{closed_input, json};

/// Standard output, locked and buffered.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    width: usize,
    /// Whether the command ends when the reader of a pipe closes it.
    ends_with_reader: bool,
    writer: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Standard output, for JSON if `json` is set.
    pub(crate) fn new(json: bool) -> Output {
        Output {
            json,
            width: width(),
            ends_with_reader: false,
            writer: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        }
    }

    /// Makes the command end when the reader of a pipe closes it. Other commands finish their work: their output is then
    /// dropped, and their exit code stays that of the work.
    pub(crate) fn end_with_reader(&mut self) {
        self.ends_with_reader = true;
    }

    /// Whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// The number of characters that fit on a line of the terminal. Unlimited if standard output is not a terminal.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.width < usize::MAX
    }

    /// Writes a line, wrapped between words to fit the terminal.
    pub(crate) fn prose(&mut self, line: &str) -> io::Result<()> {
        for line in wrap(line, self.width) {
            self.line(line)?;
        }
        Ok(())
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.bytes(line.as_ref().as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes a key on its own line or, if `nul`, unescaped with a NUL byte after it.
    pub(crate) fn key(&mut self, key: &str, nul: bool) -> Result<()> {
        if !nul {
            return Ok(self.line(escape(key))?);
        }
        if key.contains('\0') {
            bail!("{key}: the key has a NUL byte in it; use --json");
        }
        self.bytes(key.as_bytes())?;
        Ok(self.bytes(b"\0")?)
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !bytes.is_empty() && closed_input::is_closed() {
            return Err(named(&closed_input::error()));
        }
        let written = self.writer.write_all(bytes);
        written.or_else(|error| self.refuse(&error))
    }

    /// Writes an object on its own line.
    pub(crate) fn object(&mut self, object: &impl Serialize) -> io::Result<()> {
        self.line(json::line(object)?)
    }

    /// Writes out the buffer.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer.flush();
        flushed.or_else(|error| self.refuse(&error))
    }

    /// Returns the error of a write, except for a closed pipe if the command continues without a reader.
    fn refuse(&self, error: &io::Error) -> io::Result<()> {
        if error.kind() == io::ErrorKind::BrokenPipe && !self.ends_with_reader {
            return Ok(());
        }
        Err(named(error))
    }
}

/// The last column of a line about two documents, with the tab before it: whether the texts are the same, or other
/// texts with the same words. `jaccard` is their exact similarity, if it is known.
pub(crate) fn copy_column(exact_copy: bool, jaccard: Option<f64>) -> &'static str {
    match jaccard {
        _ if exact_copy => "\texact copy",
        Some(1.0..) => "\tsame words",
        _ => "",
    }
}

/// Adds to an error that standard output failed.
pub(crate) fn named(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(usize::MAX, |(width, _)| width.0.into())
}

/// The kind of a system error, if it is one.
pub(crate) fn system_error(error: &anyhow::Error) -> Option<io::ErrorKind> {
    let source = match error.downcast_ref() {
        Some(
            dedup::Error::Stream { source }
            | dedup::Error::Output(publish::Error::Io { source, .. }),
        ) => Some(source),
        _ => match (error.downcast_ref(), error.downcast_ref()) {
            (Some(publish::Error::Io { source, .. }), _)
            | (_, Some(dedupdb::Error::Io { source, .. })) => Some(source),
            _ => None,
        },
    };
    let found = error.chain().find_map(|cause| cause.downcast_ref());
    source
        .map(|source| &**source)
        .or(found)
        .map(io::Error::kind)
}

/// Whether the reader of standard output is gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    system_error(error) == Some(io::ErrorKind::BrokenPipe)
}

/// Reverses [`escape`].
///
/// # Errors
///
/// If a backslash does not begin a valid escape sequence.
pub(crate) fn unescape(text: &str) -> Result<String> {
    publish::unescape(text).with_context(|| {
        format!("{text}: a backslash is followed by \\, t, n, r or u{{HEX}} where keys are escaped")
    })
}
/// A path or key as a word for a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
