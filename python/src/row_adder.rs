//! Documents on their way from Python into a store.

use std::time::Duration;

use dedupdb::write::{Intake, Outcome};
use dedupdb_corpus::number::counted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{of_row, raised};
use crate::rows::{Flaw, RowBatch, RowSource, input};
use crate::warning::warn;
use crate::watch::{ProgressCallback as Watched, TICK};

/// What to do about a row that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorPolicy {
    Raise,
    Skip,
}

impl ErrorPolicy {
    pub(crate) fn of(name: &str) -> PyResult<ErrorPolicy> {
        match name {
            "raise" => Ok(ErrorPolicy::Raise),
            "skip" => Ok(ErrorPolicy::Skip),
            other => Err(PyValueError::new_err(format!(
                "errors: {other:?}; there are \"raise\" and \"skip\""
            ))),
        }
    }
}

/// What is reported about each row.
pub(crate) enum RowReport {
    Outcome(Box<Outcome>),
    Skipped,
}

/// An add in progress.
pub(crate) struct RowAdder {
    pub(crate) store: dedupdb::Store,
    pub(crate) unique: bool,
    /// The approximate number of bytes of memory, if it is not the default.
    pub(crate) memory: Option<u64>,
    pub(crate) errors: ErrorPolicy,
    pub(crate) told: Watched,
}

/// Rows that were pushed: the number of the first one, how many there are, and those with flaws, in order.
struct PushedRows {
    first: u64,
    rows: u64,
    flaws: Vec<(u64, Flaw)>,
}

impl PushedRows {
    /// The documents of a batch, and a record of its rows.
    fn of(batch: RowBatch, first: u64) -> (Vec<dedupdb::Input>, PushedRows) {
        let mut pushed = PushedRows {
            first,
            rows: batch.rows.len() as u64,
            flaws: Vec::new(),
        };
        let mut inputs = Vec::with_capacity(batch.rows.len());
        for (row, document) in (first..).zip(batch.rows) {
            match document {
                Ok(document) => inputs.push(input(document)),
                Err(flaw) => pushed.flaws.push((row, flaw)),
            }
        }
        (inputs, pushed)
    }
}

impl RowAdder {
    /// Adds all rows, and reports the outcome of each. Returns the skipped rows with the reasons.
    pub(crate) fn run(
        mut self,
        py: Python<'_>,
        mut rows: RowSource,
        tell: &mut dyn FnMut(RowReport),
    ) -> PyResult<Vec<(u64, String)>> {
        let mut intake = Intake::new().unique(self.unique).distinct(true);
        if let Some(bytes) = self.memory {
            intake = intake.memory(bytes);
        }
        let pipeline = py.detach(|| self.store.pipeline(intake));
        let mut pipeline = pipeline.map_err(|error| raised(py, &error))?;
        let mut under_way = std::collections::VecDeque::new();
        let mut skipped = Vec::new();
        let (mut first, mut is_ended, mut is_closed) = (0, false, false);
        while !is_closed || pipeline.under_way() > 0 {
            // Nothing more is committed before every row is known to be valid.
            if is_ended && !is_closed && pipeline.under_way() == 0 {
                pipeline.close();
                is_closed = true;
            }
            let time = if is_ended || pipeline.is_full() {
                TICK
            } else {
                if let Some(batch) = rows.next(py)? {
                    let (inputs, pushed) = PushedRows::of(batch, first);
                    if let (ErrorPolicy::Raise, Some((row, flaw))) =
                        (self.errors, pushed.flaws.first())
                    {
                        return Err(flaw.raised(*row));
                    }
                    first += pushed.rows;
                    under_way.push_back(pushed);
                    pipeline.push(inputs);
                } else {
                    is_ended = true;
                }
                Duration::ZERO
            };
            let outcomes = py.detach(|| pipeline.wait(time));
            if let Some(outcomes) = outcomes.map_err(|error| raised(py, &error))?
                && let Some(pushed) = under_way.pop_front()
            {
                let done = pushed.first + pushed.rows;
                self.take(py, pushed, outcomes, tell, &mut skipped)?;
                self.told.tell(py, done, None)?;
            }
            py.check_signals()?;
        }
        let kept_out = pipeline.kept_out_by_replaced();
        drop(pipeline);
        self.told.end(py)?;
        if kept_out > 0 {
            let rows = counted(kept_out, "row was", "rows were");
            let what = "kept out because of documents that later rows replaced; add the same again";
            warn(py, &format!("{rows} {what}"))?;
        }
        Ok(skipped)
    }

    /// Reports the outcomes of a batch.
    fn take(
        &self,
        py: Python<'_>,
        pushed: PushedRows,
        outcomes: Vec<dedupdb::Result<Outcome>>,
        tell: &mut dyn FnMut(RowReport),
        skipped: &mut Vec<(u64, String)>,
    ) -> PyResult<()> {
        let mut outcomes = outcomes.into_iter();
        let mut flaws = pushed.flaws.into_iter().peekable();
        for row in pushed.first..pushed.first + pushed.rows {
            if let Some((_, flaw)) = flaws.next_if(|(flawed, _)| *flawed == row) {
                skipped.push((row, flaw.to_string()));
                tell(RowReport::Skipped);
                continue;
            }
            match outcomes.next() {
                Some(Ok(outcome)) => tell(RowReport::Outcome(Box::new(outcome))),
                Some(Err(error)) if self.errors == ErrorPolicy::Raise => {
                    return Err(of_row(py, row, &error));
                }
                Some(Err(error)) => {
                    skipped.push((row, error.to_string()));
                    tell(RowReport::Skipped);
                }
                None => {}
            }
        }
        Ok(())
    }
}
