//! Where what is kept goes.

use std::fs::File;
use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use dedupdb::corpus::{Format, Opened};

use crate::dedup::encoder::Place;
use crate::dedup::stream::Stream;
use crate::dedup::target::{Form, Target};
use crate::dedup::tree::Tree;
use crate::output::escape;

/// A document that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept<'a> {
    /// A record as it is.
    Record(&'a [u8]),
    /// A file of so many bytes that last changed so many nanoseconds after 1970.
    File(&'a Path, u64, Option<i64>),
}

/// What is being written.
pub(crate) enum Sink {
    Records(Stream),
    Folder(Tree),
    List {
        list: BufWriter<Place>,
        is_nul: bool,
    },
}

impl Sink {
    /// Begins to write `target` at `path`, or on standard output.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn new(target: &Target, path: PathBuf, inputs: &[PathBuf]) -> Result<Sink> {
        if target.form == Form::Folder {
            return Ok(Sink::Folder(Tree::new(path, inputs)?));
        }
        let name = target.path.as_deref().unwrap_or(Path::new(""));
        let place = match target.path {
            Some(_) => {
                let file = File::create_new(&path).with_context(|| path.display().to_string())?;
                Place::File(file)
            }
            None => Place::Stdout(stdout()),
        };
        Ok(match target.form {
            Form::List { is_nul } => Sink::List {
                list: BufWriter::new(place),
                is_nul,
            },
            Form::Records | Form::Folder => {
                Sink::Records(Stream::new(place, name, Format::of(name))?)
            }
        })
    }

    /// Takes note of a file whose records come next.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn open(&mut self, opened: &Opened) -> Result<()> {
        match self {
            Sink::Records(stream) => Ok(stream.open(opened)?),
            Sink::Folder(tree) => tree.open(opened),
            Sink::List { .. } => Ok(()),
        }
    }

    /// Writes a document.
    ///
    /// # Errors
    ///
    /// Those of the system, or it does not fit.
    pub(crate) fn keep(&mut self, kept: Kept<'_>) -> Result<()> {
        match (self, kept) {
            (Sink::Records(stream), Kept::Record(record)) => Ok(stream.write(record)?),
            (Sink::Folder(tree), Kept::Record(record)) => tree.record(record),
            (Sink::Folder(tree), Kept::File(path, size, modified)) => {
                tree.copy(path, size, modified)
            }
            (Sink::List { list, is_nul }, Kept::File(path, ..)) => {
                let name = path.as_os_str().as_encoded_bytes();
                if *is_nul {
                    list.write_all(name)?;
                    return Ok(list.write_all(b"\0")?);
                }
                // Bytes that are no characters stay as they are.
                for chunk in name.utf8_chunks() {
                    list.write_all(escape(chunk.valid()).as_bytes())?;
                    list.write_all(chunk.invalid())?;
                }
                Ok(list.write_all(b"\n")?)
            }
            (Sink::Records(_), Kept::File(path, ..)) => {
                bail!("{}: this is no record", path.display())
            }
            (Sink::List { .. }, Kept::Record(_)) => bail!("a list has no records"),
        }
    }

    /// Ends what was written, durably.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Sink::Records(stream) => Ok(stream.finish()?),
            Sink::Folder(tree) => tree.finish(),
            Sink::List { list, .. } => match list.into_inner()? {
                Place::File(file) => Ok(file.sync_all()?),
                Place::Stdout(mut stdout) => Ok(stdout.flush()?),
            },
        }
    }
}
