//! Which contents of a group to keep.

use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Float64Builder, Int64Builder, StringBuilder};
use dedupdb::batch::{Keeper, Verdict};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, LongListColumn, unsigned};
use super::rare::SetColumns;
use crate::errors::raised;
use crate::table::Table;
use crate::watch::lock;

/// Judges the contents of groups, one group after another.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterKeeper {
    judge: Mutex<GroupJudge>,
}

struct GroupJudge {
    keeper: Keeper,
    group: Option<Vec<u8>>,
    /// The keys of the group's contents that are kept.
    kept: Vec<String>,
    cut_short: u64,
}

#[pymethods]
impl ClusterKeeper {
    #[new]
    fn new(py: Python<'_>, threshold: f64, most: usize) -> PyResult<ClusterKeeper> {
        let keeper = Keeper::new(threshold).map_err(|error| raised(py, &error))?;
        Ok(ClusterKeeper {
            judge: Mutex::new(GroupJudge {
                keeper: keeper.most(most),
                group: None,
                kept: Vec::new(),
                cut_short: 0,
            }),
        })
    }

    /// The verdicts on the next contents.
    ///
    /// These are `hash`, the `representative`'s key, the `jaccard` with it, which is 1 for a representative, and
    /// `cut_short`, which is 1 if not all contents that share a bucket were compared. The batch has `label`, `key`,
    /// `hash`, `size`, `keys` and `packed`, sorted by label and key across all batches.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| lock(&self.judge).judged(&batch))
    }
}

impl GroupJudge {
    fn judged(&mut self, batch: &RecordBatch) -> PyResult<Table> {
        let (labels, names) = (
            BytesColumn::of(batch, "label")?,
            BytesColumn::of(batch, "key")?,
        );
        let (hashes, lists) = (
            BytesColumn::of(batch, "hash")?,
            LongListColumn::of(batch, "keys")?,
        );
        let sets = SetColumns::of(batch)?;
        let (mut hash, mut representative) = (BinaryBuilder::new(), StringBuilder::new());
        let (mut jaccard, mut cut_short) = (Float64Builder::new(), Int64Builder::new());
        for row in 0..batch.num_rows() {
            let label = labels.get(row);
            if self.group.as_deref() != label {
                self.group = label.map(<[u8]>::to_vec);
                self.keeper.begin();
                self.kept.clear();
            }
            let keys = lists.get(row).unwrap_or_default();
            let keys: Vec<u64> = keys.iter().copied().map(unsigned).collect();
            let verdict = self.keeper.judge(&keys, sets.get(row)?);
            let (kept, alike) = if let Verdict::Like(kept, jaccard) = verdict {
                (kept, jaccard)
            } else {
                self.kept.push(names.text(row).to_owned());
                (self.kept.len() - 1, 1.0)
            };
            hash.append_option(hashes.get(row));
            representative.append_option(self.kept.get(kept));
            jaccard.append_value(alike);
            let cuts = self.keeper.cut_short() - self.cut_short;
            cut_short.append_value(i64::try_from(cuts).unwrap_or(i64::MAX));
            self.cut_short = self.keeper.cut_short();
        }
        Table::one(vec![
            ("hash", Arc::new(hash.finish()), false),
            ("representative", Arc::new(representative.finish()), false),
            ("jaccard", Arc::new(jaccard.finish()), false),
            ("cut_short", Arc::new(cut_short.finish()), false),
        ])
    }
}
