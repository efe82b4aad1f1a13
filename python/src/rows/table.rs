//! Arrow tables and arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use dedupdb_corpus::JoinedText;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;

use super::nested::{ArrowNested, add_text_at, without_dictionaries};
use super::ranked::{ColumnPath, RankColumn, RankValue, found, path_of};
use super::strings::{Strings, fits, has_uuids};
use super::{ColumnNames, Flaw, KeyColumn, NESTED, RowBatch};
use crate::stream::{Batches, RaisedError, SkippedPlaces};
use crate::warning::warn;
use crate::watch::lock;

/// A stream of arrays.
pub(crate) struct ArrayStream {
    arrays: Box<dyn ArrayReader + Send>,
    field: FieldRef,
    /// The exception that ended a stream of this package.
    raised: Option<RaisedError>,
    /// What a stream of this package left out.
    skipped: Option<SkippedPlaces>,
}

impl ArrayStream {
    /// Takes the stream that an object offers.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> PyResult<ArrayStream> {
        let arrays = data.extract::<AnyArray>()?.into_reader()?;
        let field = arrays.field();
        let own = data.cast::<Batches>().ok();
        Ok(ArrayStream {
            arrays,
            field,
            raised: own.map(|own| own.get().raised()),
            skipped: own.and_then(|own| own.get().left_out()),
        })
    }

    pub(crate) fn field(&self) -> &Field {
        &self.field
    }

    pub(crate) fn next(&mut self) -> PyResult<Option<ArrayRef>> {
        self.arrays.next().transpose().map_err(|error| {
            let raised = self.raised.as_ref();
            let raised = raised.and_then(|raised| lock(raised).take());
            raised.unwrap_or_else(|| unreadable(&error))
        })
    }
}

/// The error of a stream. Of an exception of Python behind it, only the text is left.
fn unreadable(error: &ArrowError) -> PyErr {
    let message = error.to_string();
    let last = message.trim_end().lines().last();
    if last.is_some_and(|last| last.starts_with("KeyboardInterrupt")) {
        return PyKeyboardInterrupt::new_err(());
    }
    PyValueError::new_err(format!("the Arrow data cannot be read: {error}"))
}

/// Which columns of a table to read, or the array itself.
enum ColumnChoice {
    Array,
    /// The position of the key, if it is asked for, and where the texts are.
    Columns(Option<usize>, Vec<TextSelector>),
}

/// Where a text is in a table.
enum TextSelector {
    Column(usize),
    /// At the end of this path, through lists and objects.
    Path(String),
}

/// The rows of a table, or of an array of texts.
pub(crate) struct TableRows {
    reader: ArrayStream,
    picked: ColumnChoice,
    /// Where the fields are that rank rows. `None` for one that is not there.
    ranked: Vec<Option<ColumnPath>>,
    now: Option<CurrentArray>,
    kept: Option<Vec<ArrayRef>>,
}

/// The array that is being read.
struct CurrentArray {
    /// The rows with their columns. A row may be null as a whole.
    rows: Option<ArrayRef>,
    keys: Option<Strings>,
    texts: Vec<TextColumn>,
    length: usize,
    ranked: Vec<Option<RankColumn>>,
    at: usize,
}

/// A column with texts, or where they are in a row.
enum TextColumn {
    Strings(Strings),
    Nested(ArrayRef, String),
}

impl TextColumn {
    /// Adds the text of a row.
    fn add(&self, row: usize, text: &mut JoinedText) -> Result<(), Flaw> {
        match self {
            TextColumn::Strings(strings) => text.add(strings.get(row)?.to_owned()),
            TextColumn::Nested(rows, path) => {
                let row = ArrowNested {
                    array: rows.clone(),
                    row,
                };
                add_text_at(&row, path, text)?;
            }
        }
        Ok(())
    }
}

impl TableRows {
    /// Reads the columns with these names. If `or_array` is set, an array of texts will do in place of a table.
    pub(crate) fn new(
        reader: ArrayStream,
        names: &ColumnNames,
        or_array: bool,
    ) -> PyResult<TableRows> {
        let picked = match reader.field().data_type() {
            DataType::Struct(fields) => {
                let place = |role, name: &str| -> PyResult<usize> {
                    let Some((place, field)) = fields.find(name) else {
                        return Err(no_column(role, name, fields.iter()));
                    };
                    if fields.iter().filter(|field| field.name() == name).count() > 1 {
                        let message = format!("{role}: several columns are named {name:?}");
                        return Err(PyValueError::new_err(message));
                    }
                    if fits(role, field.data_type()) {
                        return Ok(place);
                    }
                    let kind = field.data_type();
                    Err(PyTypeError::new_err(format!(
                        "{role}: the column {name:?} has values of {kind}, not strings"
                    )))
                };
                let key = names.key.as_ref().map(|key| match key {
                    KeyColumn::Usual
                        if fields.find("id").is_none() && fields.find("key").is_some() =>
                    {
                        place("key", "key")
                    }
                    key => place("key", key.name()),
                });
                let key = key.transpose()?;
                let texts = names.texts.iter().map(|text| {
                    if is_path(fields, text) {
                        if names.are_nested {
                            return Ok(TextSelector::Path(text.clone()));
                        }
                        if !text.contains('[') && found(fields, text).is_none() {
                            return Err(no_column("text", text, fields.iter()));
                        }
                        if fields.find(text).is_none() {
                            let message = format!("text: {text:?} {NESTED}");
                            return Err(PyValueError::new_err(message));
                        }
                    }
                    place("text", text).map(TextSelector::Column)
                });
                ColumnChoice::Columns(key, texts.collect::<PyResult<_>>()?)
            }
            kind if or_array && fits("text", kind) => ColumnChoice::Array,
            kind => {
                let needed = if or_array { "texts" } else { "a table" };
                return Err(PyTypeError::new_err(format!(
                    "an Arrow array of {kind}, where {needed} is needed"
                )));
            }
        };
        let ranked = match reader.field().data_type() {
            DataType::Struct(fields) => {
                let paths = names.ranked.iter().map(|name| path_of(fields, name));
                paths.collect::<PyResult<_>>()?
            }
            _ => vec![None; names.ranked.len()],
        };
        Ok(TableRows {
            reader,
            picked,
            ranked,
            now: None,
            kept: None,
        })
    }

    pub(crate) fn keep(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// The names of the columns, if it is a table.
    pub(crate) fn field_names(&self) -> Vec<String> {
        match self.reader.field().data_type() {
            DataType::Struct(fields) => fields.iter().map(|it| it.name().clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// What was read. `None` for an array that is not a table.
    pub(crate) fn kept(&mut self) -> Option<(SchemaRef, Vec<ArrayRef>)> {
        let DataType::Struct(fields) = self.reader.field().data_type() else {
            return None;
        };
        let metadata = self.reader.field().metadata().clone();
        let schema = Schema::new_with_metadata(fields.clone(), metadata);
        Some((Arc::new(schema), self.kept.take()?))
    }

    /// Warns of what the stream left out, once.
    pub(crate) fn warn_of_skipped(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(skipped) = self.reader.skipped.take() else {
            return Ok(());
        };
        let skipped = lock(&skipped).clone();
        let Some((_, first)) = skipped.first() else {
            return Ok(());
        };
        let message = format!(
            "reading left out {} (first: {first}); `skipped` of what dedupdb.read returned lists it",
            dedupdb_corpus::number::counted(
                skipped.len() as u64,
                "file or record",
                "files or records"
            ),
        );
        warn(py, &message)
    }

    /// Adds the next rows to a batch.
    pub(crate) fn fill(&mut self, batch: &mut RowBatch) -> PyResult<()> {
        loop {
            if let Some(now) = &mut self.now {
                while now.at < now.length {
                    if batch.is_full() {
                        return Ok(());
                    }
                    let row = now.at;
                    let next = now.next();
                    batch.push_ranked(next, now.ranks(row));
                }
            }
            self.now = match self.reader.next()? {
                Some(rows) => Some(self.begin(rows)?),
                None => return Ok(()),
            };
        }
    }

    fn begin(&mut self, rows: ArrayRef) -> PyResult<CurrentArray> {
        if let Some(kept) = &mut self.kept {
            kept.push(rows.clone());
        }
        let ranked = self.ranked.iter().map(|path| {
            let column = path
                .as_ref()
                .map(|path| RankColumn::of(&rows, path).ok_or_else(changed));
            column.transpose()
        });
        let ranked = ranked.collect::<PyResult<_>>()?;
        let strings = |column: &ArrayRef| {
            let strings = Strings::of("text", column, false);
            strings.map(TextColumn::Strings).ok_or_else(changed)
        };
        let (keys, texts) = match &self.picked {
            ColumnChoice::Array => (None, vec![strings(&rows)?]),
            ColumnChoice::Columns(key, texts) => {
                let columns = rows.as_struct();
                let is_uuid =
                    |key: usize| columns.fields().get(key).is_some_and(|it| has_uuids(it));
                let keys = key.map(|key| Strings::of("key", columns.column(key), is_uuid(key)));
                let keys = keys.map(|keys| keys.ok_or_else(changed)).transpose()?;
                let has_path = texts.iter().any(|it| matches!(it, TextSelector::Path(_)));
                let plain = if has_path {
                    let plain = cast(&rows, &without_dictionaries(rows.data_type()));
                    plain.map_err(|error| unreadable(&error))?
                } else {
                    rows.clone()
                };
                let texts = texts.iter().map(|text| match text {
                    TextSelector::Column(column) => strings(columns.column(*column)),
                    TextSelector::Path(path) => Ok(TextColumn::Nested(plain.clone(), path.clone())),
                });
                (keys, texts.collect::<PyResult<_>>()?)
            }
        };
        Ok(CurrentArray {
            keys,
            texts,
            length: rows.len(),
            ranked,
            rows: matches!(self.picked, ColumnChoice::Columns(..)).then_some(rows),
            at: 0,
        })
    }
}

impl CurrentArray {
    fn next(&mut self) -> Result<(String, JoinedText), Flaw> {
        let row = self.at;
        self.at += 1;
        if self.rows.as_ref().is_some_and(|rows| rows.is_null(row)) {
            return Err(Flaw::Null("row"));
        }
        let key = match &self.keys {
            Some(keys) => keys.get(row)?.to_owned(),
            None => String::new(),
        };
        Ok((key, self.text(row)?))
    }

    /// The text of a row. Of several columns, one that is null or empty adds nothing.
    fn text(&self, row: usize) -> Result<JoinedText, Flaw> {
        let mut text = JoinedText::default();
        for column in &self.texts {
            match column.add(row, &mut text) {
                Ok(()) | Err(Flaw::Null(_)) => {}
                Err(flaw) => return Err(flaw),
            }
        }
        if text.has_fields() {
            Ok(text)
        } else {
            Err(Flaw::Null("text"))
        }
    }

    /// The values that rank a row.
    fn ranks(&self, row: usize) -> Result<Vec<RankValue>, Flaw> {
        let value = |column: &Option<RankColumn>| {
            let value = column.as_ref().map(|column| column.get(row)).transpose()?;
            Ok(value.flatten())
        };
        self.ranked.iter().map(value).collect()
    }
}

/// Whether a name is that of a column of lists, or a path into a column.
fn is_path(fields: &Fields, name: &str) -> bool {
    let is_column = |end: usize| fields.find(&name[..end]).is_some();
    match fields.find(name) {
        Some((_, field)) => matches!(
            field.data_type(),
            DataType::List(_) | DataType::LargeList(_)
        ),
        None => name
            .match_indices(['.', '['])
            .any(|(end, _)| is_column(end)),
    }
}

fn changed() -> PyErr {
    PyValueError::new_err(
        "the Arrow data cannot be read: an array has another type than the stream",
    )
}

/// An error that names the existing columns.
fn no_column<'a>(role: &str, name: &str, fields: impl Iterator<Item = &'a FieldRef>) -> PyErr {
    let names: Vec<String> = fields.map(|field| format!("{:?}", field.name())).collect();
    let names = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    PyValueError::new_err(format!(
        "{role}: there is no column {name:?}; there are {names}"
    ))
}
