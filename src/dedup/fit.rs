//! Whether what is read can be written as it is asked for.

use crate::corpus::{Format, Opened};

use crate::dedup::error::{Error, Result, Unfit};
use crate::dedup::target::{Form, Target};

/// What was met so far.
#[derive(Debug)]
pub(crate) struct Fit {
    form: Form,
    /// The format of all records, once it is known.
    format: Option<Format>,
    /// The header of all tables, once there is one.
    header: Option<Vec<u8>>,
}

impl Fit {
    /// Nothing yet.
    pub(crate) fn new(target: &Target) -> Fit {
        let named = target.path.as_deref().map(Format::of);
        Fit {
            form: target.form,
            format: named.filter(|format| !format.is_document()),
            header: None,
        }
    }

    /// Takes note of a file of records.
    ///
    /// # Errors
    ///
    /// It does not fit.
    pub(crate) fn records(&mut self, opened: &Opened) -> Result<()> {
        let unfit = |unfit| {
            let place = opened.source.display().to_string();
            Err(Error::Unfit { place, unfit })
        };
        let is_parquet = opened.format == Format::Parquet;
        match self.form {
            Form::List(_) => return unfit(Unfit::RecordsInList),
            Form::Folder if is_parquet => return unfit(Unfit::ParquetInFolder),
            Form::Folder | Form::Nothing => return Ok(()),
            Form::Records => {}
        }
        let format = if is_parquet {
            Format::Jsonl
        } else {
            opened.format
        };
        let expected = *self.format.get_or_insert(format);
        if format != expected {
            let found = format;
            return unfit(Unfit::OtherFormat { found, expected });
        }
        let header = opened.header.trim_ascii_end();
        let expected = self.header.get_or_insert_with(|| header.to_vec());
        if expected != header {
            return unfit(Unfit::OtherHeader);
        }
        Ok(())
    }

    /// Takes note of a file that is one document.
    ///
    /// # Errors
    ///
    /// It does not fit.
    pub(crate) fn document(&self, place: &str) -> Result<()> {
        if self.form == Form::Records {
            return Err(Error::Unfit {
                place: place.to_owned(),
                unfit: Unfit::DocumentInRecords,
            });
        }
        Ok(())
    }
}
