//! Queries and verdicts.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use dedupdb::sketching::ShingleSet;
use dedupdb::{Match, Progress, Query};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::{of_row, raised};
use crate::results::matched;
use crate::row_adder::RowReport as Row;
use crate::rows::RowSource;
use crate::table::{NamedColumn, Table, defect};
use crate::watch::{ProgressCallback, waited, watched};

/// The approximate number of matches in a batch of an answer.
const ROWS: usize = 1 << 16;

/// The options of a query, the same for every text.
#[derive(Clone, Debug)]
pub(crate) struct QueryOptions {
    pub(crate) threshold: Option<f64>,
    pub(crate) limit: Option<usize>,
    pub(crate) containment: Option<f64>,
    pub(crate) shortest: usize,
    pub(crate) ignored: Option<ShingleSet>,
    pub(crate) nearest: Option<usize>,
    pub(crate) exhaustive: bool,
}

impl QueryOptions {
    pub(crate) fn of<'a>(&'a self, mut query: Query<'a>) -> Query<'a> {
        if let Some(ignored) = &self.ignored {
            query = query.ignore(ignored);
        }
        if let Some(threshold) = self.threshold {
            query = query.threshold(threshold);
        }
        if let Some(share) = self.containment {
            query = query.containment(share).shortest(self.shortest);
        }
        if let Some(limit) = self.limit {
            query = query.limit(limit);
        }
        if let Some(most) = self.nearest {
            query = query.nearest(most);
        }
        query.exhaustive(self.exhaustive)
    }
}

/// During a query about a text of at least this many bytes, Ctrl-C is checked for.
const LONG: usize = 1 << 20;

/// The matches of one text, as a list.
pub(crate) fn one_text<'py>(
    py: Python<'py>,
    store: &dedupdb::Store,
    text: &str,
    options: QueryOptions,
) -> PyResult<Bound<'py, PyAny>> {
    if text.len() < LONG {
        return one(py, store, &options.of(Query::text(text)));
    }
    let (store, text) = (store.clone(), text.to_owned());
    let found = waited(py, move |_| store.query(&options.of(Query::text(&text))))?;
    listed(py, &found.map_err(|error| raised(py, &error))?)
}

/// The matches of one query, as a list.
pub(crate) fn one<'py>(
    py: Python<'py>,
    store: &dedupdb::Store,
    query: &Query<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| store.query(query));
    listed(py, &found.map_err(|error| raised(py, &error))?)
}

fn listed<'py>(py: Python<'py>, found: &[Match]) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    for found in found {
        list.append(matched(py, found)?)?;
    }
    Ok(list.into_any())
}

/// The matches of many texts, as a table.
pub(crate) fn many(
    py: Python<'_>,
    store: &dedupdb::Store,
    rows: RowSource,
    options: QueryOptions,
    told: ProgressCallback,
) -> PyResult<Table> {
    let ask = move |store: &dedupdb::Store, texts: &[String]| {
        let queries: Vec<_> = texts
            .iter()
            .map(|text| options.of(Query::text(text)))
            .collect();
        store.query_all(&queries).map(found)
    };
    match answers(py, store, rows, told, ask)? {
        Ok(batches) => {
            let batches = batches.map_err(|error| defect(&error))?;
            Ok(Table::new(batches[0].schema(), batches))
        }
        Err((row, error)) => Err(of_row(py, row, &error)),
    }
}

/// What `ask` answers about the texts of all rows, beside Python's threads.
pub(crate) fn answers<T: Send + 'static>(
    py: Python<'_>,
    store: &dedupdb::Store,
    mut rows: RowSource,
    mut told: ProgressCallback,
    ask: impl FnOnce(&dedupdb::Store, &[String]) -> dedupdb::Result<T> + Send + 'static,
) -> PyResult<T> {
    let mut texts = Vec::new();
    while let Some(batch) = rows.next(py)? {
        for row in batch.rows {
            let (_, text) = row.map_err(|flaw| flaw.raised(texts.len() as u64))?;
            texts.push(text);
        }
        py.check_signals()?;
    }
    let store = store.clone();
    let work = move |progress: &Progress| ask(&store.watched(progress), &texts);
    let answers = watched(py, &mut told, work)?;
    told.end(py)?;
    answers.map_err(|error| raised(py, &error))
}

type BatchesResult = Result<Vec<RecordBatch>, arrow_schema::ArrowError>;

/// The matches of all answers, in one batch or more, or the first row with an error.
fn found(
    answers: Vec<dedupdb::Result<Vec<Match>>>,
) -> Result<BatchesResult, (u64, dedupdb::Error)> {
    let mut columns = MatchColumns::default();
    let mut batches = Vec::new();
    for (row, answer) in (0..).zip(answers) {
        for found in answer.map_err(|error| (row, error))? {
            columns.push(row, &found);
        }
        if columns.rows >= ROWS {
            batches.push(std::mem::take(&mut columns).batch());
        }
    }
    batches.push(columns.batch());
    Ok(batches.into_iter().collect())
}

/// Matches, column by column.
#[derive(Default)]
struct MatchColumns {
    rows: usize,
    row: UInt64Builder,
    key: StringBuilder,
    numbers: [Float64Builder; 5],
    bands: UInt64Builder,
    exact_copy: BooleanBuilder,
}

impl MatchColumns {
    fn push(&mut self, row: u64, found: &Match) {
        self.rows += 1;
        self.row.append_value(row);
        self.key.append_value(&found.key);
        let numbers = [
            found.jaccard,
            Some(found.estimate.jaccard),
            Some(found.estimate.error),
            found.containment,
            found.containment_of_match,
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.append_option(number);
        }
        self.bands.append_value(found.bands.into());
        self.exact_copy.append_value(found.exact_copy);
    }

    fn batch(mut self) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let [jaccard, estimate, error, containment, of_match] = &mut self.numbers;
        let columns: Vec<NamedColumn> = vec![
            ("row", Arc::new(self.row.finish()), false),
            ("key", Arc::new(self.key.finish()), false),
            ("jaccard", Arc::new(jaccard.finish()), true),
            ("estimate", Arc::new(estimate.finish()), false),
            ("error", Arc::new(error.finish()), false),
            ("containment", Arc::new(containment.finish()), true),
            ("containment_of_match", Arc::new(of_match.finish()), true),
            ("bands", Arc::new(self.bands.finish()), false),
            ("exact_copy", Arc::new(self.exact_copy.finish()), false),
        ];
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

/// The outcomes of inserted rows, column by column.
#[derive(Default)]
pub(crate) struct OutcomeColumns {
    rows: u64,
    row: UInt64Builder,
    verdict: StringBuilder,
    earlier: StringBuilder,
    jaccard: Float64Builder,
}

impl OutcomeColumns {
    pub(crate) fn push(&mut self, row: Row) {
        self.row.append_value(self.rows);
        self.rows += 1;
        let Row::Outcome(outcome) = row else {
            self.verdict.append_value("skipped");
            self.earlier.append_null();
            self.jaccard.append_null();
            return;
        };
        self.verdict.append_value(outcome.verdict());
        let earlier = outcome.duplicate_of();
        self.earlier
            .append_option(earlier.map(|earlier| &earlier.key));
        self.jaccard.append_option(earlier.map(Match::similarity));
    }

    pub(crate) fn table(mut self) -> PyResult<Table> {
        Table::one(vec![
            ("row", Arc::new(self.row.finish()), false),
            ("verdict", Arc::new(self.verdict.finish()), false),
            ("earlier", Arc::new(self.earlier.finish()), true),
            ("jaccard", Arc::new(self.jaccard.finish()), true),
        ])
    }
}
