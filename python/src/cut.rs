//! Rows without paragraphs, lines or passages that came before.

use std::collections::VecDeque;
use std::path::PathBuf;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use std::sync::Arc;

use dedupdb_corpus::dedup::{CutRow, Error, RowCut, RowPassages, RowUnits, Unit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::decontaminate::{CutTexts, with_texts};
use crate::dedup::{FlawedRows, TextQueue, kept, store_options, warn_of_cut_short};
use crate::errors::{of_dedup, of_row};
use crate::row_adder::ErrorPolicy;
use crate::rows::RowSource;
use crate::schema;
use crate::table::{NamedColumn, Table};
use crate::watch::ProgressCallback;

/// Which rows to keep, the parts that are cut, the texts without them, which rows could not be judged, and the kept rows if
/// an Arrow table has them and they are asked for. With a `unit`, units of at least `least` words are judged, else passages
/// of at least as many words that stand at `min_count` places or more.
#[pyfunction]
#[pyo3(signature = (data, text, keep_rows, within, unit, least, min_count, drop_above, false_candidates, errors, progress, ignore, parameters))]
#[expect(clippy::too_many_arguments, reason = "one call of ours makes it")]
#[expect(clippy::type_complexity, reason = "one call of ours takes it apart")]
pub(crate) fn cut(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::text)] text: Vec<String>,
    keep_rows: bool,
    within: PathBuf,
    unit: Option<&str>,
    least: usize,
    min_count: u32,
    drop_above: f64,
    #[pyo3(from_py_with = arguments::false_candidates)] false_candidates: Option<usize>,
    #[pyo3(from_py_with = arguments::errors)] errors: &str,
    progress: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
    parameters: &Bound<'_, PyDict>,
) -> PyResult<(Vec<bool>, Table, CutTexts, FlawedRows, Option<Table>)> {
    let errors = ErrorPolicy::of(errors)?;
    let schema = schema::built(py, Some(parameters))?;
    let mut told = ProgressCallback::new(progress, "texts")?;
    let text = arguments::one_field(text)?;
    let mut rows = RowSource::texts_to_cut(data, text.clone())?;
    if keep_rows {
        rows.keep();
    }
    let options = store_options(py, &schema, false_candidates, ignore)?;
    let cutter = match unit.map(unit_of).transpose()? {
        Some(unit) => py.detach(|| {
            let units = RowUnits::begin(&options, &schema, within, unit)?;
            let units = units.min_words(least).drop_above(drop_above)?;
            Ok(Cutter::Units(Box::new(units)))
        }),
        None => passages(within, least, min_count, drop_above),
    };
    let mut cutter = cutter.map_err(|error| of_dedup(py, &error))?;
    let mut texts = TextQueue::of(rows, errors);
    let mut waiting = VecDeque::new();
    if min_count > 2 {
        waiting = counted(py, &mut cutter, &mut texts)?;
    }
    let mut columns = CutColumns::default();
    let (mut judged, mut gone, mut changed) = (0, Vec::new(), CutTexts::new());
    let mut skipped = FlawedRows::new();
    while let Some(batch) = match waiting.pop_front() {
        Some(batch) => Some(batch),
        None => texts.next(py)?,
    } {
        let cut = py.detach(|| cutter.cut(batch));
        for cut in cut.map_err(|error| of_dedup(py, &error))? {
            let row = texts.row(judged);
            judged += 1;
            match cut {
                Ok(cut) => {
                    for part in &cut.cuts {
                        columns.push(row, part, &texts);
                    }
                    if cut.is_dropped {
                        gone.push(row);
                    } else if let Some(text) = cut.text {
                        changed.push((row, text));
                    }
                }
                Err(error) if errors == ErrorPolicy::Skip => skipped.push((row, error.to_string())),
                Err(error) => return Err(of_row(py, row, &error)),
            }
        }
        told.tell(py, judged, None)?;
        py.check_signals()?;
    }
    told.end(py)?;
    warn_of_cut_short(py, cutter.searches_cut_short())?;
    py.detach(|| drop(cutter));
    skipped.append(&mut texts.flawed);
    skipped.sort_unstable();
    let mut keep = vec![true; usize::try_from(texts.taken)?];
    for row in gone.into_iter().chain(skipped.iter().map(|(row, _)| *row)) {
        keep[usize::try_from(row)?] = false;
    }
    let kept = texts.kept().map(|(schema, arrays)| {
        kept(
            &schema,
            &with_texts(&schema, arrays, &text, &changed)?,
            &keep,
        )
    });
    let cuts = columns.table(unit.is_some())?;
    Ok((keep, cuts, changed, skipped, kept.transpose()?))
}

/// Cuts passages of this number of words.
fn passages(
    within: PathBuf,
    words: usize,
    min_count: u32,
    drop_above: f64,
) -> Result<Cutter, Error> {
    let passages = RowPassages::begin(within, words)?.min_count(min_count)?;
    Ok(Cutter::Passages(Box::new(passages.drop_above(drop_above)?)))
}

/// Reads all texts, and counts their passages.
fn counted(
    py: Python<'_>,
    cutter: &mut Cutter,
    texts: &mut TextQueue,
) -> PyResult<VecDeque<Vec<String>>> {
    let mut waiting = VecDeque::new();
    while let Some(batch) = texts.next(py)? {
        let counted = py.detach(|| cutter.count(&batch));
        counted.map_err(|error| of_dedup(py, &error))?;
        waiting.push_back(batch);
        py.check_signals()?;
    }
    Ok(waiting)
}

fn unit_of(name: &str) -> PyResult<Unit> {
    match name {
        "paragraph" => Ok(Unit::Paragraph),
        "line" => Ok(Unit::Line),
        other => Err(PyValueError::new_err(format!(
            "unit: {other:?}; there are \"paragraph\" and \"line\""
        ))),
    }
}

/// What is cut from rows.
enum Cutter {
    Units(Box<RowUnits>),
    Passages(Box<RowPassages>),
}

impl Cutter {
    fn cut(&mut self, texts: Vec<String>) -> Result<Vec<dedupdb::Result<CutRow>>, Error> {
        match self {
            Cutter::Units(units) => units.cut(texts),
            Cutter::Passages(passages) => {
                let cut = passages.cut(&texts)?;
                Ok(cut.into_iter().map(Ok).collect())
            }
        }
    }

    fn count(&mut self, texts: &[String]) -> Result<(), Error> {
        match self {
            Cutter::Units(_) => Ok(()),
            Cutter::Passages(passages) => passages.count(texts),
        }
    }

    fn searches_cut_short(&self) -> u64 {
        match self {
            Cutter::Units(units) => units.searches_cut_short(),
            Cutter::Passages(_) => 0,
        }
    }
}

/// The parts that are cut, column by column. Only units have copies.
#[derive(Default)]
struct CutColumns {
    row: UInt64Builder,
    bytes: [UInt64Builder; 2],
    copies: [UInt64Builder; 3],
    verdict: StringBuilder,
    jaccard: Float64Builder,
}

impl CutColumns {
    fn push(&mut self, row: u64, part: &RowCut, texts: &TextQueue) {
        self.row.append_value(row);
        let bytes = [part.bytes.start, part.bytes.end];
        for (column, place) in self.bytes.iter_mut().zip(bytes) {
            column.append_value(place as u64);
        }
        if let Some(copy) = &part.copy {
            let numbers = [copy.unit, texts.row(copy.earlier), copy.earlier_unit];
            for (column, number) in self.copies.iter_mut().zip(numbers) {
                column.append_value(number);
            }
            let verdict = if copy.exact_copy {
                "exact_copy"
            } else {
                "near_duplicate"
            };
            self.verdict.append_value(verdict);
            self.jaccard
                .append_value(copy.jaccard.unwrap_or(copy.estimate));
        }
    }

    fn table(mut self, of_units: bool) -> PyResult<Table> {
        let number = |(name, column): (_, &mut UInt64Builder)| -> NamedColumn {
            (name, Arc::new(column.finish()), false)
        };
        let mut columns = vec![number(("row", &mut self.row))];
        let bytes = ["byte_start", "byte_end"].into_iter();
        columns.extend(bytes.zip(&mut self.bytes).map(number));
        if of_units {
            let copies = ["unit", "earlier", "earlier_unit"].into_iter();
            columns.extend(copies.zip(&mut self.copies).map(number));
            columns.push(("verdict", Arc::new(self.verdict.finish()), false));
            columns.push(("jaccard", Arc::new(self.jaccard.finish()), false));
        }
        Table::one(columns)
    }
}
