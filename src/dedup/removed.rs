//! The file that says what was dropped, and why.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dedupdb::Match;
use dedupdb::corpus::{Nth, Origin};
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

/// A document that is dropped.
#[derive(Debug)]
pub(crate) struct Dropped<'a> {
    pub(crate) origin: &'a Origin,
    /// The document that it is like.
    pub(crate) earlier: &'a Match,
    /// The file and the record of that one, if it is of this run.
    pub(crate) place: (Option<&'a Path>, Option<Nth>),
    /// Whether that one was stored before.
    pub(crate) is_stored: bool,
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
    pub(crate) fn add(&mut self, dropped: &Dropped<'_>) -> io::Result<()> {
        let Dropped {
            origin,
            earlier,
            place: (file, record),
            is_stored,
        } = dropped;
        let number = |line: Option<Nth>| line.map(Nth::number);
        if self.is_json {
            let object = json!({
                "key": origin.key,
                "earlier": earlier.key,
                "jaccard": earlier.jaccard,
                "estimate": earlier.estimate.jaccard,
                "error": earlier.estimate.error,
                "exact_copy": earlier.exact_copy,
                "stored_before": is_stored,
                "file": origin.source.to_string_lossy(),
                "record": number(origin.line),
                "earlier_file": file.map(Path::to_string_lossy),
                "earlier_record": number(*record),
            });
            return writeln!(self.writer, "{object}");
        }
        let similarity = similarity(earlier.jaccard, earlier.estimate);
        let name = |file: &Path| escape(&file.to_string_lossy()).into_owned();
        let number = |line| number(line).map_or_else(String::new, |number| number.to_string());
        writeln!(
            self.writer,
            "{}\t{}\t{similarity}\t{}\t{}\t{}\t{}",
            escape(&origin.key),
            escape(&earlier.key),
            name(&origin.source),
            number(origin.line),
            file.map_or_else(String::new, name),
            number(*record)
        )
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
