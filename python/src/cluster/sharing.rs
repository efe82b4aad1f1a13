//! Pairs of texts that share a passage.
//!
//! Of each run of as many shingles as a passage has, a text posts one part, that of half as many shingles whose hash is the
//! least, as in winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting", 2003).
//! Two texts with such a run in common post the same part. Longer parts would be posted more often, and shorter ones are
//! more often in texts that share no passage.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder,
};
use dedupdb::batch::ContentCode;
use dedupdb::sketching::Shingler;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, ints};
use crate::errors::raised;
use crate::schema::built;
use crate::table::Table;

/// Finds the passages that texts share.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterPassages {
    shingler: Shingler,
    /// The number of tokens of a shingle, and of the shortest passage.
    k: usize,
    passage: usize,
}

#[pymethods]
impl ClusterPassages {
    #[new]
    fn new(py: Python<'_>, parameters: &Bound<'_, PyDict>) -> PyResult<ClusterPassages> {
        let schema = built(py, Some(parameters))?;
        if schema.passage() == 0 {
            let message = "passage: it is 0, so no passage is looked for";
            return Err(PyValueError::new_err(message));
        }
        Ok(ClusterPassages {
            shingler: schema.shingler().map_err(|error| raised(py, &error))?,
            k: schema.shingling().k().into(),
            passage: schema.passage() as usize,
        })
    }

    /// The texts of a batch with the columns `hash` and `text`: `hash`, `code`, the number of `tokens`, the `shingles` in their
    /// order, and the `keys` under which they are posted. Texts that are shorter than a passage are left out.
    fn texts(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        let shingled = py.detach(|| -> PyResult<_> {
            let (hashes, texts) = (
                BytesColumn::of(&batch, "hash")?,
                BytesColumn::of(&batch, "text")?,
            );
            let mut columns = TextColumns::default();
            for row in 0..batch.num_rows() {
                let Some(hash) = hashes.hash(row)? else {
                    continue;
                };
                match self.shingler.in_order(texts.text(row)) {
                    Ok(shingles) => self.push(&hash, &shingles, &mut columns),
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(columns))
        });
        shingled?.map_err(|error| raised(py, &error))?.table()
    }

    /// The pairs of a batch that have a passage in common: `hash_a`, `hash_b`, the number of tokens of the `longest`, and the share of
    /// each text that they cover (`coverage_a`, `coverage_b`). The batch has `hash`, `tokens` and `shingles` of both texts, with
    /// the suffixes `_a` and `_b`.
    fn verify(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        py.detach(|| self.verified(&batch))
    }
}

impl ClusterPassages {
    fn push(&self, hash: &[u8; 32], shingles: &[u32], columns: &mut TextColumns) {
        let run = self.passage + 1 - self.k;
        if shingles.len() < run {
            return;
        }
        let size = u32::try_from(shingles.len()).unwrap_or(u32::MAX);
        columns.hash.append_value(hash);
        let code = ContentCode::new(hash, size).number().cast_signed();
        columns.code.append_value(code);
        let tokens = i32::try_from(shingles.len() + self.k - 1).unwrap_or(i32::MAX);
        columns.tokens.append_value(tokens);
        let bytes: Vec<u8> = shingles
            .iter()
            .flat_map(|shingle| shingle.to_le_bytes())
            .collect();
        columns.shingles.append_value(bytes);
        let least = least_parts(shingles, run).into_iter();
        let least = least.map(|part| Some(part.cast_signed()));
        columns.keys.append_value(least);
    }

    fn verified(&self, batch: &RecordBatch) -> PyResult<Table> {
        let (a, b) = (WinnowedText::of(batch, "a")?, WinnowedText::of(batch, "b")?);
        let (mut first, mut second) = (BinaryBuilder::new(), BinaryBuilder::new());
        let mut longest = Int64Builder::new();
        let mut coverage = [Float64Builder::new(), Float64Builder::new()];
        for row in 0..batch.num_rows() {
            let (Some(hash_a), Some(hash_b)) = (a.hashes.hash(row)?, b.hashes.hash(row)?) else {
                continue;
            };
            let (text_a, text_b) = (a.shingles(row), b.shingles(row));
            if hash_a == hash_b || !self.has_common_run(&text_a, &text_b) {
                continue;
            }
            let shared = [(&text_a, &text_b), (&text_b, &text_a)];
            let shared = shared.map(|(text, other)| self.shared(text, other.clone()));
            let [(longest_a, _), (longest_b, _)] = shared;
            first.append_value(hash_a);
            second.append_value(hash_b);
            longest.append_value(i64::try_from(longest_a.max(longest_b)).unwrap_or(i64::MAX));
            let tokens = [a.tokens[row], b.tokens[row]];
            for ((column, (_, covered)), tokens) in coverage.iter_mut().zip(shared).zip(tokens) {
                column.append_value(covered as f64 / f64::from(tokens.max(1)));
            }
        }
        let [coverage_a, coverage_b] = &mut coverage;
        Table::one(vec![
            ("hash_a", Arc::new(first.finish()), false),
            ("hash_b", Arc::new(second.finish()), false),
            ("longest", Arc::new(longest.finish()), false),
            ("coverage_a", Arc::new(coverage_a.finish()), false),
            ("coverage_b", Arc::new(coverage_b.finish()), false),
        ])
    }

    /// Whether two texts have a run of shingles in common that is as long as a passage.
    fn has_common_run(&self, a: &[u32], b: &[u32]) -> bool {
        let [runs, mut others] = [a, b].map(|text| part_hashes(text, self.passage + 1 - self.k));
        others.sort_unstable();
        runs.iter().any(|run| others.binary_search(run).is_ok())
    }

    /// The number of tokens of the longest passage of a text whose shingles another one has, or 0, and that of the tokens in
    /// all passages.
    fn shared(&self, text: &[u32], mut other: Vec<u32>) -> (usize, usize) {
        other.sort_unstable();
        let is_held = |shingle: &u32| other.binary_search(shingle).is_ok();
        let (mut longest, mut covered, mut end) = (0, 0, 0);
        let mut place = 0;
        for run in text.chunk_by(|a, b| is_held(a) == is_held(b)) {
            let tokens: Range<usize> = place..place + run.len() + self.k - 1;
            place += run.len();
            if tokens.len() >= self.passage && run.first().is_some_and(is_held) {
                longest = longest.max(tokens.len());
                covered += tokens.end - tokens.start.max(end);
                end = tokens.end;
            }
        }
        (longest, covered)
    }
}

/// The part with the least hash of each run of this number of shingles, each once, in no order.
fn least_parts(shingles: &[u32], run: usize) -> Vec<u64> {
    let length = (run / 2).max(1);
    let hashes = part_hashes(shingles, length);
    let parts = run + 1 - length;
    let mut least: VecDeque<usize> = VecDeque::new();
    let mut found = Vec::new();
    for (place, &hash) in hashes.iter().enumerate() {
        while least.back().is_some_and(|&last| hashes[last] >= hash) {
            least.pop_back();
        }
        least.push_back(place);
        if least.front().is_some_and(|&first| first + parts <= place) {
            least.pop_front();
        }
        if place + 1 >= parts
            && let Some(&first) = least.front()
        {
            found.push(hashes[first]);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The hash of each run of this number of shingles.
fn part_hashes(shingles: &[u32], length: usize) -> Vec<u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let next = |hash: u64, shingle: u32| hash.wrapping_mul(BASE).wrapping_add(shingle.into());
    let factor = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = 0;
    let mut hashes = Vec::with_capacity(shingles.len());
    for (place, &shingle) in shingles.iter().enumerate() {
        hash = next(hash, shingle);
        if let Some(before) = place.checked_sub(length) {
            hash = hash.wrapping_sub(factor.wrapping_mul(shingles[before].into()));
        }
        if place + 1 >= length {
            // The finalizer of MurmurHash3 (Appleby), so that each bit depends on all shingles.
            let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            hashes.push(mixed ^ (mixed >> 33));
        }
    }
    hashes
}

/// One text of a pair.
struct WinnowedText<'a> {
    hashes: BytesColumn<'a>,
    tokens: &'a [i32],
    shingles: BytesColumn<'a>,
}

impl<'a> WinnowedText<'a> {
    fn of(batch: &'a RecordBatch, side: &str) -> PyResult<WinnowedText<'a>> {
        let name = |column: &str| format!("{column}_{side}");
        Ok(WinnowedText {
            hashes: BytesColumn::of(batch, &name("hash"))?,
            tokens: ints(batch, &name("tokens"))?,
            shingles: BytesColumn::of(batch, &name("shingles"))?,
        })
    }

    fn shingles(&self, row: usize) -> Vec<u32> {
        let (words, _) = self.shingles.get(row).unwrap_or_default().as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// Texts, column by column.
#[derive(Default)]
struct TextColumns {
    hash: BinaryBuilder,
    code: Int64Builder,
    tokens: Int32Builder,
    shingles: BinaryBuilder,
    keys: ListBuilder<Int64Builder>,
}

impl TextColumns {
    fn table(mut self) -> PyResult<Table> {
        Table::one(vec![
            ("hash", Arc::new(self.hash.finish()), false),
            ("code", Arc::new(self.code.finish()), false),
            ("tokens", Arc::new(self.tokens.finish()), false),
            ("shingles", Arc::new(self.shingles.finish()), false),
            ("keys", Arc::new(self.keys.finish()), false),
        ])
    }
}
