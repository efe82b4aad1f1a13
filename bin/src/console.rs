//! Messages to the user on standard error.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use serde::Serialize;

use crate::json;
use crate::number::grouped;
use crate::output::printable;

/// Standard error, with the progress bar that may be drawn there.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    quiet: bool,
    bar: ProgressBar,
    /// Whether an error was printed, by this console or a clone of it.
    has_failed: Arc<AtomicBool>,
}

impl Console {
    /// Returns a console that prints errors but, if `quiet`, no notes.
    pub(crate) fn new(quiet: bool) -> Console {
        Console {
            quiet,
            bar: ProgressBar::hidden(),
            has_failed: Arc::default(),
        }
    }

    /// The progress bar, hidden until someone shows it.
    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Reports an error: one that ends the command, or one that makes it fail in the end.
    pub(crate) fn error(&self, message: &str) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.line(&format!("dedupdb: {message}"));
    }

    /// Reports the error that ends the command, as a line of JSON.
    pub(crate) fn failure(&self, line: &str) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.print(&format!("{line}\n"));
    }

    /// Whether an error was printed.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Prints a warning: it does not count as an error, and --quiet does not suppress it.
    pub(crate) fn warning(&self, message: &str) {
        self.line(&format!("dedupdb: {message}"));
    }

    /// Prints a note.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.line(&format!("dedupdb: {message}"));
        }
    }

    /// Prints how long a list was, if a person watches: standard error is a terminal.
    pub(crate) fn total(&self, message: &str) {
        if stderr().is_terminal() {
            self.note(message);
        }
    }

    /// Prints lines of text. It must not contain text from elsewhere, such as keys.
    pub(crate) fn text(&self, text: &str) {
        if !self.quiet {
            self.print(text);
        }
    }

    /// Prints an object on its own line.
    pub(crate) fn object(&self, object: &impl Serialize) -> serde_json::Result<()> {
        self.text(&(json::line(object)? + "\n"));
        Ok(())
    }

    fn line(&self, message: &str) {
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(line, "{}", printable(&cut(message)));
        self.print(&line);
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| {
            // If this fails, there is nowhere to report it.
            stderr().lock().write_all(text.as_bytes()).ok();
        });
    }
}

/// Cuts the middle out of a long message: a key has up to 64 KiB, and the end of the message says what to do.
fn cut(message: &str) -> Cow<'_, str> {
    const LONGEST: usize = 6000;
    const SHOWN: usize = 500;
    if message.len() <= LONGEST {
        return Cow::Borrowed(message);
    }
    let boundary = |from: usize| (from..=message.len()).find(|&at| message.is_char_boundary(at));
    let start = boundary(SHOWN).unwrap_or(0);
    let end = boundary(message.len() - SHOWN).unwrap_or(message.len());
    let left_out = end - start;
    Cow::Owned(format!(
        "{} ... ({} bytes) ... {}",
        &message[..start],
        grouped(left_out as u64),
        &message[end..]
    ))
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn long_messages_keep_their_ends() {
        assert_eq!(cut("a: no such key"), "a: no such key");
        let long = format!("{}: no such key", "\u{e9}".repeat(30_000));
        let short = cut(&long);
        assert!(
            short.len() < 1100 && short.ends_with(": no such key"),
            "{short}"
        );
        assert!(short.contains("... (59,0"), "{short}");
    }
}
