//! Checks whether the input can be written as requested.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    Format, HintedError, OpenedFile, Options, Origin, Reason, Skipped, TableSource, TextPlace,
    format_of_output,
};

use crate::dedup::error::{Error, Result, Unfit};
use crate::dedup::mark::MarkColumns;
use crate::dedup::settings::Dedup;
use crate::dedup::target::{OutputForm, OutputTarget};

/// The input met so far.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct FitCheck {
    form: OutputForm,
    /// Whether to go on without inputs that were named and cannot be read.
    pub(crate) skips_unreadable: bool,
    /// Determines which files are tables.
    options: Options,
    /// The format of all records, once known.
    format: Option<Format>,
    /// Whether there were records of this format. Otherwise, it comes from the name of the output.
    has_records: bool,
    /// The header of all tables, once there is one.
    header: Option<Vec<u8>>,
    is_of_tables: bool,
    /// The columns that all records receive.
    mark: Option<MarkColumns>,
    /// Whether documents may get another text.
    pub(crate) changes_texts: bool,
    /// Whether the current file has lines of JSON.
    has_fields: bool,
    /// The schema of all tables that go into one file, once there is one.
    schema: Option<Arc<TableSource>>,
    /// The current table, if its rows are written.
    table: Option<PathBuf>,
}

impl FitCheck {
    /// Returns the state before any input.
    pub(crate) fn new(dedup: &Dedup, target: &OutputTarget) -> FitCheck {
        let named = target.path.as_deref().map(format_of_output).map(lines);
        FitCheck {
            form: target.form,
            skips_unreadable: dedup.skips_unreadable,
            options: dedup.options.clone(),
            format: named.filter(|format| !format.is_document()),
            has_records: false,
            header: None,
            is_of_tables: target.is_of_tables,
            mark: dedup.mark.clone(),
            changes_texts: false,
            has_fields: false,
            schema: None,
            table: None,
        }
    }

    /// Returns a field that the name of a folder above a file of records has, if the records go into one file.
    pub(crate) fn field_of_folder(&self, opened: &OpenedFile) -> Option<String> {
        let folders = opened
            .source
            .parent()
            .filter(|_| self.form == OutputForm::Records)?;
        let mut names = folders
            .components()
            .filter_map(|folder| folder.as_os_str().to_str());
        let field = names.find(|name| {
            let field = name.split_once('=');
            field.is_some_and(|(name, value)| !name.is_empty() && !value.is_empty())
        });
        field.map(str::to_owned)
    }

    /// Checks a file of records.
    ///
    /// # Errors
    ///
    /// It does not fit.
    pub(crate) fn records(&mut self, opened: &OpenedFile) -> Result<()> {
        let unfit = |unfit| {
            let place = opened.source.display().to_string();
            Err(Error::Unfit { place, unfit })
        };
        self.has_fields = lines(opened.format) == Format::Jsonl;
        let is_table = opened.table.is_some() && self.form != OutputForm::Nothing;
        self.table = is_table.then(|| opened.source.clone());
        // Marks need columns or fields with names of their own.
        if let Some(columns) = &self.mark {
            if !MarkColumns::fit(opened.format, !opened.header.is_empty()) {
                return unfit(Unfit::NoMarks);
            }
            if let Some(name) = columns.among(|name| {
                let mut found = opened.columns.iter();
                found.any(|found| found.trim() == name)
            }) {
                return marked_before(&opened.source.display(), name);
            }
        }
        if self.changes_texts && opened.text == TextPlace::None {
            return unfit(Unfit::NoText);
        }
        // Only records that go into one file need to fit each other.
        match self.form {
            OutputForm::List(_) => return unfit(Unfit::RecordsInList),
            OutputForm::Folder | OutputForm::Nothing => return Ok(()),
            OutputForm::Records => {}
        }
        // They need one format, and tables one schema and one header.
        let found = opened.format;
        let becomes_lines = found == Format::Parquet && !self.is_of_tables;
        let format = if becomes_lines {
            Format::Jsonl
        } else {
            lines(found)
        };
        let expected = *self.format.get_or_insert(format);
        if format != expected {
            return unfit(if self.has_records {
                Unfit::OtherFormat { found, expected }
            } else {
                let named = expected;
                Unfit::NotConverted { found, named }
            });
        }
        self.has_records = true;
        if let Some(table) = opened.table.as_ref().filter(|_| !becomes_lines) {
            let expected = self.schema.get_or_insert_with(|| table.clone());
            if expected.schema.get_fields() != table.schema.get_fields() {
                return unfit(Unfit::OtherColumns);
            }
        }
        let header = opened.header.trim_ascii_end();
        if found == Format::Csv && header.is_empty() {
            // The file is empty, or no table has a header.
            return Ok(());
        }
        let expected = self.header.get_or_insert_with(|| header.to_vec());
        if expected != header {
            return unfit(Unfit::OtherHeader);
        }
        Ok(())
    }

    /// Checks a record.
    ///
    /// # Errors
    ///
    /// It has a field with the name of a mark.
    pub(crate) fn record(&self, origin: &Origin) -> Result<()> {
        let columns = self.mark.as_ref().filter(|_| self.has_fields);
        match columns.and_then(|columns| columns.field_of(&origin.verbatim)) {
            Some(name) => marked_before(&origin.place(), name),
            None => Ok(()),
        }
    }

    /// Checks a file or record that is not a document.
    ///
    /// # Errors
    ///
    /// It is a table, or the rest of one, so the output would lack unread rows, unless it is one without a text in a
    /// folder; or a record with a field that has the name of a mark.
    pub(crate) fn unread(&self, skipped: &Skipped) -> Result<()> {
        let path = Path::new(&skipped.place);
        let is_lost = skipped.reason == Reason::Unreadable;
        // Rows that were read of a table would be copied from it again.
        let is_begun = self.table.as_deref() == Some(path);
        let is_wanted = (skipped.named || !skipped.is_of_fields()) && !self.skips_unreadable;
        if is_lost && (is_begun || is_wanted && self.is_table(path)) {
            let detail = skipped.detail.clone();
            let detail = match skipped.hint {
                Some(hint) => io::Error::other(HintedError { detail, hint }),
                None => io::Error::other(detail),
            };
            return Err(Error::input(path.to_owned(), detail));
        }
        let record = skipped.record.as_ref().filter(|_| self.has_fields);
        let (Some(columns), Some(record)) = (&self.mark, record) else {
            return Ok(());
        };
        match columns.field_of(&record.verbatim) {
            Some(name) => marked_before(&skipped.place, name),
            None => Ok(()),
        }
    }

    /// Whether rows of this file would be written.
    fn is_table(&self, path: &Path) -> bool {
        let has_rows = matches!(self.form, OutputForm::Records | OutputForm::Folder);
        has_rows && self.options.format_of(path) == Format::Parquet
    }

    /// Checks a file that is one document.
    ///
    /// # Errors
    ///
    /// It does not fit.
    pub(crate) fn document(&self, origin: &Origin) -> Result<()> {
        let unfit = match (self.form, &self.mark) {
            (OutputForm::Records, _) => Unfit::DocumentInRecords,
            (OutputForm::Folder | OutputForm::List(_), Some(_)) => Unfit::NoMarks,
            (OutputForm::Folder, None) if self.changes_texts && origin.is_extracted => {
                Unfit::NoText
            }
            _ => return Ok(()),
        };
        Err(Error::Unfit {
            place: origin.place(),
            unfit,
        })
    }
}

/// Returns the format in which records are compared and kept: those of an array are lines until they are written.
fn lines(format: Format) -> Format {
    match format {
        Format::Json => Format::Jsonl,
        other => other,
    }
}

/// Refuses a table or record that has a column or field with the name of a mark.
fn marked_before(place: &dyn Display, name: &str) -> Result<()> {
    Err(Error::Unfit {
        place: format!("{place}: {name}"),
        unfit: Unfit::MarkedBefore,
    })
}
