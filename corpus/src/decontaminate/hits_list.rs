//! The list of hits.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::hit::Hit;
use crate::dedup::dropped_list::ListFormat;
use crate::dedup::encoder::Outlet;
use crate::dedup::{Error, Result};
use crate::number::four_decimals;
use crate::publish::error::WithPath;
use crate::publish::{csv_field, escape};

/// The lines so far, in a file under another name.
pub(super) struct HitsList {
    /// The name of the file until it is complete. `None` if the lines go to a stream.
    partial: Option<PathBuf>,
    writer: BufWriter<Outlet>,
    format: ListFormat,
}

/// A line, which has the same columns in each format.
#[derive(Serialize)]
struct HitLine<'a> {
    document: &'a str,
    benchmark: String,
    item: &'a str,
    field: Option<&'a str>,
    words: u32,
    longest: u32,
    coverage: f64,
    share: f64,
    start: usize,
    end: usize,
    item_first: u32,
    item_last: u32,
    text: &'a str,
}

impl HitLine<'_> {
    const NAMES: [&'static str; 13] = [
        "document",
        "benchmark",
        "item",
        "field",
        "words",
        "longest",
        "coverage",
        "share",
        "start",
        "end",
        "item_first",
        "item_last",
        "text",
    ];

    fn cells(&self) -> [String; 13] {
        [
            self.document.to_owned(),
            self.benchmark.clone(),
            self.item.to_owned(),
            self.field.unwrap_or_default().to_owned(),
            self.words.to_string(),
            self.longest.to_string(),
            four_decimals(self.coverage),
            four_decimals(self.share),
            self.start.to_string(),
            self.end.to_string(),
            self.item_first.to_string(),
            self.item_last.to_string(),
            self.text.to_owned(),
        ]
    }
}

impl HitsList {
    /// Starts the lines in `partial`, which is to become the file `name`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn begin(partial: PathBuf, name: &Path, is_json: bool) -> Result<HitsList> {
        let file = File::create_new(&partial).of(&partial)?;
        let mut list = HitsList {
            writer: BufWriter::new(Outlet::file(file)),
            format: ListFormat::of(name, is_json),
            partial: Some(partial),
        };
        if list.format == ListFormat::Csv {
            list.line(&HitLine::NAMES.join(","))?;
        }
        Ok(list)
    }

    /// Starts the lines in a stream.
    pub(super) fn stream(stream: Box<dyn Write + Send>, is_json: bool) -> HitsList {
        HitsList {
            partial: None,
            writer: BufWriter::new(Outlet::Stream(stream)),
            format: ListFormat::of(Path::new(""), is_json),
        }
    }

    /// Adds a hit.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn add(&mut self, hit: &Hit<'_>) -> Result<()> {
        let Hit {
            document,
            item,
            overlap,
        } = hit;
        let line = HitLine {
            document: &document.key,
            benchmark: item.benchmark.display().to_string(),
            item: &item.key,
            field: item.field.as_deref(),
            words: item.words,
            longest: overlap.longest,
            coverage: overlap.coverage,
            share: overlap.share,
            start: overlap.bytes.start,
            end: overlap.bytes.end,
            item_first: overlap.item_words.start + 1,
            item_last: overlap.item_words.end,
            text: &overlap.text,
        };
        let line = match self.format {
            ListFormat::Json => {
                let json = serde_json::to_string(&line).map_err(io::Error::from);
                self.written(json)?
            }
            ListFormat::Csv => line
                .cells()
                .map(|cell| csv_field(&cell).into_owned())
                .join(","),
            ListFormat::Tabs => line
                .cells()
                .map(|cell| escape(&cell).into_owned())
                .join("\t"),
        };
        self.line(&line)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let written = writeln!(self.writer, "{line}");
        self.written(written)
    }

    fn written<T>(&self, written: io::Result<T>) -> Result<T> {
        match &self.partial {
            Some(partial) => Ok(written.of(partial)?),
            None => written.map_err(Error::stream),
        }
    }

    /// Makes the list durable.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn finish(self) -> Result<()> {
        let outlet = self
            .writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error);
        let finished = outlet.and_then(Outlet::finish);
        match &self.partial {
            Some(partial) => Ok(finished.of(partial)?),
            None => finished.map_err(Error::stream),
        }
    }
}
