//! Python objects: records, strings, and columns side by side.

use arrow_schema::DataType;
use dedupdb_corpus::JoinedText;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString, PyTuple};

use super::column::{ValueColumn, iterator};
use super::nested::{PyNested, add_text_at};
use super::ranked::{RankValue, value_of};
use super::table::{ArrayStream, TableRows};
use super::{ColumnNames, Flaw, KeyColumn, NESTED, RowBatch, arrow, not_stopped, string};

/// The maximum number of fields that a message names.
const MOST_NAMED: usize = 10;

/// An iterable of mappings, of pairs, of record batches or, if no keys are asked for, of strings.
pub(crate) struct RecordIterable {
    objects: Py<PyIterator>,
    names: ColumnNames,
    /// The batch that is being read.
    part: Option<TableRows>,
    key: Option<Py<PyString>>,
    /// The name of the key in records without the other one.
    other_key: Option<Py<PyString>>,
    texts: Vec<Py<PyString>>,
    /// The fields of the first record, if rows are ranked.
    pub(super) first: Vec<String>,
}

impl RecordIterable {
    /// `name` is the name of the argument.
    pub(crate) fn new(
        name: &str,
        data: &Bound<'_, PyAny>,
        names: &ColumnNames,
    ) -> PyResult<RecordIterable> {
        let py = data.py();
        let objects = iterator(name, data)?;
        let name = |name: &str| PyString::intern(py, name).unbind();
        Ok(RecordIterable {
            objects,
            names: names.clone(),
            part: None,
            key: names.key.as_ref().map(|key| name(key.name())),
            other_key: matches!(names.key, Some(KeyColumn::Usual)).then(|| name("key")),
            texts: names.texts.iter().map(|text| name(text)).collect(),
            first: Vec::new(),
        })
    }

    pub(crate) fn fill(&mut self, py: Python<'_>, batch: &mut RowBatch) -> PyResult<()> {
        let mut objects = self.objects.bind(py).clone();
        while !batch.is_full() {
            if let Some(part) = &mut self.part {
                not_stopped(py, py.detach(|| part.fill(batch)))?;
                if batch.is_full() {
                    return Ok(());
                }
                self.part = None;
            }
            let Some(object) = objects.next().transpose()? else {
                return Ok(());
            };
            if let Some(reader) = rows_of(&object)? {
                self.part = Some(TableRows::new(reader, &self.names, false)?);
                continue;
            }
            let row = self.row(&object)?;
            let ranks = self.ranks(&object)?;
            batch.push_ranked(row, Ok(ranks));
        }
        Ok(())
    }

    /// The values that rank a record.
    fn ranks(&mut self, record: &Bound<'_, PyAny>) -> PyResult<Vec<RankValue>> {
        if !self.names.ranked.is_empty() && self.first.is_empty() && record.hasattr("keys")? {
            let names = record.call_method0("keys")?.try_iter()?;
            let names = names.map(|name| Ok(name?.str()?.to_string()));
            self.first = names.collect::<PyResult<_>>()?;
        }
        let ranked = self.names.ranked.iter();
        ranked.map(|name| value_of(record, name)).collect()
    }

    fn row(&self, object: &Bound<'_, PyAny>) -> PyResult<Result<(String, JoinedText), Flaw>> {
        let py = object.py();
        let Some(key) = &self.key else {
            if object.is_none() || object.is_instance_of::<PyString>() {
                let text = string("text", object);
                return Ok(text.map(|text| (String::new(), text.into())));
            }
            let text = self.text(object)?;
            return Ok(text.map(|text| (String::new(), text)));
        };
        if object.is_none() {
            return Ok(Err(Flaw::Null("row")));
        }
        if let Ok(pair) = object.cast::<PyTuple>() {
            if pair.len() != 2 {
                let what = format!("is a tuple of {}, not of a key and a text", pair.len());
                return Ok(Err(Flaw::Value("row", what)));
            }
            let (key, text) = (pair.get_item(0)?, pair.get_item(1)?);
            let pair = string("key", &key).and_then(|key| Ok((key, string("text", &text)?)));
            return Ok(pair.map(|(key, text)| (key, text.into())));
        }
        let (mut key, has) = (key.bind(py), |name: &Bound<'_, PyString>| {
            object.contains(name)
        });
        if let Some(other) = &self.other_key
            && !has(key).unwrap_or(true)
            && has(other.bind(py)).unwrap_or(false)
        {
            key = other.bind(py);
        }
        let key = match value(object, key, "key")? {
            Ok(key) => key,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let text = self.text(object)?;
        Ok(text.map(|text| (key, text)))
    }

    /// The text of a record. Of several fields, one that is missing, null or empty adds nothing.
    fn text(&self, record: &Bound<'_, PyAny>) -> PyResult<Result<JoinedText, Flaw>> {
        let (mut text, mut is_null, mut missing) = (JoinedText::default(), false, Vec::new());
        for name in &self.texts {
            match self.add_field(record, name.bind(record.py()), &mut text)? {
                Ok(()) => {}
                Err(Flaw::Null(_)) => is_null = true,
                Err(Flaw::Missing(_, name)) => missing.push(name),
                Err(flaw) => return Ok(Err(flaw)),
            }
        }
        Ok(if text.has_fields() {
            Ok(text)
        } else if is_null {
            Err(Flaw::Null("text"))
        } else {
            let names = missing.join(" or ");
            Err(Flaw::Missing("text", names + &there_are(record)?))
        })
    }

    /// Adds the text of a field.
    fn add_field(
        &self,
        record: &Bound<'_, PyAny>,
        name: &Bound<'_, PyString>,
        text: &mut JoinedText,
    ) -> PyResult<Result<(), Flaw>> {
        let value = field(record, name, "text")?;
        let is_nested = match &value {
            Ok(value) => value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>(),
            Err(flaw) => matches!(flaw, Flaw::Missing(..)),
        };
        if is_nested {
            let (record, path) = (PyNested(record.clone()), name.to_cow()?);
            if self.names.are_nested {
                return Ok(add_text_at(&record, &path, text));
            }
            if value.is_err() && add_text_at(&record, &path, &mut JoinedText::default()).is_ok() {
                return Ok(Err(Flaw::Value("text", NESTED.to_owned())));
            }
        }
        let string = value.and_then(|value| string("text", &value));
        Ok(string.map(|string| text.add(string)))
    }
}

/// Names the fields of a record, as the end of a message.
fn there_are(record: &Bound<'_, PyAny>) -> PyResult<String> {
    let fields = record.call_method0("keys")?.try_iter()?;
    let names: Vec<String> = fields
        .take(MOST_NAMED)
        .map(|field| Ok(field?.repr()?.to_string()))
        .collect::<PyResult<_>>()?;
    Ok(match names[..] {
        [] => "; there are none".to_owned(),
        _ => format!("; there are {}", names.join(", ")),
    })
}

/// The rows of an object that is a record batch or a table.
fn rows_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayStream>> {
    let is_one = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PyTuple>();
    let rows = if is_one { None } else { arrow(object)? };
    Ok(rows.filter(|rows| matches!(rows.field().data_type(), DataType::Struct(_))))
}

/// The string of a field of a record.
fn value(
    record: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    role: &'static str,
) -> PyResult<Result<String, Flaw>> {
    let value = field(record, name, role)?;
    Ok(value.and_then(|value| string(role, &value)))
}

/// The value of a field of a record.
fn field<'py>(
    record: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    field: &'static str,
) -> PyResult<Result<Bound<'py, PyAny>, Flaw>> {
    let missing = || Ok(Err(Flaw::Missing(field, format!("{name:?}"))));
    if let Ok(record) = record.cast::<PyDict>() {
        return match record.get_item(name)? {
            Some(value) => Ok(Ok(value)),
            None => missing(),
        };
    }
    if !record.hasattr("keys")? {
        let class = record.get_type().name()?.to_string();
        let row = if field == "key" { "document" } else { "row" };
        return Ok(Err(Flaw::Type(row, class)));
    }
    match record.get_item(name) {
        Ok(value) => Ok(Ok(value)),
        Err(error) if error.is_instance_of::<PyKeyError>(record.py()) => missing(),
        Err(error) => Err(error),
    }
}

/// Keys and texts, side by side.
pub(crate) struct ZippedColumns {
    one: Option<Result<(String, String), Flaw>>,
    columns: Option<(Option<ValueColumn>, ValueColumn)>,
    rows: u64,
}

impl ZippedColumns {
    pub(crate) fn new(keys: Option<ValueColumn>, texts: ValueColumn) -> ZippedColumns {
        ZippedColumns {
            one: None,
            columns: Some((keys, texts)),
            rows: 0,
        }
    }

    /// A single row.
    pub(crate) fn one(row: Result<(String, String), Flaw>) -> ZippedColumns {
        ZippedColumns {
            one: Some(row),
            columns: None,
            rows: 0,
        }
    }

    pub(crate) fn fill(&mut self, py: Python<'_>, batch: &mut RowBatch) -> PyResult<()> {
        if let Some(row) = self.one.take() {
            batch.push(row);
        }
        let Some((keys, texts)) = &mut self.columns else {
            return Ok(());
        };
        while !batch.is_full() {
            let key = keys.as_mut().map(|keys| keys.next(py)).transpose()?;
            let row = match (key, texts.next(py)?) {
                (Some(Some(key)), Some(text)) => key.and_then(|key| Ok((key, text?))),
                (None, Some(text)) => text.map(|text| (String::new(), text)),
                (None | Some(None), None) => return Ok(()),
                (Some(key), _) => {
                    let rows = self.rows;
                    let noun = if rows == 1 { "row" } else { "rows" };
                    let (short, long) = match key {
                        Some(_) => ("texts", "keys"),
                        None => ("keys", "texts"),
                    };
                    return Err(PyValueError::new_err(format!(
                        "{short} end after {rows} {noun}, and {long} go on"
                    )));
                }
            };
            self.rows += 1;
            batch.push(row);
        }
        Ok(())
    }
}
