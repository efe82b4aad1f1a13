//! The rows that calls are given: tables, arrays, records, and iterables of keys and texts.

mod column;
mod frame;
mod nested;
mod ranked;
mod records;
mod strings;
mod table;

use std::fmt;
use std::ops::Range;

use arrow_array::ArrayRef;
use dedupdb::Input;
use dedupdb_corpus::JoinedText;
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyInt, PyString};

pub(crate) use column::ValueColumn;
pub(crate) use ranked::RankValue;
use records::{RecordIterable, ZippedColumns};
pub(crate) use table::ArrayStream;
use table::TableRows;

/// The approximate number of bytes of text at which a batch is full.
pub(crate) const BATCH_BYTES: usize = 2 << 20;

/// The number of rows at which a batch is full.
pub(crate) const BATCH_ROWS: usize = 4096;

/// The column of what messages have besides their texts. A table may lack it.
pub(crate) const ATTACHMENTS: &str = "attachments_hash";

/// Why a text in a nested field cannot be cut.
const NESTED: &str = "is in a list or a nested field, into which nothing is written; put texts to cut into a field of their own";

/// Why a row cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    Null(&'static str),
    /// The field, and the name or names that the row does not have.
    Missing(&'static str, String),
    /// The field, and the class of its value.
    Type(&'static str, String),
    Value(&'static str, String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Null(field) => write!(f, "the {field} is null"),
            Flaw::Missing(field, names) => {
                write!(f, "the {field} is missing: there is no {names}")
            }
            Flaw::Type("row", class) => write!(f, "the row is {class}, not a string or a mapping"),
            Flaw::Type("document", class) => {
                write!(
                    f,
                    "the row is {class}, not a pair of key and text or a mapping"
                )
            }
            Flaw::Type(field, class) => write!(f, "the {field} is {class}, not a string"),
            Flaw::Value(field, what) => write!(f, "the {field} {what}"),
        }
    }
}

impl Flaw {
    pub(crate) fn raised(&self, row: u64) -> PyErr {
        let message = format!("row {row}: {self}");
        match self {
            Flaw::Type(..) => PyTypeError::new_err(message),
            Flaw::Null(_) | Flaw::Missing(..) | Flaw::Value(..) => PyValueError::new_err(message),
        }
    }
}

/// Rows that are read together: keys, which are empty if none are asked for, and texts.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    pub(crate) rows: Vec<Result<(String, String), Flaw>>,
    /// For each row without a flaw, the values of the fields that rank it. Empty if none are asked for.
    pub(crate) ranks: Vec<Vec<RankValue>>,
    /// The places of the strings in the texts of rows that have a list of them, by the numbers of these rows.
    pub(crate) lists: Vec<(usize, Vec<Range<usize>>)>,
    bytes: usize,
}

impl RowBatch {
    fn push(&mut self, row: Result<(String, String), Flaw>) {
        if let Ok((key, text)) = &row {
            self.bytes += key.len() + text.len();
        }
        self.rows.push(row);
    }

    /// Adds a row with the values that rank it, if it has no flaw.
    fn push_ranked(
        &mut self,
        row: Result<(String, JoinedText), Flaw>,
        ranks: Result<Vec<RankValue>, Flaw>,
    ) {
        match row.and_then(|row| Ok((row, ranks?))) {
            Ok(((key, text), ranks)) => {
                self.ranks.extend((!ranks.is_empty()).then_some(ranks));
                if let Some(places) = text.list() {
                    self.lists.push((self.rows.len(), places.to_vec()));
                }
                self.push(Ok((key, text.into_text().unwrap_or_default())));
            }
            Err(flaw) => self.push(Err(flaw)),
        }
    }

    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.rows.len() >= BATCH_ROWS
    }
}

/// The document of a row.
pub(crate) fn input((key, text): (String, String)) -> Input {
    Input::new(key, text)
}

/// The column with the key.
#[derive(Clone, Debug)]
pub(crate) enum KeyColumn {
    /// `id`, or `key` in a table or record without `id`: the readers of a corpus name it so.
    Usual,
    Named(String),
}

impl KeyColumn {
    pub(crate) fn name(&self) -> &str {
        match self {
            KeyColumn::Usual => "id",
            KeyColumn::Named(name) => name,
        }
    }
}

/// The names of a table's columns. Without `key`, no keys are read.
#[derive(Clone, Debug)]
pub(crate) struct ColumnNames {
    pub(crate) key: Option<KeyColumn>,
    /// At least one. Several texts are joined.
    pub(crate) texts: Vec<String>,
    /// Whether texts may be lists of strings, or at the end of paths.
    pub(crate) are_nested: bool,
    /// Fields that rank rows.
    pub(crate) ranked: Vec<String>,
}

/// Rows to be read. Arrow is read without the interpreter.
pub(crate) enum RowSource {
    Table(TableRows),
    Records(RecordIterable),
    Zipped(ZippedColumns),
}

impl RowSource {
    /// Keys and texts: from a table, from records, or from two columns.
    pub(crate) fn documents(
        data: &Bound<'_, PyAny>,
        texts: Option<&Bound<'_, PyAny>>,
        names: &ColumnNames,
    ) -> PyResult<RowSource> {
        let Some(texts) = texts else {
            check_iterable("data", data, "give its text, too")?;
            let data = &frame::narrowed(data, names)?;
            return match arrow(data)? {
                Some(reader) => Ok(RowSource::Table(TableRows::new(reader, names, false)?)),
                None => Ok(RowSource::Records(RecordIterable::new(
                    "data", data, names,
                )?)),
            };
        };
        if [data, texts].into_iter().any(is_one) {
            let (key, text) = (string("key", data), string("text", texts));
            let row = key.and_then(|key| Ok((key, text?)));
            return Ok(RowSource::Zipped(ZippedColumns::one(row)));
        }
        check_iterable("keys", data, LIST)?;
        check_iterable("texts", texts, LIST)?;
        let (keys, texts) = (
            ValueColumn::of("key", data)?,
            ValueColumn::of("text", texts)?,
        );
        Ok(RowSource::Zipped(ZippedColumns::new(Some(keys), texts)))
    }

    /// Only texts: from a table's column, an array, or an iterable of strings or records.
    ///
    /// `name` is the name of the argument.
    pub(crate) fn texts(
        name: &str,
        data: &Bound<'_, PyAny>,
        fields: Vec<String>,
    ) -> PyResult<RowSource> {
        RowSource::ranked(name, data, fields, Vec::new())
    }

    /// Texts as [`RowSource::texts`] takes them, with the fields that rank them.
    pub(crate) fn ranked(
        name: &str,
        data: &Bound<'_, PyAny>,
        fields: Vec<String>,
        ranked: Vec<String>,
    ) -> PyResult<RowSource> {
        let names = ColumnNames {
            key: None,
            texts: fields,
            are_nested: true,
            ranked,
        };
        RowSource::named(name, data, &names)
    }

    /// Texts, each a string in a field of its own, into which what is left of it can be written.
    pub(crate) fn texts_to_cut(data: &Bound<'_, PyAny>, field: String) -> PyResult<RowSource> {
        let names = ColumnNames {
            key: None,
            texts: vec![field],
            are_nested: false,
            ranked: Vec::new(),
        };
        RowSource::named("data", data, &names)
    }

    /// The names of the columns of a table, or of the fields of the first record.
    pub(crate) fn field_names(&self) -> Vec<String> {
        match self {
            RowSource::Table(table) => table.field_names(),
            RowSource::Records(records) => records.first.clone(),
            RowSource::Zipped(_) => Vec::new(),
        }
    }

    /// Texts as [`RowSource::texts`] takes them, or keys and texts from a table or from records, if a key is asked for.
    ///
    /// `name` is the name of the argument.
    pub(crate) fn named(
        name: &str,
        data: &Bound<'_, PyAny>,
        names: &ColumnNames,
    ) -> PyResult<RowSource> {
        check_iterable(name, data, LIST)?;
        let data = &frame::narrowed(data, names)?;
        let is_array = names.key.is_none();
        match arrow(data)? {
            Some(reader) => Ok(RowSource::Table(TableRows::new(reader, names, is_array)?)),
            None => Ok(RowSource::Records(RecordIterable::new(name, data, names)?)),
        }
    }

    /// Keeps what is read, for [`RowSource::kept`].
    pub(crate) fn keep(&mut self) {
        if let RowSource::Table(table) = self {
            table.keep();
        }
    }

    /// What was read from a table.
    pub(crate) fn kept(&mut self) -> Option<(arrow_schema::SchemaRef, Vec<ArrayRef>)> {
        match self {
            RowSource::Table(table) => table.kept(),
            _ => None,
        }
    }

    /// The next rows, or `None` at the end.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<RowBatch>> {
        let mut batch = RowBatch::default();
        match self {
            RowSource::Table(table) => not_stopped(py, py.detach(|| table.fill(&mut batch)))?,
            RowSource::Records(records) => records.fill(py, &mut batch)?,
            RowSource::Zipped(zipped) => zipped.fill(py, &mut batch)?,
        }
        if !batch.rows.is_empty() {
            return Ok(Some(batch));
        }
        if let RowSource::Table(table) = self {
            table.warn_of_skipped(py)?;
        }
        Ok(None)
    }
}

/// Returns what was read without the interpreter. In a Python stream, Ctrl-C arrives as an error of the stream.
fn not_stopped<T>(py: Python<'_>, read: PyResult<T>) -> PyResult<T> {
    if read.is_err() {
        py.check_signals()?;
    }
    read
}

/// Whether an object is a single value.
pub(crate) fn is_one(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || integer(object).is_some()
}

/// What to do with a string where several are needed.
const LIST: &str = "put it in a list";

/// Refuses strings, which are iterables of characters, and mappings, which are iterables of keys. Neither is meant.
///
/// `instead` says what to do with a string.
fn check_iterable(name: &str, data: &Bound<'_, PyAny>, instead: &str) -> PyResult<()> {
    let class = data.get_type().name()?;
    if data.is_instance_of::<PyString>() || data.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "{name}: one {class}, where a table or an iterable is needed; {instead}"
        )));
    }
    if data.is_instance_of::<PyDict>() {
        let instead = if class == "dict" {
            ""
        } else {
            "; choose one of its splits"
        };
        return Err(PyTypeError::new_err(format!(
            "{name}: a {class}, where a table or an iterable of dicts is needed{instead}"
        )));
    }
    Ok(())
}

/// The Arrow data that an object offers, if any.
fn arrow(data: &Bound<'_, PyAny>) -> PyResult<Option<table::ArrayStream>> {
    let py = data.py();
    let gives = |name| data.hasattr(name);
    if gives(intern!(py, "__arrow_c_array__"))? || gives(intern!(py, "__arrow_c_stream__"))? {
        return Ok(Some(table::ArrayStream::of(data)?));
    }
    // Hugging Face data sets are tables, but offer them in their own way.
    let is_table = gives(intern!(py, "with_format"))? && gives(intern!(py, "column_names"))?;
    // A streamed one, without a length, is an iterable of dicts.
    if is_table && gives(intern!(py, "__len__"))? {
        let table = data.call_method1("with_format", ("arrow",))?;
        let table = table.get_item(pyo3::types::PySlice::full(py))?;
        return Ok(Some(table::ArrayStream::of(&table)?));
    }
    Ok(None)
}

/// Extracts a string.
pub(crate) fn string(field: &'static str, object: &Bound<'_, PyAny>) -> Result<String, Flaw> {
    if let Ok(string) = object.cast::<PyString>() {
        return match string.to_str() {
            Ok(string) => Ok(string.to_owned()),
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(object.py()) => {
                let what = "has a lone surrogate, which no UTF-8 text has";
                Err(Flaw::Value(field, what.to_owned()))
            }
            Err(error) => Err(Flaw::Value(field, error.to_string())),
        };
    }
    if object.is_none() {
        return Err(Flaw::Null(field));
    }
    if let ("key", Some(integer)) = (field, integer(object)) {
        let digits = integer.str().map(|digits| digits.to_string());
        return digits.map_err(|error| Flaw::Value(field, error.to_string()));
    }
    if field == "key"
        && let Some(text) = typed_key(object)
    {
        return text.map_err(|error| Flaw::Value(field, error.to_string()));
    }
    let class = object.get_type().name();
    let class = class.map_or_else(|_| "something".to_owned(), |name| name.to_string());
    Err(Flaw::Type(field, class))
}

/// The text of a key that is a UUID or a date, as in an Arrow column. `None` if it is something else.
fn typed_key(object: &Bound<'_, PyAny>) -> Option<PyResult<String>> {
    let class = object.get_type();
    let (module, name) = (class.module().ok()?, class.name().ok()?);
    let has_text = matches!(
        (module.to_str().ok()?, name.to_str().ok()?),
        ("uuid", "UUID") | ("datetime", "date")
    );
    has_text.then(|| object.str().map(|text| text.to_string()))
}

/// Integers can be keys, those of other libraries, too. True and false cannot, nor arrays with a single integer.
fn integer<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if object.is_instance_of::<PyInt>() {
        return (!object.is_instance_of::<PyBool>()).then(|| object.clone());
    }
    let has = |name| object.hasattr(name).unwrap_or(false);
    if has("__len__") || !has("__index__") {
        return None;
    }
    object.call_method0("__index__").ok()
}
