//! The file that says what was dropped, and why.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dedupdb::Match;
use serde_json::json;

use crate::number::similarity;
use crate::output::escape;

/// The lines so far, under another name.
#[derive(Debug)]
pub(crate) struct Removed {
    partial: PathBuf,
    writer: BufWriter<File>,
    is_json: bool,
}

impl Removed {
    /// Begins the lines in `partial`, which is to become the file that is called `name`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn begin(partial: PathBuf, name: &Path, is_json: bool) -> Result<Removed> {
        let file = File::create_new(&partial).with_context(|| partial.display().to_string())?;
        Ok(Removed {
            partial,
            writer: BufWriter::new(file),
            is_json: is_json || name.extension().is_some_and(|end| end == "jsonl"),
        })
    }

    /// Takes note of a document that is like an earlier one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn add(&mut self, key: &str, earlier: &Match, is_stored: bool) -> io::Result<()> {
        if self.is_json {
            let object = json!({
                "key": key,
                "earlier": earlier.key,
                "jaccard": earlier.jaccard,
                "estimate": earlier.estimate.jaccard,
                "error": earlier.estimate.error,
                "exact_copy": earlier.exact_copy,
                "stored_before": is_stored,
            });
            return writeln!(self.writer, "{object}");
        }
        let similarity = similarity(earlier.jaccard, earlier.estimate);
        let (key, earlier) = (escape(key), escape(&earlier.key));
        writeln!(self.writer, "{key}\t{earlier}\t{similarity}")
    }

    /// Ends the lines, durably.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.writer.get_ref().sync_all()
    }

    /// Where the lines are until they take their place.
    pub(crate) fn partial(&self) -> &Path {
        &self.partial
    }
}
