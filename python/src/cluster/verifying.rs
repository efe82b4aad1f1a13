//! Exact similarities of candidates.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder};
use dedupdb::batch::ContentCode;
use dedupdb::sketching::ShingleSet;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, LongListColumn, ints};
use super::rare::unpacked;
use crate::table::Table;

/// One side of a pair.
pub(super) struct PairSide<'a> {
    hashes: BytesColumn<'a>,
    sizes: &'a [i32],
    packed: BytesColumn<'a>,
    files: BytesColumn<'a>,
}

impl<'a> PairSide<'a> {
    pub(super) fn of(batch: &'a RecordBatch, side: &str) -> PyResult<PairSide<'a>> {
        let name = |column: &str| format!("{column}_{side}");
        Ok(PairSide {
            hashes: BytesColumn::of(batch, &name("hash"))?,
            sizes: ints(batch, &name("size"))?,
            packed: BytesColumn::of(batch, &name("packed"))?,
            files: BytesColumn::of(batch, &name("file"))?,
        })
    }

    pub(super) fn hash(&self, row: usize) -> PyResult<Option<[u8; 32]>> {
        self.hashes.hash(row)
    }

    fn code(&self, row: usize, hash: &[u8; 32]) -> ContentCode {
        ContentCode::new(hash, u32::try_from(self.sizes[row]).unwrap_or_default())
    }

    pub(super) fn set(&self, row: usize) -> PyResult<ShingleSet> {
        unpacked(self.sizes[row], self.packed.get(row)).ok_or_else(|| {
            let file = match self.files.text(row) {
                "" => String::new(),
                file => format!(" in {file}"),
            };
            PyValueError::new_err(format!(
                "a sketch{file} is damaged: its bytes are no set of {} shingles; sketch its text again",
                self.sizes[row]
            ))
        })
    }
}

/// The pairs of a batch that reach the threshold and, if `share` is set, share a band key.
///
/// These are `hash_a` and `hash_b`, the lower hash first, `jaccard`, and `later`, the larger of the two codes.
#[pyfunction]
pub(crate) fn cluster_verify(
    py: Python<'_>,
    batch: PyRecordBatch,
    threshold: f64,
    share: bool,
) -> PyResult<Table> {
    let batch = batch.into_inner();
    py.detach(|| verified(&batch, threshold, share))
}

fn verified(batch: &RecordBatch, threshold: f64, share: bool) -> PyResult<Table> {
    let (a, b) = (PairSide::of(batch, "a")?, PairSide::of(batch, "b")?);
    let [keys_a, keys_b] = ["keys_a", "keys_b"].map(|name| LongListColumn::of(batch, name));
    let (keys_a, keys_b) = (keys_a?, keys_b?);
    let (mut first, mut second) = (BinaryBuilder::new(), BinaryBuilder::new());
    let (mut jaccards, mut later) = (Float64Builder::new(), Int64Builder::new());
    let mut last: Option<([u8; 32], ShingleSet)> = None;
    for row in 0..batch.num_rows() {
        let (Some(hash_a), Some(hash_b)) = (a.hash(row)?, b.hash(row)?) else {
            continue;
        };
        let (Some(keys_a), Some(keys_b)) = (keys_a.get(row), keys_b.get(row)) else {
            continue;
        };
        let mut bands = keys_a.iter().zip(keys_b);
        if hash_a == hash_b || share && !bands.any(|(a, b)| a == b) {
            continue;
        }
        // Pairs of the same content are adjacent.
        if last.as_ref().is_none_or(|(hash, _)| *hash != hash_a) {
            last = Some((hash_a, a.set(row)?));
        }
        let Some((_, set)) = &last else {
            continue;
        };
        let jaccard = set.jaccard(&b.set(row)?);
        if jaccard >= threshold {
            first.append_value(hash_a.min(hash_b));
            second.append_value(hash_a.max(hash_b));
            jaccards.append_value(jaccard);
            let code = a.code(row, &hash_a).max(b.code(row, &hash_b));
            later.append_value(code.number().cast_signed());
        }
    }
    Table::one(vec![
        ("hash_a", Arc::new(first.finish()), false),
        ("hash_b", Arc::new(second.finish()), false),
        ("jaccard", Arc::new(jaccards.finish()), false),
        ("later", Arc::new(later.finish()), false),
    ])
}
