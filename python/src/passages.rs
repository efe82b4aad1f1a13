//! Passages that texts share with stored documents.

use std::sync::Arc;

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use dedupdb::overlap::{Passage, PassageQuery, Passages};
use pyo3::prelude::*;

use crate::errors::{of_row, raised};
use crate::rows::RowSource;
use crate::table::{Table, defect, schema};
use crate::watch::{ProgressCallback, Stop, waited};

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
    mut rows: RowSource,
    options: PassageOptions,
    mut told: ProgressCallback,
) -> PyResult<Table> {
    let mut texts = Vec::new();
    while let Some(batch) = rows.next(py)? {
        for row in batch.rows {
            let (_, text) = row.map_err(|flaw| flaw.raised(texts.len() as u64))?;
            texts.push(text);
        }
        py.check_signals()?;
    }
    let all = texts.len() as u64;
    let store = store.clone();
    let done = dedupdb::upkeep::Progress::new();
    let count = done.clone();
    let work = move |stop: &Stop| {
        let queries: Vec<_> = texts.iter().map(|text| options.of(text)).collect();
        let go_on = || {
            count.step(1);
            stop.flow()
        };
        Ok::<_, dedupdb::Error>(found(store.passages_all(&queries, &go_on)?))
    };
    let answers = waited(py, work, |py| told.tell(py, done.done(), Some(all)))?;
    told.end(py)?;
    match answers.map_err(|error| raised(py, &error))? {
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
        ("key", DataType::Utf8, true),
        ("words", DataType::UInt64, false),
        ("first", DataType::UInt64, false),
        ("line", DataType::UInt64, false),
        ("byte_start", DataType::UInt64, false),
        ("byte_end", DataType::UInt64, false),
        ("place", DataType::UInt64, true),
        ("documents", DataType::UInt64, false),
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
        for common in &answer.common {
            let words = common.tokens.end - common.tokens.start;
            let numbers = [
                words.into(),
                common.tokens.start.into(),
                common.line,
                common.bytes.start as u64,
                common.bytes.end as u64,
            ];
            columns.append(row, None, numbers, None, common.contents);
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
}

impl PassageColumns {
    fn push(&mut self, row: u64, passage: &Passage) {
        let numbers = [
            passage.matched.into(),
            passage.tokens.start.into(),
            passage.line,
            passage.bytes.start as u64,
            passage.bytes.end as u64,
        ];
        let place = passage.place.map(u64::from);
        self.append(row, Some(&passage.key), numbers, place, passage.documents);
    }

    fn append(
        &mut self,
        row: u64,
        key: Option<&str>,
        numbers: [u64; 5],
        place: Option<u64>,
        documents: u64,
    ) {
        self.row.append_value(row);
        self.key.append_option(key);
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.append_value(number);
        }
        self.place.append_option(place);
        self.documents.append_value(documents);
    }

    fn batch(mut self) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(self.row.finish()), Arc::new(self.key.finish())];
        let numbers = self.numbers.iter_mut();
        columns.extend(numbers.map(|numbers| Arc::new(numbers.finish()) as ArrayRef));
        columns.push(Arc::new(self.place.finish()));
        columns.push(Arc::new(self.documents.finish()));
        RecordBatch::try_new(found_schema(), columns)
    }
}
