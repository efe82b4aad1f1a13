//! Loading sketches into a store.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use super::add_run::AddRun;
use super::event::AddEvent;
use super::summary::AddSummary;
use crate::error::Error;
use crate::formats::parquet::sketches::{SketchRow, SketchRows};
use crate::item::{Item, ItemBatch, Origin, place};
use crate::options::MEMORY;
use crate::read::batches::send_batches;
use crate::skipped::{Nth, Reason, Skipped};
use crate::source::{Source, SourceKind, expanded};
use dedupdb::{Input, Schema, Store};

/// The documents of some rows, without their texts.
type RowBatch = Result<ItemBatch<(Input, Origin)>, Error>;

/// Adds sketches from files to a store. The result is that of adding the texts in the same order.
///
/// The files are Parquet, with the columns that `dedupdb.spark.sketch` makes: `key`, `hash` (BLAKE3, 32 bytes), `bytes`
/// (of the text), `size` (number of shingles), `packed` (the shingles), `parameters` ([`Mark`](dedupdb::batch::Mark)),
/// and `fingerprints` if these have a passage. Signatures and band hashes are computed from the shingles. Documents are
/// numbered in the order of the files and rows; `dedupdb.spark.load` sorts each partition by key. Rows without a
/// sketch, because their key or text was null, are skipped and reported.
///
/// A stopped load keeps what it has committed; the same load continues from there.
#[derive(Clone, Debug)]
#[must_use = "nothing is loaded before it is run"]
pub struct Load {
    files: Vec<PathBuf>,
    memory: u64,
}

impl Load {
    /// Loads files, all `*.parquet` files of folders and the folders in them, sorted by path, and files that match patterns
    /// such as `sketches/*.parquet`. Files and folders of a folder whose names begin with `.` or `_` are left out, as engines do.
    ///
    /// # Errors
    ///
    /// [`Error::Sketches`] if a path does not exist or a folder has no such files.
    pub fn new<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Result<Load, Error> {
        let sources = paths.into_iter().map(|path| Source::from(path.into()));
        let mut files = Vec::new();
        for source in expanded(sources.collect()) {
            match source.kind {
                SourceKind::Path(path) | SourceKind::Pattern(path) if path.is_dir() => {
                    files.extend(files_of(&path)?);
                }
                SourceKind::Path(path) | SourceKind::Pattern(path) => files.push(path),
                SourceKind::Skipped(Skipped { place, detail, .. }) => {
                    return Err(refused(Path::new(&place), &detail));
                }
                // No path is a stream.
                SourceKind::Stream(_) => {}
            }
        }
        Ok(Load {
            files,
            memory: MEMORY,
        })
    }

    /// The approximate number of bytes of memory to use, instead of 512 MiB.
    pub fn memory(self, bytes: u64) -> Load {
        Load {
            memory: bytes,
            ..self
        }
    }

    /// Returns the parameters of the first sketch, for a new store, or `None` if there is no sketch.
    ///
    /// # Errors
    ///
    /// [`Error::Sketches`].
    pub fn schema(&self) -> Result<Option<Schema>, Error> {
        for path in &self.files {
            if let Some(schema) = schema_of(path)? {
                return Ok(Some(schema));
            }
        }
        Ok(None)
    }

    /// Loads the sketches and reports to the observer. The [progress](Store::watched) of the handle is that of
    /// [`Add::run`](crate::Add::run). If it is stopped, what was loaded so far is committed.
    ///
    /// # Errors
    ///
    /// [`Error::Sketches`] if a file is damaged or its parameters differ from the store's; if the first rows of a file
    /// show this, nothing is loaded. Otherwise, errors of the store. Earlier commits stay.
    pub fn run(
        self,
        store: &Store,
        mut observe: impl FnMut(AddEvent<'_>),
    ) -> Result<AddSummary, Error> {
        for path in &self.files {
            check(path, store)?;
        }
        let batches = send_batches("reader", 1, move |sender| {
            for path in &self.files {
                if send_rows(path, sender).is_break() {
                    return;
                }
            }
        })?;
        let mut run = AddRun::begin(store, self.memory, &mut observe)?;
        run.add_all(batches)?;
        run.commit()?;
        run.pack()
    }
}

/// Sends the rows of a file in batches. Breaks if no more are wanted.
fn send_rows(path: &Path, sender: &SyncSender<RowBatch>) -> ControlFlow<()> {
    let sent = open(path).and_then(|mut rows| {
        loop {
            let read = rows.read().map_err(|error| refused(path, &error))?;
            if read.is_empty() {
                return Ok(true);
            }
            let items: Vec<_> = read.into_iter().map(|row| item(path, row)).collect();
            let bytes = |item: &Item<_>| {
                item.document()
                    .map_or(0, |(_, origin): &(_, Origin)| origin.bytes)
            };
            let bytes = items.iter().map(bytes).sum();
            if sender.send(Ok(ItemBatch { items, bytes })).is_err() {
                return Ok(false);
            }
        }
    });
    match sent {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(error) => {
            // If this fails, the receiver is gone.
            drop(sender.send(Err(error)));
            ControlFlow::Break(())
        }
    }
}

/// Returns the document of a row, or the report of one that has no sketch.
fn item(path: &Path, row: SketchRow) -> Item<(Input, Origin)> {
    match row {
        SketchRow::Sketch(number, input) => {
            let mut origin = Origin::new(input.key().to_owned(), path.to_owned());
            origin.record = Some(Nth::Record(number));
            origin.has_id = true;
            origin.bytes = input.source_bytes();
            Item::Document((*input, origin))
        }
        SketchRow::Flawed(number, detail) => Item::Skipped(Skipped::new(
            Reason::BadRecord,
            place(path, Some(Nth::Record(number))),
            detail,
        )),
    }
}

/// Returns the sketch files of a folder that an engine wrote, and of the folders in it.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let refuse = |error: io::Error| refused(&folder, &error);
        for entry in fs::read_dir(&folder).map_err(refuse)? {
            let entry = entry.map_err(refuse)?;
            let path = entry.path();
            let name = entry.file_name();
            // Engines put what is not data yet, or no data, into such files and folders.
            if matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
                continue;
            }
            let end = path.extension().unwrap_or_default();
            if entry.file_type().map_err(refuse)?.is_dir() {
                folders.push(path);
            } else if end.eq_ignore_ascii_case("parquet") {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        let reason = "no file of sketches, *.parquet, is in this folder";
        return Err(refused(folder, &reason));
    }
    files.sort_unstable();
    Ok(files)
}

fn open(path: &Path) -> Result<SketchRows, Error> {
    let file = File::open(path).map_err(|error| refused(path, &error))?;
    SketchRows::new(file).map_err(|error| refused(path, &error))
}

/// Returns the parameters of a file's sketches, if it has any.
fn schema_of(path: &Path) -> Result<Option<Schema>, Error> {
    let mut rows = open(path)?;
    rows.read().map_err(|error| refused(path, &error))?;
    Ok(rows.mark().map(|mark| mark.schema().clone()))
}

/// Refuses a file whose sketches the store does not [take](Schema::check_takes). It need not keep shingles.
fn check(path: &Path, store: &Store) -> Result<(), Error> {
    let Some(schema) = schema_of(path)? else {
        return Ok(());
    };
    let stored = store.schema();
    let schema = if stored.keeps_shingles() {
        Ok(schema)
    } else {
        schema.to_builder().keep_shingles(false).passage(0).build()
    };
    let taken = schema.and_then(|schema| stored.check_takes(&schema));
    taken.map_err(|error| match &error {
        dedupdb::Error::SchemaMismatch {
            parameter: "passage",
            given,
            ..
        } => {
            let passage = stored.passage();
            let texts = if given == "0" { "" } else { " --from PATH..." };
            let reason = format!(
                "{error}; `dedupdb reindex --passage {given}{texts}` changes the store's, or sketch the texts again with \
                 passage={passage}"
            );
            refused(path, &reason)
        }
        _ => refused(path, &error),
    })
}

fn refused(path: &Path, reason: &impl ToString) -> Error {
    Error::Sketches {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
