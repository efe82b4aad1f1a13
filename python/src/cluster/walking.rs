//! Candidates from sorted rows.

use std::sync::{Arc, Mutex};

use arrow_array::Int64Array;
use dedupdb::batch::{BucketPairs, BucketSearch, BucketWalk, ContentCode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{flags, longs, unsigned};
use crate::errors::raised;
use crate::table::Table;
use crate::watch::lock;

/// Walks through the buckets of a partition.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterWalk {
    walk: Mutex<BucketWalk>,
    /// The key and the code of the last row.
    last: Mutex<Option<(i64, i64)>>,
}

#[pymethods]
impl ClusterWalk {
    #[new]
    #[pyo3(signature = (threshold, most, large=None, near=0, beyond=0))]
    fn new(
        py: Python<'_>,
        threshold: f64,
        most: usize,
        large: Option<usize>,
        near: usize,
        beyond: usize,
    ) -> PyResult<ClusterWalk> {
        let search = BucketSearch::new(threshold).map_err(|error| raised(py, &error))?;
        let mut search = search.most(most).beyond(beyond);
        if let Some(large) = large {
            search = search.large(large, near);
        }
        Ok(ClusterWalk {
            walk: Mutex::new(search.walk()),
            last: Mutex::new(None),
        })
    }

    /// The pairs of the next rows, in the columns `a` and `b`: codes of contents, the lower one first.
    ///
    /// A row with the same code twice names a content of a large bucket. A row with a negative number and a code says
    /// how many pairs were skipped for a content. The batch has `key` and `code`, sorted by both across all batches. It
    /// also has `label`, if contents with the same label must not be paired, and `asks`, if only some contents are
    /// paired with earlier ones.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        let (keys, codes) = (longs(&batch, "key")?, longs(&batch, "code")?);
        self.check_order(keys, codes)?;
        let keys: Vec<u64> = keys.iter().copied().map(unsigned).collect();
        let codes = codes.iter().copied().map(unsigned);
        let codes: Vec<ContentCode> = codes.map(ContentCode::from_number).collect();
        let labels = batch.column_by_name("label").is_some();
        let labels = labels.then(|| longs(&batch, "label")).transpose()?;
        let labels: Option<Vec<u64>> =
            labels.map(|labels| labels.iter().copied().map(unsigned).collect());
        let asking = batch.column_by_name("asks").is_some();
        let asking = asking.then(|| flags(&batch, "asks")).transpose()?;
        let found = py.detach(|| {
            let mut walk = lock(&self.walk);
            walk.push(&keys, &codes, labels.as_deref(), asking.as_deref())?;
            Ok(walk.take())
        });
        table(&found.map_err(|error| raised(py, &error))?)
    }
}

impl ClusterWalk {
    /// Refuses rows that do not follow on those before them: a bucket that is torn apart would lose pairs.
    fn check_order(&self, keys: &[i64], codes: &[i64]) -> PyResult<()> {
        let mut last = lock(&self.last);
        for row in keys.iter().copied().zip(codes.iter().copied()) {
            if *last > Some(row) {
                return Err(PyValueError::new_err(
                    "batches: the rows are not sorted by key and code",
                ));
            }
            *last = Some(row);
        }
        Ok(())
    }
}

fn table(found: &BucketPairs) -> PyResult<Table> {
    let number = |code: &ContentCode| code.number().cast_signed();
    let pairs = found.pairs.iter().map(|(a, b)| (number(a), number(b)));
    let large = found.large.iter().map(|code| (number(code), number(code)));
    let passed_over = found.passed_over.iter();
    let passed_over = passed_over.map(|(code, pairs)| {
        let pairs = i64::try_from(*pairs).unwrap_or(i64::MAX);
        (-pairs, number(code))
    });
    let (a, b): (Vec<i64>, Vec<i64>) = pairs.chain(large).chain(passed_over).unzip();
    Table::one(vec![
        ("a", Arc::new(Int64Array::from(a)), false),
        ("b", Arc::new(Int64Array::from(b)), false),
    ])
}
