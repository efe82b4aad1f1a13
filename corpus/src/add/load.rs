//! Loading sketches into a store.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::event::AddEvent;
use super::summary::{AddSummary, EndReason};
use crate::error::Error;
use crate::formats::parquet::sketches::{SketchRow, SketchRows};
use crate::item::Origin;
use crate::options::MEMORY;
use crate::skipped::{Reason, Skipped};
use crate::source::{Source, SourceKind, expanded};
use dedupdb::write::{Intake, Pipeline};
use dedupdb::{Schema, Store};

/// How long to wait for the pipeline at a time.
const TICK: Duration = Duration::from_millis(50);

/// Adds sketches from files to a store. The result is that of adding the texts in the same order.
///
/// The files are Parquet, with the columns that `dedupdb.spark.sketch` makes: `key`, `hash` (BLAKE3, 32 bytes),
/// `bytes` (of the text), `size` (number of shingles), `packed` (the shingles), and `parameters`
/// ([`Mark`](dedupdb::batch::Mark)). Signatures and band hashes are computed from the shingles. Documents are numbered
/// in the order of the files and rows; `dedupdb.spark.load` sorts each partition by key. Rows without a sketch,
/// because their key or text was null, are skipped and reported.
///
/// A stopped load keeps what it has committed; the same load continues from there.
#[derive(Clone, Debug)]
#[must_use = "nothing is loaded before it is run"]
pub struct Load {
    files: Vec<PathBuf>,
    memory: u64,
}

impl Load {
    /// Loads files, all `*.parquet` files of folders, sorted by name, and files that match patterns such as
    /// `sketches/*.parquet`.
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

    /// Returns the parameters of the first sketch, which the store must have, or `None` if there is no sketch.
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

    /// Loads the sketches and reports to the observer. If the observer stops the load, what was loaded so far is
    /// committed.
    ///
    /// # Errors
    ///
    /// [`Error::Sketches`] if a file is damaged or its parameters differ from the store's; if the first rows of a file
    /// show this, nothing is loaded. Otherwise, errors of the store. Earlier commits stay.
    pub fn run(
        self,
        store: &Store,
        mut observe: impl FnMut(AddEvent<'_>) -> ControlFlow<()>,
    ) -> Result<AddSummary, Error> {
        for path in &self.files {
            check(path, store)?;
        }
        let pipeline = store.pipeline(Intake::new().memory(self.memory))?;
        let mut run = LoadRun {
            pipeline,
            added: AddSummary::default(),
            documents: 0,
            bytes: 0,
            observe: &mut observe,
        };
        for path in &self.files {
            if run.file(path)?.is_break() {
                run.added.ended = EndReason::Stopped;
                break;
            }
        }
        run.pipeline.close();
        while run.pipeline.under_way() > 0 {
            run.wait(TICK)?;
        }
        let LoadRun {
            pipeline,
            added,
            documents,
            bytes,
            ..
        } = run;
        drop(pipeline);
        if added.ended == EndReason::All {
            store.pack_if_loose(|_| observe(AddEvent::Progress { documents, bytes }))?;
        }
        Ok(added)
    }
}

/// Returns the sketch files of a folder that an engine wrote.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| refused(folder, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refused(folder, &error))?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.extension().is_some_and(|end| end == "parquet") {
            files.push(path);
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

/// Refuses a file whose sketches have other parameters than the store. Only whether shingles are kept may differ.
fn check(path: &Path, store: &Store) -> Result<(), Error> {
    let Some(schema) = schema_of(path)? else {
        return Ok(());
    };
    let stored = store.schema();
    let schema = schema.to_builder().keep_shingles(stored.keeps_shingles());
    let same = schema.build().and_then(|schema| stored.check_same(&schema));
    same.map_err(|error| refused(path, &error))
}

fn refused(path: &Path, reason: &impl ToString) -> Error {
    Error::Sketches {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// A load in progress.
struct LoadRun<'a> {
    pipeline: Pipeline,
    added: AddSummary,
    documents: u64,
    bytes: u64,
    observe: &'a mut dyn FnMut(AddEvent<'_>) -> ControlFlow<()>,
}

impl LoadRun<'_> {
    /// Loads a file. Breaks if the observer stops the load.
    fn file(&mut self, path: &Path) -> Result<ControlFlow<()>, Error> {
        let mut rows = open(path)?;
        let mut origin = Origin::new(String::new(), path.to_owned());
        origin.has_id = true;
        let mut flow = ControlFlow::Continue(());
        loop {
            let progress = AddEvent::Progress {
                documents: self.documents,
                bytes: self.bytes,
            };
            if flow.is_break() || (self.observe)(progress).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let read = rows
                .read()
                .map_err(|error: io::Error| refused(path, &error))?;
            if read.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            self.documents += read.len() as u64;
            let mut inputs = Vec::with_capacity(read.len());
            for row in read {
                match row {
                    SketchRow::Sketch(input) => {
                        origin.bytes = input.source_bytes();
                        self.bytes += origin.bytes;
                        self.added.reading.document(&origin);
                        inputs.push(input);
                    }
                    SketchRow::Flawed(number, why) => {
                        // A batch that is begun is loaded whole.
                        if self.skip(path, number, why).is_break() {
                            flow = ControlFlow::Break(());
                        }
                    }
                }
            }
            self.pipeline.push(inputs);
            self.wait(Duration::ZERO)?;
            while self.pipeline.is_full() {
                self.wait(TICK)?;
            }
        }
    }

    /// Counts and reports a row without a sketch.
    fn skip(&mut self, path: &Path, number: u64, why: String) -> ControlFlow<()> {
        let skipped = Skipped {
            reason: Reason::BadRecord,
            place: format!("{}#{number}", path.display()),
            detail: why,
            hint: None,
            named: false,
            record: None,
        };
        self.added.reading.skipped(&skipped);
        (self.observe)(AddEvent::Skipped(&skipped))
    }

    /// Waits up to `time` for outcomes of the pipeline and counts them.
    fn wait(&mut self, time: Duration) -> Result<(), Error> {
        for outcome in self.pipeline.wait(time)?.unwrap_or_default() {
            self.added.outcome(&outcome?);
        }
        Ok(())
    }
}
