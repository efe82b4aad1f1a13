//! Passages that texts share with stored documents.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, ListBuilder, StringBuilder, UInt64Builder};
use dedupdb::Progress;
use dedupdb::overlap::{CommonPassage, Passage, PassageQuery, Passages, SampledText};
use dedupdb::sketching::{ShingleSet, Shingler};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arguments::{self, usual_text};
use crate::errors::{of_corpus, of_row, raised};
use crate::query::answers;
use crate::rows::RowSource;
use crate::table::Table;
use crate::watch::{ProgressCallback, waited};

/// The options of a query for passages, the same for every text.
#[derive(Clone, Debug)]
pub(crate) struct PassageOptions {
    pub(crate) at_least: Option<u32>,
    pub(crate) gap: u32,
    pub(crate) limit: Option<usize>,
    pub(crate) all: bool,
    pub(crate) ignored: Option<ShingleSet>,
}

impl PassageOptions {
    fn of<'a>(&'a self, text: &'a str) -> PassageQuery<'a> {
        let mut query = PassageQuery::text(text).gap(self.gap);
        if let Some(ignored) = &self.ignored {
            query = query.ignore(ignored);
        }
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
    let ask = move |store: &dedupdb::Store, texts: &[String]| {
        let queries: Vec<_> = texts.iter().map(|text| options.of(text)).collect();
        store.passages_all(&queries).map(found)
    };
    match answers(py, store, rows, told, ask)? {
        Ok(columns) => columns.table(),
        Err((row, error)) => Err(of_row(py, row, &error)),
    }
}

/// The passages of all answers, or the first row with an error.
fn found(answers: Vec<dedupdb::Result<Passages>>) -> Result<PassageColumns, (u64, dedupdb::Error)> {
    let mut columns = PassageColumns::default();
    for (row, answer) in (0..).zip(answers) {
        let answer = answer.map_err(|error| (row, error))?;
        for passage in &answer.passages {
            columns.push(row, passage);
        }
    }
    Ok(columns)
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

    fn table(mut self) -> PyResult<Table> {
        let [words, first, line, start, end] = &mut self.numbers;
        Table::one(vec![
            ("row", Arc::new(self.row.finish()), false),
            ("key", Arc::new(self.key.finish()), false),
            ("words", Arc::new(words.finish()), false),
            ("first", Arc::new(first.finish()), false),
            ("line", Arc::new(line.finish()), false),
            ("byte_start", Arc::new(start.finish()), false),
            ("byte_end", Arc::new(end.finish()), false),
            ("place", Arc::new(self.place.finish()), true),
            ("documents", Arc::new(self.documents.finish()), false),
            ("common", Arc::new(self.common.finish()), false),
        ])
    }
}

/// The shingles of texts that do not count in a store, if there are any.
pub(crate) fn ignored(
    py: Python<'_>,
    store: &dedupdb::Store,
    texts: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<ShingleSet>> {
    let shingler = store.schema().shingler();
    ignored_shingles(py, &shingler.map_err(|error| raised(py, &error))?, texts)
}

/// The shingles of texts that do not count, if there are any.
pub(crate) fn ignored_shingles(
    py: Python<'_>,
    shingler: &Shingler,
    texts: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<ShingleSet>> {
    let Some(texts) = texts else {
        return Ok(None);
    };
    let mut hashes = Vec::new();
    let mut take = |text: &str| -> PyResult<()> {
        let shingles = shingler
            .shingles(text)
            .map_err(|error| raised(py, &error))?;
        hashes.extend_from_slice(shingles.as_slice());
        Ok(())
    };
    if let Ok(one) = texts.cast::<PyString>() {
        take(arguments::given("text", one)?)?;
    } else {
        for text in all_texts(py, "ignore", texts)? {
            take(&text)?;
        }
    }
    Ok(Some(ShingleSet::from_hashes(hashes)))
}

/// The texts of a table or an iterable.
fn all_texts(
    py: Python<'_>,
    argument: &'static str,
    texts: &Bound<'_, PyAny>,
) -> PyResult<Vec<String>> {
    let mut rows = RowSource::texts(argument, texts, usual_text())?;
    let mut all = Vec::new();
    while let Some(batch) = rows.next(py)? {
        for row in batch.rows {
            let (_, text) = row.map_err(|flaw| flaw.raised(all.len() as u64))?;
            all.push(text);
        }
    }
    Ok(all)
}

/// The passages that most documents of a store have, as a table.
pub(crate) fn common(
    py: Python<'_>,
    store: &dedupdb::Store,
    (limit, at_least, min_documents): (usize, Option<u32>, u64),
    texts: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let given = texts
        .map(|texts| all_texts(py, "texts", texts))
        .transpose()?;
    let store = store.clone();
    let work = move |progress: &Progress| {
        let store = store.watched(progress);
        let mut failed = Ok(());
        let read = |wanted: &[SampledText]| {
            if let Some(given) = &given {
                return of_hashes(wanted, given);
            }
            let options = dedupdb_corpus::Options::new();
            let read = dedupdb_corpus::read_again(&store, wanted, &[], &options);
            read.unwrap_or_else(|error| {
                failed = Err(error);
                Vec::new()
            })
        };
        let found = store.common_passages(limit, at_least, read);
        failed?;
        Ok::<_, dedupdb_corpus::Error>(found?)
    };
    let found = waited(py, work)?;
    let mut found = found.map_err(|error| of_corpus(py, &error))?;
    found.retain(|passage| passage.documents >= min_documents);
    common_table(&found)
}

/// Those of the wanted texts that were given.
fn of_hashes(wanted: &[SampledText], given: &[String]) -> Vec<Option<String>> {
    let by_hash: HashMap<[u8; 32], &String> = given
        .iter()
        .map(|text| (*blake3::hash(text.as_bytes()).as_bytes(), text))
        .collect();
    let texts = wanted.iter().map(|wanted| by_hash.get(&wanted.hash));
    texts.map(|text| text.map(|text| (*text).clone())).collect()
}

fn common_table(found: &[CommonPassage]) -> PyResult<Table> {
    let (mut documents, mut words) = (UInt64Builder::new(), UInt64Builder::new());
    let mut texts = StringBuilder::new();
    let mut keys = ListBuilder::new(StringBuilder::new());
    for passage in found {
        documents.append_value(passage.documents);
        words.append_value(passage.tokens.into());
        texts.append_value(&passage.text);
        for key in &passage.keys {
            keys.values().append_value(key);
        }
        keys.append(true);
    }
    Table::one(vec![
        ("documents", Arc::new(documents.finish()), false),
        ("words", Arc::new(words.finish()), false),
        ("text", Arc::new(texts.finish()), false),
        ("keys", Arc::new(keys.finish()), false),
    ])
}
