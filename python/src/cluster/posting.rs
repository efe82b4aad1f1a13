//! From sketches to the rows that go to the buckets.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::DataType;
use dedupdb::batch::{ContentCode, Mark};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, LongColumn, LongListColumn, ints, of_file};
use crate::errors::raised;
use crate::table::{Table, defect, schema};
use crate::watch::lock;

/// The number of contents to remember, so that their copies send nothing.
const REMEMBERED: usize = 1 << 20;

/// Makes a row of `key` and `code` for each band of a sketch. Copies in one partition get only one set of rows.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterPostings {
    parameters: String,
    /// The number of keys of each sketch.
    bands: usize,
    seen: Mutex<HashSet<ContentCode>>,
}

#[pymethods]
impl ClusterPostings {
    #[new]
    fn new(py: Python<'_>, parameters: String) -> PyResult<ClusterPostings> {
        let mark: Mark = parameters.parse().map_err(|error| raised(py, &error))?;
        Ok(ClusterPostings {
            parameters,
            bands: mark.schema().bands().bands() as usize,
            seen: Mutex::default(),
        })
    }

    /// The rows of a batch with the columns `key`, `hash`, `code`, `size`, `keys`, `parameters` and `file`.
    fn rows(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| self.posted(&batch))
    }
}

impl ClusterPostings {
    fn posted(&self, batch: &RecordBatch) -> PyResult<Table> {
        let (hashes, parameters) = (
            BytesColumn::of(batch, "hash")?,
            BytesColumn::of(batch, "parameters")?,
        );
        let (names, files) = (
            BytesColumn::of(batch, "key")?,
            BytesColumn::of(batch, "file")?,
        );
        let (sizes, lists) = (ints(batch, "size")?, LongListColumn::of(batch, "keys")?);
        let stated = LongColumn::of(batch, "code")?;
        let (mut keys, mut codes) = (Vec::new(), Vec::new());
        let mut seen = lock(&self.seen);
        for (row, &size) in sizes.iter().enumerate() {
            if parameters.text(row) != self.parameters {
                return Err(PyValueError::new_err(format!(
                    "sketches of different parameters do not go together: {:?} and {:?}{}",
                    self.parameters,
                    parameters.text(row),
                    of_file(&files, row),
                )));
            }
            if size == 0 && hashes.get(row).is_none() {
                continue; // a row without a text
            }
            let hash = hashes.hash(row).ok().flatten();
            let code = hash.zip(u32::try_from(size).ok());
            let code = code.map(|(hash, size)| ContentCode::new(&hash, size));
            let sketch = code.filter(|code| stated.get(row) == Some(code.number().cast_signed()));
            let own = lists
                .get(row)
                .filter(|own| own.len() == self.bands || size == 0);
            let Some((code, own)) = sketch.zip(own) else {
                return Err(PyValueError::new_err(format!(
                    "the sketch of {:?} is damaged{}: sketch its text again",
                    names.text(row),
                    of_file(&files, row),
                )));
            };
            if size == 0 {
                continue; // an empty text resembles only its copies
            }
            if seen.len() >= REMEMBERED {
                seen.clear();
            }
            if seen.insert(code) {
                keys.extend_from_slice(own);
                codes.extend(own.iter().map(|_| code.number().cast_signed()));
            }
        }
        rows(keys, codes)
    }
}

/// Rows of a key and a code.
pub(super) fn rows(keys: Vec<i64>, codes: Vec<i64>) -> PyResult<Table> {
    let schema = schema(&[
        ("key", DataType::Int64, false),
        ("code", DataType::Int64, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(keys)),
        Arc::new(Int64Array::from(codes)),
    ];
    let batch = RecordBatch::try_new(schema.clone(), columns);
    Ok(Table::new(
        schema,
        vec![batch.map_err(|error| defect(&error))?],
    ))
}
