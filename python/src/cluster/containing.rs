//! Pairs of contents of which one has most shingles of the other.
//!
//! If a content has n shingles, of which another one has at least m, the other one has at least one of any n - m + 1 of
//! them, and 1 + e of any n - m + 1 + e (Sarawagi and Kirpal, "Efficient set joins on similarity predicates", 2004). So each
//! content sends its rarest shingles as *offers*, and all others as *requests*. Who offers a shingle is a candidate of all
//! larger ones that offer or request it.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Float64Builder};
use arrow_array::{BinaryArray, Int64Array, RecordBatch};
use dedupdb::batch::{ContentCode, Mark};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, longs};
use super::posting::{REMEMBERED, SketchedRows};
use super::verifying::PairSide;
use crate::errors::raised;
use crate::table::Table;
use crate::watch::lock;

/// The binary logarithms of the least and of the largest number of counters, which are bytes.
const LEAST_BITS: u32 = 16;
const MOST_BITS: u32 = 26;

/// The number of counters in a row of counts.
const PART: usize = 1 << 20;

/// The number of shingles that a content offers beyond the n - m + 1 that are needed.
///
/// With them, a pair that is contained meets in at least 1 + `BEYOND` shingles, or in m if that is less. A pair that meets
/// in fewer has them in common by chance, and is dropped by the engine, which counts the meetings (`_edges` in
/// `dedupdb/spark/_contained.py`).
const BEYOND: usize = 8;

/// The number of pairs after which a walk is interrupted.
const PAIRS: usize = 1 << 20;

/// In how many contents shingles are, about: shingles that begin with the same bits share a counter.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterShingleCounts {
    parameters: String,
    counts: Mutex<CountedShingles>,
    shift: u32,
}

struct CountedShingles {
    counters: Vec<u8>,
    seen: HashSet<ContentCode>,
}

#[pymethods]
impl ClusterShingleCounts {
    /// Makes counters for contents of these parameters with this number of shingles in all.
    #[new]
    fn new(parameters: String, shingles: u64) -> ClusterShingleCounts {
        let bits = shingles.saturating_mul(2).max(1).ilog2();
        let bits = bits.clamp(LEAST_BITS, MOST_BITS);
        ClusterShingleCounts {
            parameters,
            counts: Mutex::new(CountedShingles {
                counters: vec![0; 1 << bits],
                seen: HashSet::new(),
            }),
            shift: u32::BITS - bits,
        }
    }

    /// Counts the shingles of a batch of sketches, once for copies. It has `key`, `hash`, `code`, `size`, `packed`,
    /// `parameters` and `file`.
    fn count(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        py.detach(|| {
            let (rows, packed) = (
                SketchedRows::of(&batch)?,
                BytesColumn::of(&batch, "packed")?,
            );
            let mut counts = lock(&self.counts);
            for row in 0..batch.num_rows() {
                let Some(code) = rows.code(row, &self.parameters)? else {
                    continue; // a row without a text
                };
                if counts.is_new(code) {
                    for shingle in rows.set(row, &packed)?.as_slice() {
                        let counter = &mut counts.counters[(shingle >> self.shift) as usize];
                        *counter = counter.saturating_add(1);
                    }
                }
            }
            Ok(())
        })
    }

    /// The counters in rows of `part` and `counts`.
    fn parts(&self) -> PyResult<Table> {
        let counts = lock(&self.counts);
        let parts: Vec<&[u8]> = counts.counters.chunks(PART).collect();
        let numbers = (0..).take(parts.len()).collect::<Vec<i64>>();
        table_of_parts(numbers, parts)
    }
}

impl CountedShingles {
    fn is_new(&mut self, code: ContentCode) -> bool {
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        self.seen.insert(code)
    }
}

fn table_of_parts(numbers: Vec<i64>, parts: Vec<&[u8]>) -> PyResult<Table> {
    Table::one(vec![
        ("part", Arc::new(Int64Array::from(numbers)), false),
        ("counts", Arc::new(BinaryArray::from(parts)), false),
    ])
}

/// Adds up the counters of rows with the same `part`.
#[pyfunction]
pub(crate) fn cluster_sum_counts(batches: Vec<PyRecordBatch>) -> PyResult<Table> {
    let mut sums = BTreeMap::<i64, Vec<u8>>::new();
    for batch in batches {
        let batch = batch.into_inner();
        let (numbers, counts) = (longs(&batch, "part")?, BytesColumn::of(&batch, "counts")?);
        for (row, number) in numbers.iter().enumerate() {
            let counts = counts.get(row).unwrap_or_default();
            let sum = sums.entry(*number).or_insert_with(|| vec![0; counts.len()]);
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum = sum.saturating_add(*count);
            }
        }
    }
    let parts = sums.values().map(Vec::as_slice).collect();
    table_of_parts(sums.keys().copied().collect(), parts)
}

/// Makes the offers and requests of contents.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterContainment {
    parameters: String,
    containment: f64,
    /// The number of shingles of the smallest content that counts.
    shortest: usize,
    counters: Vec<u8>,
    shift: u32,
    seen: Mutex<HashSet<ContentCode>>,
}

#[pymethods]
impl ClusterContainment {
    /// `shortest` is a number of tokens, and `counts` has all counters, in their order.
    #[new]
    fn new(
        py: Python<'_>,
        parameters: String,
        containment: f64,
        shortest: usize,
        counts: &[u8],
    ) -> PyResult<ClusterContainment> {
        let mark: Mark = parameters.parse().map_err(|error| raised(py, &error))?;
        if !(containment > 0.0 && containment <= 1.0) {
            let message = format!("containment: {containment} is not above 0 and at most 1");
            return Err(PyValueError::new_err(message));
        }
        let bits = counts.len().max(1).ilog2();
        if counts.len() != 1 << bits || !(LEAST_BITS..=MOST_BITS).contains(&bits) {
            let message = format!("counts: {} bytes are no counters", counts.len());
            return Err(PyValueError::new_err(message));
        }
        let k = usize::from(mark.schema().shingling().k());
        Ok(ClusterContainment {
            parameters,
            containment,
            shortest: shortest.saturating_add(1).saturating_sub(k).max(1),
            counters: counts.to_vec(),
            shift: u32::BITS - bits,
            seen: Mutex::default(),
        })
    }

    /// The number of shingles of the smallest content that counts.
    #[getter]
    fn shortest(&self) -> usize {
        self.shortest
    }

    /// Rows of `key`, which is a shingle, and `code`. An offer has the complement of the code, which is negative. The batch has
    /// `key`, `hash`, `code`, `size`, `packed`, `parameters` and `file`.
    fn rows(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| self.posted(&batch))
    }
}

impl ClusterContainment {
    fn posted(&self, batch: &RecordBatch) -> PyResult<Table> {
        let (rows, packed) = (SketchedRows::of(batch)?, BytesColumn::of(batch, "packed")?);
        let (mut keys, mut codes) = (Vec::new(), Vec::new());
        let mut seen = lock(&self.seen);
        for row in 0..batch.num_rows() {
            let Some(code) = rows.code(row, &self.parameters)? else {
                continue; // a row without a text
            };
            if usize::try_from(rows.sizes[row]).unwrap_or(0) < self.shortest {
                continue;
            }
            if seen.len() >= REMEMBERED {
                seen.clear();
            }
            if seen.insert(code) {
                self.post(
                    rows.set(row, &packed)?.as_slice(),
                    code,
                    &mut keys,
                    &mut codes,
                );
            }
        }
        super::posting::rows(keys, codes)
    }

    /// Adds the rows of a content. A shingle that is in no other content needs none.
    fn post(&self, set: &[u32], code: ContentCode, keys: &mut Vec<i64>, codes: &mut Vec<i64>) {
        let count = |shingle: u32| self.counters[(shingle >> self.shift) as usize];
        let mut again: Vec<u32> = set
            .iter()
            .copied()
            .filter(|shingle| count(*shingle) > 1)
            .collect();
        let needed = least_in_common(set.len(), self.containment);
        let offers = set.len() - needed + 1 + BEYOND.min(needed - 1);
        let alone = set.len() - again.len();
        let offers = offers.saturating_sub(alone).min(again.len());
        if (1..again.len()).contains(&offers) {
            again.select_nth_unstable_by_key(offers - 1, |shingle| (count(*shingle), *shingle));
        }
        // The complement of a code is negative: sorted by code, the offers of a shingle come before its requests.
        let code = code.number().cast_signed();
        keys.extend(again.iter().copied().map(i64::from));
        codes.extend((0..again.len()).map(|place| if place < offers { !code } else { code }));
    }
}

/// The least number of shingles of a content with `size` of them that reaches this containment; at least 1.
fn least_in_common(size: usize, containment: f64) -> usize {
    // Division tells exactly what multiplication may round.
    let reaches = |common: &usize| *common as f64 / size as f64 >= containment;
    (1..size).find(reaches).unwrap_or(size)
}

/// Pairs of contents that offer and request the same shingle.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterContainmentWalk {
    bucket: Mutex<ShingleBucket>,
}

/// The rows of a shingle, so far.
#[derive(Default)]
struct ShingleBucket {
    last: Option<(i64, i64)>,
    offering: Vec<ContentCode>,
}

#[pymethods]
impl ClusterContainmentWalk {
    #[new]
    fn new() -> ClusterContainmentWalk {
        ClusterContainmentWalk {
            bucket: Mutex::default(),
        }
    }

    /// The pairs of the next rows, in the columns `a` and `b`: codes, the lower one first. The rows are sorted by `key` and
    /// `code` over all batches. Those before `start` were walked before; also returns where to go on.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch, start: usize) -> PyResult<(Table, usize)> {
        let batch = batch.into_inner();
        let (keys, codes) = (longs(&batch, "key")?, longs(&batch, "code")?);
        let (pairs, end) = py.detach(|| lock(&self.bucket).walk(keys, codes, start))?;
        let (a, b): (Vec<i64>, Vec<i64>) = pairs.into_iter().unzip();
        let table = Table::one(vec![
            ("a", Arc::new(Int64Array::from(a)), false),
            ("b", Arc::new(Int64Array::from(b)), false),
        ])?;
        Ok((table, end))
    }
}

impl ShingleBucket {
    fn walk(
        &mut self,
        keys: &[i64],
        codes: &[i64],
        start: usize,
    ) -> PyResult<(Vec<(i64, i64)>, usize)> {
        let mut pairs = Vec::new();
        for (row, (&key, &code)) in keys.iter().zip(codes).enumerate().skip(start) {
            if pairs.len() >= PAIRS {
                return Ok((pairs, row));
            }
            if self.last > Some((key, code)) {
                let message = "batches: the rows are not sorted by key and code";
                return Err(PyValueError::new_err(message));
            }
            if self.last == Some((key, code)) {
                continue; // a copy
            }
            if self.last.is_none_or(|(last, _)| last != key) {
                self.offering.clear();
            }
            self.last = Some((key, code));
            // Offers come first, so a request meets all of them.
            let is_offer = code < 0;
            let code = if is_offer { !code } else { code };
            let content = ContentCode::from_number(code.cast_unsigned());
            for &other in &self.offering {
                if is_offer || other.size() <= content.size() {
                    let (low, high) = (other.min(content), other.max(content));
                    pairs.push((low.number().cast_signed(), high.number().cast_signed()));
                }
            }
            if is_offer {
                self.offering.push(content);
            }
        }
        Ok((pairs, keys.len()))
    }
}

/// The pairs of a batch of which one contains the other: `hash_a`, that of the contained one, `hash_b`, `containment`,
/// `jaccard`, and whether both have the same number of shingles (`equal`).
#[pyfunction]
pub(crate) fn cluster_verify_contained(
    py: Python<'_>,
    batch: PyRecordBatch,
    containment: f64,
) -> PyResult<Table> {
    let batch = batch.into_inner();
    py.detach(|| contained(&batch, containment))
}

fn contained(batch: &RecordBatch, least: f64) -> PyResult<Table> {
    let (a, b) = (PairSide::of(batch, "a")?, PairSide::of(batch, "b")?);
    let (mut inner, mut outer) = (BinaryBuilder::new(), BinaryBuilder::new());
    let (mut shares, mut jaccards) = (Float64Builder::new(), Float64Builder::new());
    let mut equal = BooleanBuilder::new();
    for row in 0..batch.num_rows() {
        let (Some(hash_a), Some(hash_b)) = (a.hash(row)?, b.hash(row)?) else {
            continue;
        };
        let (set_a, set_b) = (a.set(row)?, b.set(row)?);
        let (hashes, small, large) = if set_a.len() <= set_b.len() {
            ((hash_a, hash_b), &set_a, &set_b)
        } else {
            ((hash_b, hash_a), &set_b, &set_a)
        };
        let share = small.containment_in(large);
        if hash_a != hash_b && share >= least {
            inner.append_value(hashes.0);
            outer.append_value(hashes.1);
            shares.append_value(share);
            jaccards.append_value(small.jaccard(large));
            equal.append_value(small.len() == large.len());
        }
    }
    Table::one(vec![
        ("hash_a", Arc::new(inner.finish()), false),
        ("hash_b", Arc::new(outer.finish()), false),
        ("containment", Arc::new(shares.finish()), false),
        ("jaccard", Arc::new(jaccards.finish()), false),
        ("equal", Arc::new(equal.finish()), false),
    ])
}
