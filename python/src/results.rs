//! The named tuples of `dedupdb.results`.

use std::time::SystemTime;

use dedupdb::upkeep::{CheckReport, Stats};
use dedupdb::write::{Change, Outcome, Relation};
use dedupdb::{Document, Match};
use dedupdb_corpus::number::utc_date;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyType};

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, "dedupdb.results", name)
}

/// A `Match`.
pub(crate) fn matched<'py>(py: Python<'py>, found: &Match) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    class(py, &CLASS, "Match")?.call1((
        &found.key,
        found.jaccard,
        found.estimate.jaccard,
        found.estimate.error,
        found.containment,
        found.containment_of_match,
        found.bands,
        found.exact_copy,
    ))
}

/// A `Verdict`.
pub(crate) fn judged<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let earlier = outcome.duplicate_of();
    let earlier = earlier.map(|earlier| matched(py, earlier)).transpose()?;
    class(py, &CLASS, "Verdict")?.call1((outcome.verdict(), earlier))
}

/// Counts of outcomes.
#[derive(Debug, Default)]
pub(crate) struct OutcomeTally {
    added: u64,
    updated: u64,
    unchanged: u64,
    near_duplicates: u64,
    contained: u64,
    exact_copies: u64,
    kept_out: u64,
}

impl OutcomeTally {
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        let change = match outcome.change {
            Change::Added => &mut self.added,
            Change::Updated => &mut self.updated,
            Change::Unchanged => &mut self.unchanged,
            _ => &mut self.kept_out,
        };
        *change += 1;
        match outcome.relation {
            Relation::NearDuplicate => self.near_duplicates += 1,
            Relation::ExactCopy => self.exact_copies += 1,
            Relation::Contained => self.contained += 1,
            _ => {}
        }
    }

    /// An `AddSummary`.
    pub(crate) fn added<'py>(
        &self,
        py: Python<'py>,
        skipped: Vec<(u64, String)>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        class(py, &CLASS, "Added")?.call1((
            self.added,
            self.updated,
            self.unchanged,
            self.near_duplicates,
            self.exact_copies,
            self.kept_out,
            skipped,
            self.contained,
        ))
    }
}

/// A `Document`.
pub(crate) fn document<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    class(py, &CLASS, "Document")?.call1((
        &document.key,
        document.size,
        document.shingles,
        PyBytes::new(py, &document.hash),
        document.added,
        day(py, document.last_seen)?,
        document.modified,
        &document.source,
    ))
}

/// A `datetime.date`.
fn day(py: Python<'_>, start: SystemTime) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS
        .import(py, "datetime", "date")?
        .call_method1("fromisoformat", (utc_date(start),))
}

/// A `Stats`.
pub(crate) fn stats<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let files = PyDict::new(py);
    for (name, bytes) in &stats.files {
        files.set_item(name, bytes)?;
    }
    class(py, &CLASS, "Stats")?.call1((
        stats.documents,
        stats.contents,
        stats.removed,
        stats.removed_bytes,
        stats.unfingerprinted,
        files,
        stats.commit,
        stats.committed,
        stats.generation,
        stats.format,
    ))
}

/// A `CheckReport`.
pub(crate) fn report<'py>(py: Python<'py>, report: &CheckReport) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static PROBLEM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let problem = class(py, &PROBLEM, "Problem")?;
    let problems = report.problems.iter().map(|found| {
        let file = found.file.to_string_lossy();
        problem.call1((file, &found.what))
    });
    let problems: Vec<Bound<'py, PyAny>> = problems.collect::<PyResult<_>>()?;
    class(py, &CLASS, "Report")?.call1((
        report.documents,
        report.contents,
        report.postings,
        problems,
    ))
}
