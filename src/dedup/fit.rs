//! Whether what is read can be written as it is asked for.

use anyhow::{Result, bail};

use dedupdb::corpus::{Format, Opened};

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
        let name = opened.source.display();
        let is_parquet = opened.format == Format::Parquet;
        match self.form {
            Form::List { .. } => bail!(
                "{name}: a list has files that are one document each; leave --list out for records"
            ),
            Form::Folder if is_parquet => bail!(
                "{name}: Parquet is not written; with -o NAME.jsonl its rows become lines of JSONL"
            ),
            Form::Folder => return Ok(()),
            Form::Records => {}
        }
        let format = if is_parquet {
            Format::Jsonl
        } else {
            opened.format
        };
        let expected = *self.format.get_or_insert(format);
        if format != expected {
            bail!(
                "{name}: its records are {format:?} and do not go into a file of {expected:?}; \
                 write to a folder, or give one format at a time"
            );
        }
        let header = opened.header.trim_ascii_end();
        let expected = self.header.get_or_insert_with(|| header.to_vec());
        if expected != header {
            bail!(
                "{name}: its header is not that of the tables before it; write to a folder, or give \
                 it alone"
            );
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
            bail!(
                "{place}: a file that is one document does not go into a file of records; write to a \
                 folder, or say with --format what records it has"
            );
        }
        Ok(())
    }
}
