//! Passages that texts share with stored documents.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use dedupdb::overlap::{Passage, PassageQuery, Passages};
use pyo3::prelude::*;

use crate::errors::of_row;
use crate::query::{GoOn, answers};
use crate::rows::RowSource;
use crate::table::{Table, defect, schema};
use crate::watch::ProgressCallback;

/// The options of a query for passages, the same for every text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassageOptions {
    pub(crate) at_least: Option<u32>,
    pub(crate) gap: u32,
    pub(crate) limit: Option<usize>,
    pub(crate) all: bool,
}

impl PassageOptions {
    fn of(self, text: &str) -> PassageQuery<'_> {
        let mut query = PassageQuery::text(text).gap(self.gap);
        if let Some(tokens) = self.at_least {
            query = query.at_least(tokens);
        }
        if let Some(limit) = self.limit {
            query = query.limit(limit);
        }
        if self.all { query.all() } else { query }
    }
}

/// The passages of many texts, as a table.
pub(crate) fn many(
    py: Python<'_>,
    store: &dedupdb::Store,
    rows: RowSource,
    options: PassageOptions,
    told: ProgressCallback,
) -> PyResult<Table> {
    let ask = move |store: &dedupdb::Store, texts: &[String], go_on: &GoOn<'_>| {
        let queries: Vec<_> = texts.iter().map(|text| options.of(text)).collect();
        store.passages_all(&queries, go_on).map(found)
    };
    match answers(py, store, rows, told, ask)? {
        Ok(batch) => Ok(Table::new(
            found_schema(),
            vec![batch.map_err(|error| defect(&error))?],
        )),
        Err((row, error)) => Err(of_row(py, row, &error)),
    }
}

fn found_schema() -> SchemaRef {
    schema(&[
        ("row", DataType::UInt64, false),
        ("key", DataType::Utf8, false),
        ("words", DataType::UInt64, false),
        ("first", DataType::UInt64, false),
        ("line", DataType::UInt64, false),
        ("byte_start", DataType::UInt64, false),
        ("byte_end", DataType::UInt64, false),
        ("place", DataType::UInt64, true),
        ("documents", DataType::UInt64, false),
        ("common", DataType::Boolean, false),
    ])
}

/// The passages of all answers, or the first row with an error.
fn found(
    answers: Vec<dedupdb::Result<Passages>>,
) -> Result<Result<RecordBatch, ArrowError>, (u64, dedupdb::Error)> {
    let mut columns = PassageColumns::default();
    for (row, answer) in (0..).zip(answers) {
        let answer = answer.map_err(|error| (row, error))?;
        for passage in &answer.passages {
            columns.push(row, passage);
        }
    }
    Ok(columns.batch())
}

/// Passages, column by column.
#[derive(Default)]
struct PassageColumns {
    row: UInt64Builder,
    key: StringBuilder,
    numbers: [UInt64Builder; 5],
    place: UInt64Builder,
    documents: UInt64Builder,
    common: BooleanBuilder,
}

impl PassageColumns {
    fn push(&mut self, row: u64, passage: &Passage) {
        self.row.append_value(row);
        self.key.append_value(&passage.key);
        let numbers = [
            passage.matched.into(),
            passage.tokens.start.into(),
            passage.line,
            passage.bytes.start as u64,
            passage.bytes.end as u64,
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.append_value(number);
        }
        self.place.append_option(passage.place.map(u64::from));
        self.documents.append_value(passage.documents);
        self.common.append_value(passage.is_common);
    }

    fn batch(mut self) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(self.row.finish()), Arc::new(self.key.finish())];
        let numbers = self.numbers.iter_mut();
        columns.extend(numbers.map(|numbers| Arc::new(numbers.finish()) as ArrayRef));
        columns.push(Arc::new(self.place.finish()));
        columns.push(Arc::new(self.documents.finish()));
        columns.push(Arc::new(self.common.finish()));
        RecordBatch::try_new(found_schema(), columns)
    }
}
