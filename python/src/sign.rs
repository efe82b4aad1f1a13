//! Signatures as a matrix.

use std::sync::Mutex;

use dedupdb::Progress;
use dedupdb::batch::minima;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::arguments;
use crate::errors::raised;
use crate::rows::RowSource;
use crate::schema;
use crate::watch::{ProgressCallback, lock, watched};

/// The number of texts that are signed between two checks whether to stop.
const TEXTS: usize = 2048;

/// The threads that sign, for this process. A fork does not have its parent's.
static POOL: Mutex<Option<(u32, std::sync::Arc<ThreadPool>)>> = Mutex::new(None);

fn pool() -> Option<std::sync::Arc<ThreadPool>> {
    let own = std::process::id();
    let mut pool = lock(&POOL);
    if let Some((process, pool)) = &*pool
        && *process == own
    {
        return Some(pool.clone());
    }
    let made = ThreadPoolBuilder::new()
        .thread_name(|n| format!("sign-{n}"))
        .build();
    let made = std::sync::Arc::new(made.ok()?);
    // The parent's threads do not exist here, so they cannot be ended.
    if let Some(parents) = pool.replace((own, made.clone())) {
        let _parents = std::mem::ManuallyDrop::new(parents);
    }
    Some(made)
}

/// The minima of texts: the number of rows, the number of columns, and the matrix as bytes of 32-bit numbers, row by
/// row.
#[pyfunction]
#[pyo3(signature = (texts, text, progress, parameters))]
pub(crate) fn sign<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = arguments::text)] text: Vec<String>,
    progress: Option<&Bound<'py, PyAny>>,
    parameters: &Bound<'py, PyDict>,
) -> PyResult<(usize, u32, Bound<'py, PyBytes>)> {
    let schema = schema::of_signatures(py, parameters)?;
    let columns = schema.permutations();
    let mut told = ProgressCallback::new(progress, "texts")?;
    let mut rows = RowSource::texts("texts", texts, text)?;
    let mut all = Vec::new();
    while let Some(batch) = rows.next(py)? {
        for row in batch.rows {
            all.push(row.map_err(|flaw| flaw.raised(all.len() as u64))?.1);
        }
        py.check_signals()?;
    }
    let count = all.len();
    let work = move |progress: &Progress| -> dedupdb::Result<Vec<u32>> {
        progress.begin(all.len() as u64);
        let pool = pool();
        let mut matrix = Vec::with_capacity(all.len() * columns as usize);
        for (chunk, texts) in all.chunks(TEXTS).enumerate() {
            let rows = match &pool {
                Some(pool) => pool.install(|| minima(&schema, texts)),
                None => minima(&schema, texts),
            };
            matrix.extend(rows.map_err(|error| moved(error, chunk * TEXTS))?);
            progress.step(texts.len() as u64)?;
        }
        Ok(matrix)
    };
    let matrix = watched(py, &mut told, work)?;
    told.end(py)?;
    let matrix = matrix.map_err(|error| raised(py, &error))?;
    let bytes = PyBytes::new_with(py, matrix.len() * 4, |bytes| {
        for (slot, number) in bytes.chunks_exact_mut(4).zip(&matrix) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        Ok(())
    })?;
    Ok((count, columns, bytes))
}

/// An error of a row, with the row's number among all rows.
fn moved(error: dedupdb::Error, by: usize) -> dedupdb::Error {
    match error {
        dedupdb::Error::InvalidColumn {
            column,
            row,
            reason,
        } => dedupdb::Error::InvalidColumn {
            column,
            row: row + by,
            reason,
        },
        other => other,
    }
}
