//! The rarest shingles of contents in large buckets.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use dedupdb::batch::{ContentCode, Rarity};
use dedupdb::sketching::ShingleSet;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, ints, longs};
use crate::errors::raised;
use crate::table::Table;

/// How often shingles occur in some contents.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterRarity {
    rarity: Rarity,
}

#[pymethods]
impl ClusterRarity {
    /// Reads what ``bytes`` returned.
    #[new]
    fn new(py: Python<'_>, counts: &[u8]) -> PyResult<ClusterRarity> {
        let rarity = Rarity::from_bytes(counts).map_err(|error| raised(py, &error))?;
        Ok(ClusterRarity { rarity })
    }

    /// Counts the shingles of batches with the columns `size` and `packed`.
    #[staticmethod]
    fn count(batches: Vec<PyRecordBatch>) -> PyResult<ClusterRarity> {
        let mut rarity = Rarity::default();
        for batch in batches {
            let batch = batch.into_inner();
            let sets = SetColumns::of(&batch)?;
            for row in 0..batch.num_rows() {
                rarity.count(&sets.get(row)?);
            }
        }
        Ok(ClusterRarity { rarity })
    }

    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.rarity.to_bytes())
    }

    /// Rows of `key`, which is a shingle, `code` and `label`, for a batch with `hash`, `size`, `packed` and
    /// `label`.
    fn rows(&self, py: Python<'_>, batch: PyRecordBatch, threshold: f64) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| self.rarest(&batch, threshold))
    }
}

impl ClusterRarity {
    fn rarest(&self, batch: &RecordBatch, threshold: f64) -> PyResult<Table> {
        let (hashes, sizes) = (BytesColumn::of(batch, "hash")?, ints(batch, "size")?);
        let (sets, own) = (SetColumns::of(batch)?, longs(batch, "label")?);
        let (mut keys, mut codes, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for (row, &label) in own.iter().enumerate() {
            let Some(hash) = hashes.hash(row)? else {
                continue;
            };
            let size = u32::try_from(sizes[row]).unwrap_or_default();
            let code = ContentCode::new(&hash, size).number().cast_signed();
            for shingle in self.rarity.rarest(&sets.get(row)?, threshold) {
                keys.push(i64::from(shingle));
                codes.push(code);
                labels.push(label);
            }
        }
        Table::one(vec![
            ("key", Arc::new(Int64Array::from(keys)), false),
            ("code", Arc::new(Int64Array::from(codes)), false),
            ("label", Arc::new(Int64Array::from(labels)), false),
        ])
    }
}

/// The shingle sets of a batch.
pub(super) struct SetColumns<'a> {
    sizes: &'a [i32],
    packed: BytesColumn<'a>,
}

impl<'a> SetColumns<'a> {
    pub(super) fn of(batch: &'a RecordBatch) -> PyResult<SetColumns<'a>> {
        Ok(SetColumns {
            sizes: ints(batch, "size")?,
            packed: BytesColumn::of(batch, "packed")?,
        })
    }

    /// The set of a row, from its packed bytes.
    pub(super) fn get(&self, row: usize) -> PyResult<ShingleSet> {
        unpacked(self.sizes[row], self.packed.get(row)).ok_or_else(|| {
            PyValueError::new_err(
                "a sketch is damaged: its bytes are no set of its number of shingles",
            )
        })
    }
}

/// A set from its size and bytes, if they are valid.
pub(super) fn unpacked(size: i32, packed: Option<&[u8]>) -> Option<ShingleSet> {
    ShingleSet::from_packed(packed?, usize::try_from(size).ok()?)
}
