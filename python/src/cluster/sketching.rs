//! From texts to the sketches that engines move in their place.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use dedupdb::batch::{ContentCode, KeyWidth, Mark, Sketcher, TextSketch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::columns::BytesColumn;
use crate::errors::raised;
use crate::schema::built;
use crate::table::{NamedColumn, Table};

/// Sketches batches of documents.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterSketcher {
    sketcher: Sketcher,
    /// The parameters on one line. Every sketch has them.
    mark: String,
    pool: ThreadPool,
}

#[pymethods]
impl ClusterSketcher {
    #[new]
    fn new(py: Python<'_>, threads: usize, parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let schema = built(py, Some(parameters))?;
        let sketcher = Sketcher::new(&schema, KeyWidth::Bits64);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        Ok(ClusterSketcher {
            mark: Mark::new(&schema).to_string(),
            sketcher: sketcher.map_err(|error| raised(py, &error))?,
            pool: pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?,
        })
    }

    /// The parameters on one line.
    #[getter]
    fn parameters(&self) -> &str {
        &self.mark
    }

    /// Whether sketches have a column `fingerprints`.
    #[getter]
    fn has_fingerprints(&self) -> bool {
        self.sketcher.schema().passage() > 0
    }

    #[getter]
    fn threshold(&self) -> f64 {
        self.sketcher.schema().threshold()
    }

    /// One row for each row of a batch, whose columns are `key` and `text`.
    fn sketch(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| self.sketched(&batch))
    }
}

impl ClusterSketcher {
    fn sketched(&self, batch: &RecordBatch) -> PyResult<Table> {
        let (keys, texts) = (
            BytesColumn::of(batch, "key")?,
            BytesColumn::of(batch, "text")?,
        );
        let rows = 0..batch.num_rows();
        let given: Vec<usize> = rows
            .filter(|&row| keys.get(row).is_some() && texts.get(row).is_some())
            .collect();
        let given_texts: Vec<&str> = given.iter().map(|&row| texts.text(row)).collect();
        let sketches = self.pool.install(|| self.sketcher.sketch_all(&given_texts));
        let mut columns = SketchBuilders::default();
        let mut sketches = given.into_iter().zip(sketches).peekable();
        for row in 0..batch.num_rows() {
            let key = keys.get(row).map(|_| keys.text(row));
            match sketches.next_if(|&(given, _)| given == row) {
                Some((row, Ok(sketch))) => {
                    let bytes = texts.get(row).unwrap_or_default().len();
                    columns.push(key, bytes, &sketch);
                }
                Some((_, Err(error))) => columns.push_flawed(key, &error.to_string()),
                None if key.is_none() => columns.push_flawed(key, "null key"),
                None => columns.push_flawed(key, "null text"),
            }
        }
        columns.table(&self.mark, batch.num_rows(), self.has_fingerprints())
    }
}

/// The columns of sketches.
struct SketchBuilders {
    key: StringBuilder,
    hash: BinaryBuilder,
    code: Int64Builder,
    bytes: Int64Builder,
    size: Int32Builder,
    keys: ListBuilder<Int64Builder>,
    packed: BinaryBuilder,
    fingerprints: BinaryBuilder,
    flaw: StringBuilder,
}

impl Default for SketchBuilders {
    fn default() -> SketchBuilders {
        SketchBuilders {
            key: StringBuilder::new(),
            hash: BinaryBuilder::new(),
            code: Int64Builder::new(),
            bytes: Int64Builder::new(),
            size: Int32Builder::new(),
            keys: ListBuilder::new(Int64Builder::new()),
            packed: BinaryBuilder::new(),
            fingerprints: BinaryBuilder::new(),
            flaw: StringBuilder::new(),
        }
    }
}

impl SketchBuilders {
    /// Appends the row of a text with this number of bytes.
    fn push(&mut self, key: Option<&str>, bytes: usize, sketch: &TextSketch) {
        self.key.append_option(key);
        self.hash.append_value(sketch.hash);
        let code = ContentCode::new(&sketch.hash, sketch.size).number();
        self.code.append_value(code.cast_signed());
        self.bytes
            .append_value(i64::try_from(bytes).unwrap_or(i64::MAX));
        self.size
            .append_value(i32::try_from(sketch.size).unwrap_or(i32::MAX));
        let keys = sketch.keys.iter().copied();
        self.keys.append_value(keys.map(u64::cast_signed).map(Some));
        self.packed.append_value(&sketch.packed);
        self.fingerprints.append_value(&sketch.fingerprints);
        let is_empty = sketch.size == 0;
        self.flaw.append_option(is_empty.then_some("empty text"));
    }

    fn push_flawed(&mut self, key: Option<&str>, flaw: &str) {
        self.key.append_option(key);
        self.hash.append_null();
        self.code.append_null();
        self.bytes.append_null();
        self.size.append_value(0);
        self.keys.append(false);
        self.packed.append_null();
        self.fingerprints.append_null();
        self.flaw.append_value(flaw);
    }

    fn table(mut self, mark: &str, rows: usize, has_fingerprints: bool) -> PyResult<Table> {
        let mut marks = StringBuilder::new();
        (0..rows).for_each(|_| marks.append_value(mark));
        let mut columns: Vec<NamedColumn> = vec![
            ("key", Arc::new(self.key.finish()), true),
            ("hash", Arc::new(self.hash.finish()), true),
            ("code", Arc::new(self.code.finish()), true),
            ("bytes", Arc::new(self.bytes.finish()), true),
            ("size", Arc::new(self.size.finish()), false),
            ("keys", Arc::new(self.keys.finish()), true),
            ("packed", Arc::new(self.packed.finish()), true),
            ("parameters", Arc::new(marks.finish()), false),
            ("flaw", Arc::new(self.flaw.finish()), true),
        ];
        if has_fingerprints {
            columns.push(("fingerprints", Arc::new(self.fingerprints.finish()), true));
        }
        Table::one(columns)
    }
}
