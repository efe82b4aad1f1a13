//! Answers as tables: record batches that any Arrow library takes.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyString};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};

use crate::rows::ArrayStream;

/// A column's name, type, and whether it may be null.
pub(crate) type FieldSpec = (&'static str, DataType, bool);

/// A column's name, values, and whether it may be null.
pub(crate) type NamedColumn = (&'static str, ArrayRef, bool);

pub(crate) fn schema(columns: &[FieldSpec]) -> SchemaRef {
    let fields = columns.iter();
    let fields = fields.map(|(name, kind, nullable)| Field::new(*name, kind.clone(), *nullable));
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

pub(crate) fn defect(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// The field that stands for the rows of a schema in a stream of arrays.
pub(crate) fn rows_of(schema: &SchemaRef) -> FieldRef {
    let rows = DataType::Struct(schema.fields().clone());
    Arc::new(Field::new("", rows, false).with_metadata(schema.metadata().clone()))
}

/// The names of a schema's columns.
pub(crate) fn column_names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// A schema in the form that an Arrow library reads.
pub(crate) fn exported<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    Ok(to_schema_pycapsule(py, schema)?)
}

/// A number of a column of this type.
fn number<'py, T>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObjectExt<'py>,
{
    array.as_primitive::<T>().value(row).into_bound_py_any(py)
}

/// A value as a Python object: of strings, numbers, truth values, and lists and structs of them.
pub(crate) fn value<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    row: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_bound_py_any(py),
        DataType::Utf8View => array.as_string_view().value(row).into_bound_py_any(py),
        DataType::Int8 => number::<Int8Type>(py, array, row),
        DataType::Int16 => number::<Int16Type>(py, array, row),
        DataType::Int32 => number::<Int32Type>(py, array, row),
        DataType::Int64 => number::<Int64Type>(py, array, row),
        DataType::UInt8 => number::<UInt8Type>(py, array, row),
        DataType::UInt16 => number::<UInt16Type>(py, array, row),
        DataType::UInt32 => number::<UInt32Type>(py, array, row),
        DataType::UInt64 => number::<UInt64Type>(py, array, row),
        DataType::Float32 => number::<Float32Type>(py, array, row),
        DataType::Float64 => number::<Float64Type>(py, array, row),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::List(_) => list(py, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(py, &array.as_list::<i64>().value(row)),
        DataType::Struct(fields) => {
            let object = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                object.set_item(field.name(), value(py, column, row)?)?;
            }
            object.into_bound_py_any(py)
        }
        kind => Err(PyTypeError::new_err(format!(
            "a column of {kind} is for Arrow libraries: take pyarrow.table() or polars.DataFrame() of it"
        ))),
    }
}

/// The values of an array, as a list.
fn list<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let values = (0..array.len()).map(|row| value(py, array, row));
    let values = values.collect::<PyResult<Vec<Bound<'py, PyAny>>>>()?;
    values.into_bound_py_any(py)
}

/// A row as a dict.
pub(crate) fn record<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
    row: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        record.set_item(field.name(), value(py, column, row)?)?;
    }
    Ok(record)
}

/// Rows with named columns, for any Arrow library: ``pyarrow.table(it)``, ``polars.DataFrame(it)``,
/// ``pandas.DataFrame.from_arrow(it)``; `DuckDB` finds it by its name. ``it["name"]`` is a column as a list, ``it[0]`` a
/// row as a dict, and iterating gives each row. Pickling and ``to_pandas`` need pyarrow.
///
/// ```python
/// >>> table = dedupdb.Table(store.pairs())
/// >>> len(table), table["jaccard"], table[0]["key_b"]
/// (1, [1.0], 'trams')
/// ```
#[pyclass(frozen, module = "dedupdb")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }

    /// A table of one batch.
    pub(crate) fn one(columns: Vec<NamedColumn>) -> PyResult<Table> {
        let batch = RecordBatch::try_from_iter_with_nullable(columns);
        let batch = batch.map_err(|error| defect(&error))?;
        Ok(Table::new(batch.schema(), vec![batch]))
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some((place, _)) = self.schema.column_with_name(name) else {
            return Err(PyKeyError::new_err(name.to_owned()));
        };
        let list = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                list.append(value(py, batch.column(place), row)?)?;
            }
        }
        Ok(list)
    }
}

#[pymethods]
impl Table {
    /// Takes the rows of any Arrow table.
    #[new]
    fn of(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Table> {
        let mut reader = ArrayStream::of(data)?;
        let DataType::Struct(fields) = reader.field().data_type() else {
            return Err(PyTypeError::new_err(
                "data: an Arrow array, where a table is needed",
            ));
        };
        let metadata = reader.field().metadata().clone();
        let schema = Arc::new(Schema::new_with_metadata(fields.clone(), metadata));
        let mut batches = Vec::new();
        while let Some(rows) = py.detach(|| reader.next())? {
            let columns = rows.as_struct().columns().to_vec();
            let batch = RecordBatch::try_new(schema.clone(), columns);
            batches.push(batch.map_err(|error| defect(&error))?);
        }
        Ok(Table { schema, batches })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let arrays: Vec<Result<ArrayRef, ArrowError>> = self
            .batches
            .iter()
            .cloned()
            .map(|batch| Ok(rows(batch)))
            .collect();
        let reader = ArrayIterator::new(arrays, rows_of(&self.schema));
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        exported(py, &self.schema)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        column_names(&self.schema)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns, with their Arrow types.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for field in self.schema.fields() {
            columns.set_item(field.name(), field.data_type().to_string())?;
        }
        Ok(columns)
    }

    /// A column, by its name, as a list, or a row, by its number, as a dict.
    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(name) = name.cast::<PyString>() {
            return self.column(py, name.to_str()?).map(Bound::into_any);
        }
        let Ok(row) = name.extract::<isize>() else {
            let class = name.get_type().name()?;
            let message = format!("a table has columns, by str, and rows, by int, not by {class}");
            return Err(PyTypeError::new_err(message));
        };
        let rows = self.__len__();
        let found = if row < 0 {
            row.checked_add_unsigned(rows)
        } else {
            Some(row)
        };
        let mut at = found
            .and_then(|row| usize::try_from(row).ok())
            .unwrap_or(rows);
        for batch in &self.batches {
            if at < batch.num_rows() {
                return record(py, batch, at).map(Bound::into_any);
            }
            at -= batch.num_rows();
        }
        Err(PyIndexError::new_err(format!("row {row} of {rows}")))
    }

    /// The rows, as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                list.append(record(py, batch, row)?)?;
            }
        }
        Ok(list)
    }

    /// A frame of pandas, by pyarrow.
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        pyarrow_table(this)?.call_method0("to_pandas")
    }

    fn _repr_html_<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let shown = this.py().import("dedupdb._shown")?;
        shown.call_method1("html", (this,))
    }

    /// Supports pickling, by pyarrow.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (pyarrow_table(this)?,);
        let made = (this.get_type(), arguments).into_pyobject(this.py())?;
        Ok(made.into_any())
    }

    fn __iter__(this: Bound<'_, Self>) -> RowsOfTable {
        RowsOfTable {
            table: this.unbind(),
            batch: 0,
            row: 0,
        }
    }

    fn __repr__(&self) -> String {
        let names = self.column_names().join(", ");
        format!("<dedupdb.Table of {} rows: {names}>", self.__len__())
    }
}

fn pyarrow_table<'py>(table: &Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
    table
        .py()
        .import("pyarrow")?
        .call_method1("table", (table,))
}

/// The rows of a batch.
pub(crate) fn rows(batch: RecordBatch) -> ArrayRef {
    Arc::new(StructArray::from(batch))
}

/// The rows of a table, as dicts.
#[pyclass(module = "dedupdb")]
pub(crate) struct RowsOfTable {
    table: Py<Table>,
    batch: usize,
    row: usize,
}

#[pymethods]
impl RowsOfTable {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table.get();
        while let Some(batch) = table.batches.get(self.batch) {
            if self.row < batch.num_rows() {
                self.row += 1;
                return record(py, batch, self.row - 1).map(Some);
            }
            (self.batch, self.row) = (self.batch + 1, 0);
        }
        Ok(None)
    }
}
