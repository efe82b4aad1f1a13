//! Stores of token sets, for `dedupdb.datasketch`.

use std::sync::Arc;

use dedupdb::batch::{KeyWidth, Sketcher};
use dedupdb::sketching::ShingleSet;
use dedupdb::{Input, Progress, Query};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{of_row, raised};
use crate::store::PyStore;
use crate::tokens::{TokenSet, sorted};
use crate::watch::waited;

/// Stores sets under keys, with one commit. The store's shingling is `ids`.
#[pyfunction]
#[pyo3(signature = (store, keys, sets))]
pub(crate) fn add_sets(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    keys: Vec<String>,
    sets: Vec<Bound<'_, TokenSet>>,
) -> PyResult<()> {
    let (opened, _entered) = store.get().entered(py)?;
    let sets: Vec<Arc<Vec<u64>>> = sets.iter().map(sorted).collect();
    let work = move |_: &Progress| -> dedupdb::Result<Vec<dedupdb::Result<()>>> {
        let input =
            |(key, ids): (String, Arc<Vec<u64>>)| Input::new(key, ShingleSet::from_ids(&ids));
        let inputs = keys.into_iter().zip(sets).map(input);
        let mut writer = opened.writer()?;
        let outcomes = writer.add_all(inputs.collect())?;
        if outcomes.iter().all(Result::is_ok) {
            writer.commit()?;
        }
        Ok(outcomes
            .into_iter()
            .map(|outcome| outcome.map(drop))
            .collect())
    };
    let outcomes = waited(py, work)?.map_err(|error| raised(py, &error))?;
    for (row, outcome) in (0..).zip(outcomes) {
        outcome.map_err(|error| of_row(py, row, &error))?;
    }
    Ok(())
}

/// The keys of the documents that resemble a set, the most similar first.
#[pyfunction]
#[pyo3(signature = (store, set))]
pub(crate) fn query_set(
    py: Python<'_>,
    store: &Bound<'_, PyStore>,
    set: &Bound<'_, TokenSet>,
) -> PyResult<Vec<String>> {
    let opened = store.get().opened()?;
    let ids = sorted(set);
    let found = py.detach(|| opened.query(&Query::shingles(&ShingleSet::from_ids(&ids))));
    let found = found.map_err(|error| raised(py, &error))?;
    Ok(found.into_iter().map(|found| found.key).collect())
}

/// The buckets of each band with their numbers of documents, for these keys or for all.
#[pyfunction]
#[pyo3(signature = (store, keys=None))]
pub(crate) fn bucket_counts<'py>(
    py: Python<'py>,
    store: &Bound<'py, PyStore>,
    keys: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyList>> {
    let opened = store.get().opened()?;
    let counts = waited(py, move |_| counted(&opened, keys))?;
    let counts = counts.map_err(|error| raised(py, &error))?;
    let list = PyList::empty(py);
    for counts in counts {
        let dict = PyDict::new(py);
        for (bucket, count) in counts {
            dict.set_item(bucket, count)?;
        }
        list.append(dict)?;
    }
    Ok(list)
}

type TokenCounts = Vec<std::collections::BTreeMap<u64, u64>>;

fn counted(store: &dedupdb::Store, keys: Option<Vec<String>>) -> dedupdb::Result<TokenCounts> {
    let sketcher = Sketcher::new(&store.schema(), KeyWidth::Bits32)?;
    let bands = store.schema().bands().bands() as usize;
    let mut counts = vec![std::collections::BTreeMap::new(); bands];
    let mut count = |document: &dedupdb::Document| -> dedupdb::Result<()> {
        let keys = sketcher.keys(&store.shingles(document)?);
        for (counts, key) in counts.iter_mut().zip(keys) {
            *counts.entry(key).or_insert(0) += 1;
        }
        Ok(())
    };
    match keys {
        None => {
            for document in store.documents()? {
                count(&document?)?;
            }
        }
        Some(keys) => {
            for key in keys {
                match store.get(&key)? {
                    Some(document) => count(&document)?,
                    None => return Err(dedupdb::Error::NoSuchDocument { key }),
                }
            }
        }
    }
    Ok(counts)
}
