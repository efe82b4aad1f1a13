//! Loads sketches into a store.

use std::path::PathBuf;
use std::time::Duration;

use arrow_array::RecordBatch;
use dedupdb::batch::Mark;
use dedupdb::{Error, Input, Options, Progress, Store};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{BytesColumn, ints, longs, of_file};
use crate::errors::raised;
use crate::watch::waited;

/// The time to wait for a store: a task that is run again may start before the first one has ended.
const WAIT: Duration = Duration::from_secs(30);

/// Adds sketches to a store, which is created if it does not exist.
#[pyclass(frozen, module = "dedupdb._native")]
pub(crate) struct ClusterLoader {
    store: Store,
    parameters: String,
    mark: Mark,
}

#[pymethods]
impl ClusterLoader {
    /// Opens the store in a folder for sketches with these parameters, given on one line.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        parameters: String,
        threads: usize,
    ) -> PyResult<ClusterLoader> {
        let options = Options::new().threads(threads).wait(WAIT);
        let opened = py.detach(|| {
            let mark: Mark = parameters.parse()?;
            let store = match options.open(&path) {
                Err(Error::NotAStore { .. }) => options.create(&path, mark.schema())?,
                opened => opened?,
            };
            store.schema().check_takes(mark.schema())?;
            Ok((store, mark))
        });
        let (store, mark) = opened.map_err(|error| raised(py, &error))?;
        Ok(ClusterLoader {
            store,
            parameters,
            mark,
        })
    }

    /// Adds the next sketches, and commits. They have `key`, `hash`, `bytes`, `size`, `packed`, `parameters` and
    /// `file`, and `fingerprints` if the parameters have a passage.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let inputs = self.inputs(&batch.into_inner())?;
        let store = self.store.clone();
        let add = move |_: &Progress| -> dedupdb::Result<()> {
            let mut writer = store.writer()?;
            for outcome in writer.add_all(inputs)? {
                outcome?;
            }
            writer.commit()
        };
        waited(py, add)?.map_err(|error| raised(py, &error))
    }
}

impl ClusterLoader {
    fn inputs(&self, batch: &RecordBatch) -> PyResult<Vec<Input>> {
        let (names, hashes) = (
            BytesColumn::of(batch, "key")?,
            BytesColumn::of(batch, "hash")?,
        );
        let (bytes, sizes) = (longs(batch, "bytes")?, ints(batch, "size")?);
        let (packed, marks) = (
            BytesColumn::of(batch, "packed")?,
            BytesColumn::of(batch, "parameters")?,
        );
        let files = BytesColumn::of(batch, "file")?;
        let has_fingerprints = self.mark.schema().passage() > 0;
        let fingerprints = has_fingerprints
            .then(|| BytesColumn::of(batch, "fingerprints"))
            .transpose()?;
        let input = |row| {
            if marks.text(row) != self.parameters {
                return Err(PyValueError::new_err(format!(
                    "sketches of different parameters do not go together: {:?} and {:?}{}",
                    self.parameters,
                    marks.text(row),
                    of_file(&files, row),
                )));
            }
            let hash = hashes.hash(row).ok().flatten();
            let prints = fingerprints.as_ref().and_then(|column| column.get(row));
            let shingles = u32::try_from(sizes[row]).ok().zip(packed.get(row));
            let shingles = shingles.and_then(|(size, packed)| {
                self.mark.shingles(size, packed, prints.unwrap_or_default())
            });
            let (Some(hash), Some(shingles)) = (hash, shingles) else {
                return Err(PyValueError::new_err(format!(
                    "the sketch of {:?} is damaged{}: sketch its text again",
                    names.text(row),
                    of_file(&files, row),
                )));
            };
            let input = Input::new(names.text(row), shingles).hashed(hash);
            Ok(input.size(u64::try_from(bytes[row]).unwrap_or_default()))
        };
        (0..batch.num_rows()).map(input).collect()
    }
}
