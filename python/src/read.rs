//! Files as Arrow batches, by the readers of the corpus.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use dedupdb::Progress;
use dedupdb::write::IdScope;
use dedupdb_corpus::{
    Corpus, Encoding, Format, Glob, Nth, Reason, Repeats, Source, SourcedText, WantedFields,
};
use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments;
use crate::errors::of_corpus;
use crate::fields::FieldColumns;
use crate::file_object::FileObject;
use crate::row_adder::ErrorPolicy;
use crate::rows::ATTACHMENTS;
use crate::stream::{Batches, DeferredError, ROWS, SkippedPlaces};
use crate::table::{defect, schema};
use crate::warning::warn;
use crate::watch::{lock, waited};

/// The approximate number of bytes of text in a batch.
const BYTES: usize = 4 << 20;

/// The same for the first batch, if that decides the types of other fields.
const FIRST_BYTES: usize = 32 << 20;

/// Reads files, folders and patterns as documents: columns ``key``, ``text``, ``source``, ``record`` and
/// ``attachments_hash``.
#[pyfunction]
#[pyo3(signature = (paths, *, format=None, text_field=None, id_field=None, id_scope=None, encoding=None, follow=false, max_document=None, include=Vec::new(), exclude=Vec::new(), gitignore=false, quoted=true, errors="raise", columns=None))]
#[expect(clippy::too_many_arguments, reason = "they have names")]
pub(crate) fn read(
    py: Python<'_>,
    paths: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::format)] format: Option<String>,
    #[pyo3(from_py_with = arguments::text_field)] text_field: Option<Vec<String>>,
    #[pyo3(from_py_with = arguments::id_field)] id_field: Option<String>,
    #[pyo3(from_py_with = arguments::id_scope)] id_scope: Option<String>,
    #[pyo3(from_py_with = arguments::encoding)] encoding: Option<String>,
    follow: bool,
    #[pyo3(from_py_with = arguments::max_document)] max_document: Option<u64>,
    #[pyo3(from_py_with = arguments::include)] include: Vec<String>,
    #[pyo3(from_py_with = arguments::exclude)] exclude: Vec<String>,
    gitignore: bool,
    quoted: bool,
    #[pyo3(from_py_with = arguments::errors)] errors: &str,
    #[pyo3(from_py_with = arguments::columns)] columns: Option<WantedFields>,
) -> PyResult<Batches> {
    let refused = |error| of_corpus(py, &error);
    let errors = ErrorPolicy::of(errors)?;
    let mut options = Corpus::options()
        .follow(follow)
        .text_fields(text_field.unwrap_or_default())
        .repeats(Repeats::Tell)
        .gitignore(gitignore)
        .quoted(quoted);
    if let Some(format) = format {
        options = options.format(format.parse::<Format>().map_err(refused)?);
    }
    if let Some(encoding) = encoding {
        options = options.encoding(encoding.parse::<Encoding>().map_err(refused)?);
    }
    if let Some(id) = id_field {
        options = options.id_field(id);
    }
    match id_scope.as_deref() {
        None => {}
        Some("all") => options = options.id_scope(IdScope::All),
        Some("file") => options = options.id_scope(IdScope::File),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "id_scope: {other:?}; there are \"all\" and \"file\""
            )));
        }
    }
    if let Some(wanted) = &columns {
        options = options.fields(wanted.clone());
    }
    if let Some(bytes) = max_document {
        options = options.max_document(bytes);
    }
    for glob in include {
        options = options.include(parsed("include", &glob)?);
    }
    for glob in exclude {
        options = options.exclude(parsed("exclude", &glob)?);
    }
    let sources = paths.try_iter()?.map(|path| source(&path?));
    let sources = sources.collect::<PyResult<Vec<Source>>>()?;
    let corpus = options.open(sources).map_err(refused)?;
    CorpusBatches {
        corpus,
        schema: schema(&[
            ("key", DataType::Utf8, false),
            ("text", DataType::LargeUtf8, false),
            ("source", DataType::Utf8, false),
            ("record", DataType::UInt64, true),
            (ATTACHMENTS, DataType::Utf8, true),
        ]),
        fields: columns.map(FieldColumns::new),
        skipped: SkippedPlaces::default(),
        errors,
        is_empty: true,
        failed: None,
        has_warned: false,
        has_warned_of_repeat: false,
    }
    .stream(py)
}

/// A path or pattern, or the name of a stream, its key, and the object that reads it.
fn source(path: &Bound<'_, PyAny>) -> PyResult<Source> {
    let Ok(stream) = path.cast::<PyTuple>() else {
        return Ok(Source::from(arguments::named::<PathBuf>("paths", path)?));
    };
    let (name, key, file) = stream.extract::<(String, String, Py<PyAny>)>()?;
    Ok(Source::stream(name, FileObject(file)).key(key))
}

fn parsed(name: &str, glob: &str) -> PyResult<Glob> {
    glob.parse()
        .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// A corpus that is being read into batches.
struct CorpusBatches {
    corpus: Corpus,
    schema: SchemaRef,
    /// The other fields of records, if they are wanted.
    fields: Option<FieldColumns>,
    skipped: SkippedPlaces,
    /// What to do about a file that was named and cannot be read.
    errors: ErrorPolicy,
    /// Whether there has been no document yet.
    is_empty: bool,
    /// The first failure.
    failed: Option<String>,
    /// Whether a warning said that a text seems to have records.
    has_warned: bool,
    /// Whether a warning said that a record has the id of an earlier one.
    has_warned_of_repeat: bool,
}

impl CorpusBatches {
    /// Returns the stream of the batches. If other fields are wanted, the first batch is read before, for their types.
    fn stream(mut self, py: Python<'_>) -> PyResult<Batches> {
        let mut first = None;
        if self.fields.is_some() {
            let (reading, batch) = waited(py, move |progress| {
                let batch = self.next(progress);
                (self, batch)
            })?;
            self = reading;
            first = batch.map_err(|failure| failure(py))?;
            if first.is_none() {
                self.complete_schema();
            }
        }
        let (schema, skipped) = (self.schema.clone(), self.skipped.clone());
        let make = move |progress: &Progress| match first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.next(progress),
        };
        Ok(Batches::new("documents", schema, Box::new(make)).skipping(skipped))
    }

    fn next(&mut self, progress: &Progress) -> Result<Option<RecordBatch>, DeferredError> {
        let (mut keys, mut sources) = (StringBuilder::new(), StringBuilder::new());
        let mut texts = arrow_array::builder::LargeStringBuilder::new();
        let mut records = UInt64Builder::new();
        let mut attachments = StringBuilder::new();
        let (mut rows, mut bytes) = (0, 0);
        let limit = self.bytes();
        while rows < ROWS && bytes < limit && !progress.is_stopped() {
            match self.corpus.next() {
                None => break,
                Some(Err(one)) if one.reason == Reason::NotFound => {
                    return Err(Box::new(move |_| {
                        PyFileNotFoundError::new_err(one.message())
                    }));
                }
                Some(Err(one))
                    if one.named && one.is_failure() && self.errors == ErrorPolicy::Raise =>
                {
                    let mut message = one.message();
                    let skipped = lock(&self.skipped);
                    let mut own = skipped
                        .iter()
                        .filter(|(place, _)| place.starts_with(&one.place));
                    if one.reason == Reason::AllBad
                        && let Some((_, first)) = own.next()
                    {
                        message = format!("{message}; first: {first}");
                    }
                    return Err(Box::new(move |_| PyValueError::new_err(message)));
                }
                Some(Err(one)) => {
                    if one.is_failure() && self.failed.is_none() {
                        self.failed = Some(one.message());
                    }
                    lock(&self.skipped).push((one.place.clone(), one.message()));
                }
                Some(Ok(document)) => {
                    self.warn_of_records(&document)?;
                    self.warn_of_repeat(&document)?;
                    keys.append_value(&document.key);
                    texts.append_value(document.text());
                    sources.append_value(document.source.to_string_lossy());
                    records.append_option(document.record.map(Nth::number));
                    let attached = document.attachments().map(blake3::Hash::from_bytes);
                    attachments.append_option(attached.map(|hash| hash.to_hex().to_string()));
                    rows += 1;
                    bytes += document.text().len();
                    if let Some(fields) = &mut self.fields {
                        let mut origin = document.into_origin();
                        let of_record = origin.fields.take();
                        bytes += fields.push((&origin.source, origin.place()), of_record);
                    }
                }
            }
        }
        if rows == 0 {
            return self.end(progress);
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(keys.finish()),
            Arc::new(texts.finish()),
            Arc::new(sources.finish()),
            Arc::new(records.finish()),
            Arc::new(attachments.finish()),
        ];
        self.add_fields(&mut columns)?;
        self.is_empty = false;
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        batch
            .map(Some)
            .map_err(|error| -> DeferredError { Box::new(move |_| defect(&error)) })
    }

    /// The approximate number of bytes in the next batch. The first one decides the types of fields.
    fn bytes(&self) -> usize {
        if self.fields.is_some() && self.is_empty {
            FIRST_BYTES
        } else {
            BYTES
        }
    }

    /// Adds the columns of the other fields to those of a batch. The first batch completes the schema.
    fn add_fields(&mut self, columns: &mut Vec<ArrayRef>) -> Result<(), DeferredError> {
        let Some(fields) = &mut self.fields else {
            return Ok(());
        };
        let others = fields.finish();
        let others = others
            .map_err(|what| -> DeferredError { Box::new(move |_| PyValueError::new_err(what)) })?;
        columns.extend(others);
        let warnings = fields.take_warnings();
        if self.is_empty {
            self.complete_schema();
        }
        let warned = Python::attach(|py| warnings.iter().try_for_each(|it| warn(py, it)));
        warned.map_err(|error| -> DeferredError { Box::new(move |_| error) })
    }

    /// Adds the other fields to the schema, which are known after the first batch.
    fn complete_schema(&mut self) {
        let others = self.fields.iter().flat_map(FieldColumns::fields);
        let own = self.schema.fields().iter().map(|own| {
            let fields = self.fields.as_ref();
            match fields.and_then(|fields| fields.name_beside(own.name())) {
                Some(name) => Arc::new(own.as_ref().clone().with_name(name)),
                None => own.clone(),
            }
        });
        let all: Fields = own.chain(others.map(Arc::new)).collect();
        self.schema = Arc::new(Schema::new(all));
    }

    /// Warns of the first text that seems to have records.
    fn warn_of_records(&mut self, document: &SourcedText) -> Result<(), DeferredError> {
        let Some(unsplit) = document.unsplit.filter(|_| !self.has_warned) else {
            return Ok(());
        };
        self.has_warned = true;
        let what = unsplit.note(|format| format!("format=\"{format}\""));
        let message = format!("{}: {what}", document.source.display());
        let warned = Python::attach(|py| warn(py, &message));
        warned.map_err(|error| -> DeferredError { Box::new(move |_| error) })
    }

    /// Warns of the first record whose id came before with another text.
    fn warn_of_repeat(&mut self, document: &SourcedText) -> Result<(), DeferredError> {
        let repeated = document.repeated.as_ref();
        let Some(repeated) = repeated.filter(|_| !self.has_warned_of_repeat) else {
            return Ok(());
        };
        self.has_warned_of_repeat = true;
        let hint = match repeated.hint {
            Some(_) => "; if each file has its own ids, give id_scope=\"file\"",
            None => "",
        };
        let (place, detail) = (document.place(), &repeated.detail);
        let message = format!("{place}: {detail}; both rows have this key{hint}");
        let warned = Python::attach(|py| warn(py, &message));
        warned.map_err(|error| -> DeferredError { Box::new(move |_| error) })
    }

    /// Ends the reading. If a failure left nothing to return, that is an error.
    fn end(&mut self, progress: &Progress) -> Result<Option<RecordBatch>, DeferredError> {
        match self.failed.take() {
            Some(first) if self.is_empty && !progress.is_stopped() => Err(Box::new(move |_| {
                PyValueError::new_err(format!("nothing could be read; first: {first}"))
            })),
            _ => self.check_fields(progress),
        }
    }

    /// Checks at the end that each column that was named is in a record.
    fn check_fields(&self, progress: &Progress) -> Result<Option<RecordBatch>, DeferredError> {
        let missing = self.fields.as_ref().and_then(FieldColumns::missing);
        let Some(name) = missing.filter(|_| !self.is_empty && !progress.is_stopped()) else {
            return Ok(None);
        };
        let message =
            format!("columns: no record has a field {name:?}; \"all\" gives those that there are");
        Err(Box::new(move |_| PyValueError::new_err(message)))
    }
}
