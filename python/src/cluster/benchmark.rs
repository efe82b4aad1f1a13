//! Texts that have items of a benchmark.

use std::sync::Arc;

use arrow_array::StringArray;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use dedupdb_corpus::decontaminate::{ItemSearch, Overlap, Rule};
use dedupdb_corpus::dedup::Error;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::BytesColumn;
use crate::arguments;
use crate::decontaminate::{Items, OverlapColumns, nothing_to_look_for, search};
use crate::errors::of_dedup;
use crate::row_adder::ErrorPolicy;
use crate::table::Table;

/// Reads the items of a benchmark: `item`, which is the number of its row or, if the column `key` is named, the key,
/// its `field` and its `text`. Also returns the number of rows without a text, which are left out with `errors="skip"`.
#[pyfunction]
pub(crate) fn cluster_items(
    py: Python<'_>,
    against: &Bound<'_, PyAny>,
    fields: Vec<String>,
    #[pyo3(from_py_with = arguments::key)] key: Option<String>,
    #[pyo3(from_py_with = arguments::errors)] errors: &str,
) -> PyResult<(Table, usize)> {
    let has_keys = key.is_some();
    let read = Items::read(py, against, &fields, key, ErrorPolicy::of(errors)?)?;
    if read.texts.is_empty() {
        return Err(nothing_to_look_for());
    }
    let (mut items, mut of_fields) = (StringBuilder::new(), StringBuilder::new());
    for (number, key) in (0..).zip(&read.keys) {
        let (row, field) = read.place(number);
        if has_keys {
            items.append_value(key);
        } else {
            items.append_value(row.to_string());
        }
        of_fields.append_value(field);
    }
    let table = Table::one(vec![
        ("item", Arc::new(items.finish()), false),
        ("field", Arc::new(of_fields.finish()), false),
        ("text", Arc::new(StringArray::from(read.texts)), false),
    ])?;
    Ok((table, read.flawed.len()))
}

/// The items of a benchmark, which are looked for in the texts of batches, on the thread that calls.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterBenchmark {
    search: ItemSearch,
    /// The name and the field of each item.
    items: Vec<(String, String)>,
}

#[pymethods]
impl ClusterBenchmark {
    /// Indexes the items of a batch with the columns `item`, `field` and `text`.
    #[new]
    fn new(
        py: Python<'_>,
        items: PyRecordBatch,
        passage: u32,
        containment: f64,
    ) -> PyResult<ClusterBenchmark> {
        let batch = items.into_inner();
        let [names, fields, texts] =
            ["item", "field", "text"].map(|name| BytesColumn::of(&batch, name));
        let (names, fields, texts) = (names?, fields?, texts?);
        let rows = 0..batch.num_rows();
        let texts: Vec<&str> = rows.clone().map(|row| texts.text(row)).collect();
        let rule = Rule::new().passage(passage).containment(containment);
        let search = search(py, &texts, &rule)?;
        let item = |row| (names.text(row).to_owned(), fields.text(row).to_owned());
        let benchmark = ClusterBenchmark {
            search,
            items: rows.map(item).collect(),
        };
        if benchmark.unchecked() == benchmark.items.len() {
            return Err(nothing_to_look_for());
        }
        Ok(benchmark)
    }

    /// The number of items that have too few words to be looked for.
    #[getter]
    fn unchecked(&self) -> usize {
        let words = self.search.words().iter();
        words
            .filter(|words| (**words as usize) < Rule::FEWEST_WORDS)
            .count()
    }

    /// What becomes of the texts of a batch, in its column `text`: whether it is kept (`keep`), the number of `items`
    /// that it has, the `item` of which it has the largest share, this share (`coverage`), and what is left of the text
    /// without its items (`cut`), if there is a margin and it has any. All are null for a null.
    fn judge(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        margin: Option<usize>,
    ) -> PyResult<Table> {
        let batch = batch.into_inner();
        let texts = BytesColumn::of(&batch, "text")?;
        let mut verdicts = VerdictColumns::default();
        let judged = py.detach(|| {
            (0..batch.num_rows()).try_for_each(|row| {
                if texts.get(row).is_none() {
                    verdicts.push_null();
                    return Ok(());
                }
                let text = texts.text(row);
                let hits = self.search.find(text)?;
                let cut = match margin {
                    Some(margin) if !hits.is_empty() => self.search.cut(text, &hits, margin)?,
                    _ => None,
                };
                verdicts.push(&hits, cut.as_deref(), &self.items);
                Ok(())
            })
        });
        judged.map_err(|error: Error| of_dedup(py, &error))?;
        verdicts.table()
    }

    /// What the texts of a batch with the columns `key` and `text` have of items.
    fn hits(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Table> {
        let batch = batch.into_inner();
        let [keys, texts] = ["key", "text"].map(|name| BytesColumn::of(&batch, name));
        let (keys, texts) = (keys?, texts?);
        let (mut of_keys, mut of_items) = (StringBuilder::new(), StringBuilder::new());
        let mut overlaps = OverlapColumns::default();
        let found = py.detach(|| {
            (0..batch.num_rows()).try_for_each(|row| {
                for (number, overlap) in self.search.find(texts.text(row))? {
                    let (item, field) = &self.items[number as usize];
                    of_keys.append_option(keys.get(row).map(|_| keys.text(row)));
                    of_items.append_value(item);
                    let words = self.search.words()[number as usize];
                    overlaps.push(field, words, &overlap);
                }
                Ok(())
            })
        });
        found.map_err(|error: Error| of_dedup(py, &error))?;
        overlaps.table([
            ("key", Arc::new(of_keys.finish()), true),
            ("item", Arc::new(of_items.finish()), false),
        ])
    }
}

/// What becomes of texts, column by column.
#[derive(Default)]
struct VerdictColumns {
    keep: BooleanBuilder,
    items: Int64Builder,
    item: StringBuilder,
    coverage: Float64Builder,
    cut: StringBuilder,
}

impl VerdictColumns {
    fn push(&mut self, hits: &[(u32, Overlap)], cut: Option<&str>, items: &[(String, String)]) {
        self.keep.append_value(hits.is_empty() || cut.is_some());
        self.items
            .append_value(i64::try_from(hits.len()).unwrap_or(i64::MAX));
        // The first of several.
        let largest = hits.iter().rev();
        let largest = largest.max_by(|(_, a), (_, b)| a.coverage.total_cmp(&b.coverage));
        let (item, coverage) = largest.map_or(("", 0.0), |(number, overlap)| {
            (items[*number as usize].0.as_str(), overlap.coverage)
        });
        self.item.append_value(item);
        self.coverage.append_value(coverage);
        self.cut.append_option(cut);
    }

    fn push_null(&mut self) {
        self.keep.append_null();
        self.items.append_null();
        self.item.append_null();
        self.coverage.append_null();
        self.cut.append_null();
    }

    fn table(mut self) -> PyResult<Table> {
        Table::one(vec![
            ("keep", Arc::new(self.keep.finish()), true),
            ("items", Arc::new(self.items.finish()), true),
            ("item", Arc::new(self.item.finish()), true),
            ("coverage", Arc::new(self.coverage.finish()), true),
            ("cut", Arc::new(self.cut.finish()), true),
        ])
    }
}
