//! A list of what was found, a line each.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dedup::encoder::Outlet;
use crate::dedup::error::{Error, Result};
use crate::publish::error::WithPath;
use crate::publish::{csv_field, escape};

/// The form of the lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListFormat {
    /// Fields that are escaped and separated by tabs.
    Tabs,
    Csv,
    Json,
}

impl ListFormat {
    /// The form that the name of the file says, or else JSON if that is wanted.
    fn of(name: &Path, is_json: bool) -> ListFormat {
        match name.extension().and_then(OsStr::to_str) {
            Some("jsonl") => ListFormat::Json,
            Some("csv") => ListFormat::Csv,
            _ if is_json => ListFormat::Json,
            _ => ListFormat::Tabs,
        }
    }
}

/// A line of a list.
pub(crate) trait ListedLine: Serialize {
    /// The names of the columns.
    const NAMES: &'static [&'static str];

    /// Returns the columns as text.
    fn cells(&self) -> Vec<String>;

    /// Returns the columns of a list with tabs, which people read: the same ones, if it does not say otherwise.
    fn shown_cells(&self) -> Vec<String> {
        self.cells()
    }
}

/// The lines so far, in a file under another name.
pub(crate) struct LineList {
    /// The name of the file until it is complete. `None` if the lines go to a stream.
    partial: Option<PathBuf>,
    writer: BufWriter<Outlet>,
    format: ListFormat,
}

impl LineList {
    /// Starts the lines in `partial`, which is to become the file `name`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn begin<L: ListedLine>(
        partial: PathBuf,
        name: &Path,
        is_json: bool,
    ) -> Result<LineList> {
        let file = File::create_new(&partial).of(&partial)?;
        let mut list = LineList {
            writer: BufWriter::new(Outlet::file(file)),
            format: ListFormat::of(name, is_json),
            partial: Some(partial),
        };
        if list.format == ListFormat::Csv {
            list.line(&L::NAMES.join(","))?;
        }
        Ok(list)
    }

    /// Starts the lines in a stream.
    pub(crate) fn stream(stream: Box<dyn Write + Send>, is_json: bool) -> LineList {
        LineList {
            partial: None,
            writer: BufWriter::new(Outlet::Stream(stream)),
            format: ListFormat::of(Path::new(""), is_json),
        }
    }

    /// Adds a line.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn add<L: ListedLine>(&mut self, line: &L) -> Result<()> {
        let join = |cells: Vec<String>, escape: fn(&str) -> String, separator: &str| {
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            cells.join(separator)
        };
        let line = match self.format {
            ListFormat::Json => {
                let json = serde_json::to_string(line).map_err(io::Error::from);
                self.written(json)?
            }
            ListFormat::Csv => join(line.cells(), |cell| csv_field(cell).into_owned(), ","),
            ListFormat::Tabs => join(line.shown_cells(), |cell| escape(cell).into_owned(), "\t"),
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
    pub(crate) fn finish(self) -> Result<()> {
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
