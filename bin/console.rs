//! Messages to the person at the terminal, on standard error.

use std::fmt::Write as _;
use std::io::Write as _;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::json;
use crate::output::printable;

/// Standard error, with the progress bar that may be drawn there.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    quiet: bool,
    bar: ProgressBar,
}

impl Console {
    /// A console that keeps notes to itself if `quiet`, but not errors.
    pub(crate) fn new(quiet: bool) -> Console {
        Console {
            quiet,
            bar: ProgressBar::hidden(),
        }
    }

    /// The progress bar, hidden until someone shows it.
    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Whether nothing but results and errors is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says what ends the command or counts as a failure at the end.
    pub(crate) fn error(&self, message: &str) {
        self.line(&format!("dedupdb: {message}"));
    }

    /// Says what is worth knowing.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.line(&format!("dedupdb: {message}"));
        }
    }

    /// Prints text of several lines that has no foreign text in it.
    pub(crate) fn text(&self, text: &str) {
        if !self.quiet {
            self.print(text);
        }
    }

    /// Prints an object on a line of its own.
    pub(crate) fn object(&self, object: &impl Serialize) -> serde_json::Result<()> {
        self.text(&(json::line(object)? + "\n"));
        Ok(())
    }

    fn line(&self, message: &str) {
        let mut line = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(line, "{}", printable(message));
        self.print(&line);
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| {
            // Nobody is left to tell when this fails.
            std::io::stderr().lock().write_all(text.as_bytes()).ok();
        });
    }
}
