//! The page, and writing it to a file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use super::frame::MARK;
use super::summary::Summary;
use crate::publish::{AtomicFile, Error, check_no_store};

/// A finished page, made by [`Report::make`](super::Report::make), or by [`Report::sources`](super::Report::sources) with
/// other counts.
#[derive(Clone, Debug)]
pub struct Page<S = Summary> {
    pub(super) html: String,
    pub(super) summary: S,
}

impl<S> Page<S> {
    /// Returns the HTML of the page.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Returns the counts of what was found and of what is not on the page.
    pub fn summary(&self) -> &S {
        &self.summary
    }

    /// Writes the page to `path`, completely or not at all, and returns its size in bytes. An existing report is
    /// replaced; any other file is replaced only with `force`.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`], [`Error::Overlaps`] for a place in or around a store, or errors of the system.
    pub fn write(&self, path: &Path, force: bool) -> Result<u64, Error> {
        Page::check(path, force)?;
        let mut whole = AtomicFile::create(path)?;
        whole.write(self.html.as_bytes())?;
        whole.finish()
    }
}

impl Page {
    /// Checks whether a page may be written to `path`, before it is made.
    ///
    /// # Errors
    ///
    /// Those of [`Page::write`].
    pub fn check(path: &Path, force: bool) -> Result<(), Error> {
        check_no_store(path, &[])?;
        // The path does not exist, or writing will report the error.
        let Ok(there) = fs::metadata(path) else {
            return Ok(());
        };
        if there.is_dir() {
            return Err(Error::Io {
                path: path.to_owned(),
                context: None,
                source: Arc::new(ErrorKind::IsADirectory.into()),
            });
        }
        // Pipes and devices are written to, and lose nothing.
        let is_lost = there.is_file() && there.len() > 0 && !is_report(path);
        if is_lost && !force {
            return Err(Error::Exists {
                path: path.to_owned(),
            });
        }
        Ok(())
    }
}

/// Whether a file begins like a report.
fn is_report(path: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MARK.len() as u64).read_to_end(&mut start));
    read.is_ok() && start == MARK.as_bytes()
}
