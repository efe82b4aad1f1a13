//! Documents that rows are only compared with.

use std::path::Path;

use dedupdb::sketching::Shingler;
use dedupdb::{Input, Match, Options, Query, Schema, Store};
use dedupdb_corpus::TemporaryStore;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::rows::RowSource;
use crate::store::PyStore;

/// The approximate number of bytes to commit together.
const UNCOMMITTED: u64 = 128 << 20;

/// A store of such documents.
pub(crate) struct Reference {
    store: Store,
    shingler: Shingler,
    /// The folder of the temporary store.
    _temporary: Option<TemporaryStore>,
    /// Whether its keys are the numbers of rows.
    pub(crate) has_rows: bool,
}

impl Reference {
    /// A store that exists, or rows, which are stored in a temporary one within a folder.
    pub(crate) fn of(
        py: Python<'_>,
        against: &Bound<'_, PyAny>,
        text: &[String],
        (options, schema, within): (&Options, &Schema, &Path),
    ) -> PyResult<Reference> {
        let refused = |error| raised(py, &error);
        if let Ok(store) = against.cast::<PyStore>() {
            let store = store.get().opened()?;
            let shingler = store.shingler().map_err(refused)?;
            return Ok(Reference {
                store,
                shingler,
                _temporary: None,
                has_rows: false,
            });
        }
        let schema = schema.to_builder().passage(0).build().map_err(refused)?;
        let made = py.detach(|| TemporaryStore::create(options, within, &schema));
        let temporary = made.map_err(refused)?;
        store_rows(
            py,
            RowSource::texts("against", against, text.to_vec())?,
            &temporary,
        )?;
        Ok(Reference {
            store: temporary.clone(),
            shingler: temporary.shingler().map_err(refused)?,
            _temporary: Some(temporary),
            has_rows: true,
        })
    }

    /// The document that each text resembles most, if there is one. A text without tokens resembles none.
    pub(crate) fn matches(
        &self,
        texts: &[String],
    ) -> dedupdb::Result<Vec<dedupdb::Result<Option<Match>>>> {
        let query = |text| Query::text(text).limit(1).copies_first();
        let queries: Vec<_> = texts.iter().map(|text| query(text)).collect();
        let answers = self.store.query_all(&queries)?;
        let best = |(text, answer): (&String, dedupdb::Result<Vec<Match>>)| {
            let Some(found) = answer?.into_iter().next() else {
                return Ok(None);
            };
            let is_wordless = found.exact_copy && self.shingler.shingles(text)?.is_empty();
            Ok(Some(found).filter(|_| !is_wordless))
        };
        Ok(texts.iter().zip(answers).map(best).collect())
    }

    /// The number of searches that were cut short.
    pub(crate) fn searches_cut_short(&self) -> u64 {
        self.store.searches_cut_short()
    }
}

/// Stores rows under their numbers, which sort in the order of the rows.
fn store_rows(py: Python<'_>, mut rows: RowSource, store: &Store) -> PyResult<()> {
    let mut writer = store.writer().map_err(|error| raised(py, &error))?;
    let mut first = 0;
    while let Some(batch) = rows.next(py)? {
        let mut inputs = Vec::with_capacity(batch.rows.len());
        for (number, row) in (first..).zip(batch.rows) {
            let (_, text) = row
                .map_err(|flaw| PyValueError::new_err(format!("against: row {number}: {flaw}")))?;
            inputs.push(Input::new(format!("{number:020}"), text));
        }
        first += inputs.len() as u64;
        let added = py.detach(|| writer.add_all(inputs));
        for outcome in added.map_err(|error| raised(py, &error))? {
            outcome.map_err(|error| raised(py, &error))?;
        }
        if writer.uncommitted_bytes() > UNCOMMITTED {
            py.detach(|| writer.commit())
                .map_err(|error| raised(py, &error))?;
        }
        py.check_signals()?;
    }
    py.detach(|| writer.commit())
        .map_err(|error| raised(py, &error))
}
