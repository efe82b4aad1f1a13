//! From sketches to the rows that go to the buckets.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use arrow_array::{Int64Array, RecordBatch};
use dedupdb::batch::{ContentCode, Mark};
use dedupdb::sketching::ShingleSet;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, LongColumn, LongListColumn, ints, of_file};
use super::rare::unpacked;
use crate::errors::raised;
use crate::table::Table;
use crate::watch::lock;

/// The number of contents to remember, so that their copies send nothing.
pub(super) const REMEMBERED: usize = 1 << 20;

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
        let (rows, lists) = (SketchedRows::of(batch)?, LongListColumn::of(batch, "keys")?);
        let (mut keys, mut codes) = (Vec::new(), Vec::new());
        let mut seen = lock(&self.seen);
        for row in 0..batch.num_rows() {
            let Some(code) = rows.code(row, &self.parameters)? else {
                continue; // a row without a text
            };
            let is_empty = rows.sizes[row] == 0;
            let own = lists
                .get(row)
                .filter(|own| own.len() == self.bands || is_empty)
                .ok_or_else(|| rows.damaged(row))?;
            if is_empty {
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
        self::rows(keys, codes)
    }
}

/// The columns by which sketches are checked.
pub(super) struct SketchedRows<'a> {
    names: BytesColumn<'a>,
    hashes: BytesColumn<'a>,
    stated: LongColumn<'a>,
    pub(super) sizes: &'a [i32],
    parameters: BytesColumn<'a>,
    files: BytesColumn<'a>,
}

impl<'a> SketchedRows<'a> {
    /// The columns `key`, `hash`, `code`, `size`, `parameters` and `file`.
    pub(super) fn of(batch: &'a RecordBatch) -> PyResult<SketchedRows<'a>> {
        Ok(SketchedRows {
            names: BytesColumn::of(batch, "key")?,
            hashes: BytesColumn::of(batch, "hash")?,
            stated: LongColumn::of(batch, "code")?,
            sizes: ints(batch, "size")?,
            parameters: BytesColumn::of(batch, "parameters")?,
            files: BytesColumn::of(batch, "file")?,
        })
    }

    /// The code of a content, or `None` for a row without a text. Refuses sketches of other parameters, and damaged ones.
    pub(super) fn code(&self, row: usize, parameters: &str) -> PyResult<Option<ContentCode>> {
        if self.parameters.text(row) != parameters {
            return Err(PyValueError::new_err(format!(
                "sketches of different parameters do not go together: {parameters:?} and {:?}{}",
                self.parameters.text(row),
                of_file(&self.files, row),
            )));
        }
        if self.sizes[row] == 0 && self.hashes.get(row).is_none() {
            return Ok(None);
        }
        let hash = self.hashes.hash(row).ok().flatten();
        let code = hash.zip(u32::try_from(self.sizes[row]).ok());
        let code = code.map(|(hash, size)| ContentCode::new(&hash, size));
        let code = code.filter(|code| self.stated.get(row) == Some(code.number().cast_signed()));
        code.map(Some).ok_or_else(|| self.damaged(row))
    }

    /// The shingles of a content, from its packed bytes.
    pub(super) fn set(&self, row: usize, packed: &BytesColumn<'_>) -> PyResult<ShingleSet> {
        unpacked(self.sizes[row], packed.get(row)).ok_or_else(|| self.damaged(row))
    }

    fn damaged(&self, row: usize) -> PyErr {
        PyValueError::new_err(format!(
            "the sketch of {:?} is damaged{}: sketch its text again",
            self.names.text(row),
            of_file(&self.files, row),
        ))
    }
}

/// Rows of a key and a code.
pub(super) fn rows(keys: Vec<i64>, codes: Vec<i64>) -> PyResult<Table> {
    Table::one(vec![
        ("key", Arc::new(Int64Array::from(keys)), false),
        ("code", Arc::new(Int64Array::from(codes)), false),
    ])
}
