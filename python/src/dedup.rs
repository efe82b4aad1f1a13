//! Rows without their near-duplicates, without a store of one's own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use arrow_select::filter::filter_record_batch;
use dedupdb::dedup::{DroppedRow, Rows as Judging};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{of_dedup, of_row};
use crate::rows::Rows;
use crate::schema;
use crate::table::{self, Table, defect};
use crate::watch::{TICK, Told};

/// Which rows to keep, why the others are dropped, and the kept ones if they are of an Arrow table and asked for.
#[pyfunction]
#[pyo3(signature = (data, text, keep_rows, within, progress, parameters))]
pub(crate) fn dedup(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    text: &str,
    keep_rows: bool,
    within: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
    parameters: &Bound<'_, PyDict>,
) -> PyResult<(Vec<bool>, Table, Option<Table>)> {
    let schema = schema::built(py, Some(parameters))?;
    let mut told = Told::new(progress, "texts")?;
    let mut rows = Rows::texts(data, text)?;
    if keep_rows {
        rows.keep();
    }
    let refused = |error| of_dedup(py, &error);
    let mut judging = py
        .detach(|| Judging::begin(&schema, within))
        .map_err(refused)?;
    let (mut keep, mut dropped, mut is_ended) = (Vec::new(), Dropped::default(), false);
    let mut pushed = 0;
    while !is_ended || judging.under_way() > 0 {
        let time = if is_ended || judging.is_full() {
            TICK
        } else {
            if let Some(batch) = rows.next(py)? {
                let mut texts = Vec::with_capacity(batch.rows.len());
                for row in batch.rows {
                    let (_, text) = row.map_err(|flaw| flaw.raised(pushed))?;
                    texts.push(text);
                    pushed += 1;
                }
                judging.push(texts);
            } else {
                is_ended = true;
                judging.close();
            }
            Duration::ZERO
        };
        let judged = py.detach(|| judging.wait(time)).map_err(refused)?;
        for row in judged.unwrap_or_default() {
            let number = keep.len() as u64;
            let why = row.map_err(|error| of_row(py, number, &error))?;
            keep.push(why.is_none());
            if let Some(why) = why {
                dropped.push(number, &why);
            }
        }
        told.tell(py, keep.len() as u64, None)?;
        py.check_signals()?;
    }
    py.detach(|| drop(judging));
    told.end(py)?;
    let kept = rows
        .kept()
        .map(|(schema, arrays)| kept(&schema, &arrays, &keep));
    Ok((keep, dropped.table()?, kept.transpose()?))
}

/// The rows of a table that are kept.
fn kept(schema: &arrow_schema::SchemaRef, arrays: &[ArrayRef], keep: &[bool]) -> PyResult<Table> {
    let mut batches = Vec::with_capacity(arrays.len());
    let mut rest = keep;
    for array in arrays {
        let (mask, after) = rest.split_at(array.len());
        rest = after;
        let columns = array.as_struct().columns().to_vec();
        let batch = RecordBatch::try_new(schema.clone(), columns);
        let batch =
            batch.and_then(|batch| filter_record_batch(&batch, &BooleanArray::from(mask.to_vec())));
        batches.push(batch.map_err(|error| defect(&error))?);
    }
    Ok(Table::new(schema.clone(), batches))
}

/// Why rows are dropped, column by column.
#[derive(Default)]
struct Dropped {
    row: UInt64Builder,
    earlier: UInt64Builder,
    verdict: StringBuilder,
    jaccard: Float64Builder,
}

impl Dropped {
    fn push(&mut self, row: u64, why: &DroppedRow) {
        self.row.append_value(row);
        self.earlier.append_value(why.earlier);
        let verdict = if why.exact_copy {
            "exact_copy"
        } else {
            "near_duplicate"
        };
        self.verdict.append_value(verdict);
        self.jaccard
            .append_value(why.jaccard.unwrap_or(why.estimate));
    }

    fn table(mut self) -> PyResult<Table> {
        let schema = table::schema(&[
            ("row", DataType::UInt64, false),
            ("earlier", DataType::UInt64, false),
            ("verdict", DataType::Utf8, false),
            ("jaccard", DataType::Float64, false),
        ]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.row.finish()),
            Arc::new(self.earlier.finish()),
            Arc::new(self.verdict.finish()),
            Arc::new(self.jaccard.finish()),
        ];
        let batch =
            RecordBatch::try_new(schema.clone(), columns).map_err(|error| defect(&error))?;
        Ok(Table::new(schema, vec![batch]))
    }
}
