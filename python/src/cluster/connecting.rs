//! Connected components of pairs.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use dedupdb::batch::components;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::BytesColumn;
use crate::errors::raised;
use crate::table::Table;

/// Each hash of the columns `hash_a` and `hash_b`, in `hash`, with the lowest hash that it is connected to, in `label`.
#[pyfunction]
pub(crate) fn cluster_components(py: Python<'_>, batches: Vec<PyRecordBatch>) -> PyResult<Table> {
    let mut pairs: Vec<([u8; 32], [u8; 32])> = Vec::new();
    for batch in batches {
        let batch = batch.into_inner();
        let (a, b) = (
            BytesColumn::of(&batch, "hash_a")?,
            BytesColumn::of(&batch, "hash_b")?,
        );
        for row in 0..batch.num_rows() {
            pairs.extend(a.hash(row)?.zip(b.hash(row)?));
        }
    }
    let found = py.detach(|| components(&pairs));
    let found = found.map_err(|error| raised(py, &error))?;
    let (mut hashes, mut labels) = (BinaryBuilder::new(), BinaryBuilder::new());
    for (hash, label) in found {
        hashes.append_value(hash);
        labels.append_value(label);
    }
    Table::one(vec![
        ("hash", Arc::new(hashes.finish()), false),
        ("label", Arc::new(labels.finish()), false),
    ])
}
