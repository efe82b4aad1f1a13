//! Rows without their near-duplicates, for callers without a store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;
use dedupdb::{Options, Progress, Schema};
use dedupdb_corpus::dedup::{
    ContainedRows, ContainmentConflict, DroppedRow, Error, FieldRanks, Keep, KeepBy,
    RowDedup as Judging, RowVerdicts,
};
use dedupdb_corpus::number::counted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::errors::{of_dedup, of_row, raised};
use crate::passages::ignored_shingles;
use crate::row_adder::ErrorPolicy;
use crate::rows::{BATCH_BYTES, BATCH_ROWS, RowSource};
use crate::schema;
use crate::table::{self, Table, defect};
use crate::warning::warn;
use crate::watch::{ProgressCallback, TICK, watched};

/// Rows that could not be judged, with the reasons.
pub(crate) type FlawedRows = Vec<(u64, String)>;

/// The numbers of rows without a value of a field, for each field.
type LackingRows = Vec<(String, u64)>;

/// What [`dedup`] returns.
type JudgedTable = (Vec<bool>, Table, FlawedRows, Option<Table>, LackingRows);

/// Which rows to keep, why the others are dropped, which could not be judged, the kept rows if an Arrow table has
/// them and they are asked for, and how many rows lack what ranks them.
#[pyfunction]
#[pyo3(signature = (data, text, keep, ranked, keep_rows, within, containment, shortest, false_candidates, errors, progress, ignore, parameters))]
#[expect(clippy::too_many_arguments, reason = "one call of ours makes it")]
pub(crate) fn dedup(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::text)] text: Vec<String>,
    #[pyo3(from_py_with = arguments::keep)] keep: String,
    ranked: Vec<(String, Option<Vec<String>>)>,
    keep_rows: bool,
    within: PathBuf,
    #[pyo3(from_py_with = arguments::containment)] containment: Option<f64>,
    #[pyo3(from_py_with = arguments::shortest)] shortest: usize,
    #[pyo3(from_py_with = arguments::false_candidates)] false_candidates: Option<usize>,
    #[pyo3(from_py_with = arguments::errors)] errors: &str,
    progress: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
    parameters: &Bound<'_, PyDict>,
) -> PyResult<JudgedTable> {
    let (keep, errors) = (which(&keep)?, ErrorPolicy::of(errors)?);
    let schema = schema::built(py, Some(parameters))?;
    let mut told = ProgressCallback::new(progress, "texts")?;
    let ranks = FieldRanks::new(orders(py, ranked)?);
    let fields = ranks.fields().map(str::to_owned).collect();
    let mut rows = RowSource::ranked("data", data, text, fields)?;
    if keep_rows {
        rows.keep();
    }
    let refused = |error| of_dedup(py, &error);
    let options = store_options(py, &schema, false_candidates, ignore)?;
    let mut verdicts = JudgedRows::new(errors);
    let mut texts = if let Some(least) = containment {
        if keep != Keep::Longest {
            let conflict = ContainmentConflict::Keep;
            return Err(refused(Error::Containment { conflict }));
        }
        let search = py.detach(|| ContainedRows::begin(&options, &schema, within, least));
        let search = search.map_err(refused)?.shortest(shortest);
        let mut texts = TextQueue::ordered(py, rows, (keep, ranks), &schema, errors)?;
        verdicts.judge_contained(py, search, &mut texts, &mut told)?;
        texts
    } else {
        let judging = py.detach(|| Judging::begin(&options, &schema, within));
        let judging = judging.map_err(refused)?;
        let mut texts = TextQueue::ordered(py, rows, (keep, ranks), &schema, errors)?;
        verdicts.judge(py, judging, &mut texts, &mut told)?;
        texts
    };
    told.end(py)?;
    let JudgedRows {
        mut dropped,
        mut skipped,
        ..
    } = verdicts;
    dropped.sort_unstable_by_key(|(row, _)| *row);
    skipped.append(&mut texts.flawed);
    skipped.sort_unstable();
    let mut keep = vec![true; usize::try_from(texts.taken)?];
    let gone = dropped.iter().map(|(row, _)| *row);
    for row in gone.chain(skipped.iter().map(|(row, _)| *row)) {
        keep[usize::try_from(row)?] = false;
    }
    let kept = texts
        .kept()
        .map(|(schema, arrays)| kept(&schema, &batches(&schema, &arrays)?, &keep));
    let table = table_of(&dropped, containment.is_some())?;
    let without = texts.ranks.without();
    let without = without
        .map(|(field, rows)| (field.to_owned(), rows))
        .collect();
    Ok((keep, table, skipped, kept.transpose()?, without))
}

/// The orders that are asked for: fields, and the values that are preferred of some.
fn orders(py: Python<'_>, ranked: Vec<(String, Option<Vec<String>>)>) -> PyResult<Vec<KeepBy>> {
    let order = |(field, values): (String, Option<Vec<String>>)| match values {
        Some(values) => Ok(KeepBy::preferred(field, values)),
        None => field.parse().map_err(|error| of_dedup(py, &error)),
    };
    ranked.into_iter().map(order).collect()
}

/// The options of the temporary store in which rows are compared, without the texts to `ignore`.
pub(crate) fn store_options(
    py: Python<'_>,
    schema: &Schema,
    false_candidates: Option<usize>,
    ignore: Option<&Bound<'_, PyAny>>,
) -> PyResult<Options> {
    let mut options = Options::new();
    if let Some(most) = false_candidates {
        options = options.false_candidates(most);
    }
    let shingler = schema.shingler().map_err(|error| raised(py, &error))?;
    if let Some(ignored) = ignored_shingles(py, &shingler, ignore)? {
        options = options.ignore(&ignored);
    }
    Ok(options)
}

/// What has been judged of the rows, in the order in which they are judged.
struct JudgedRows {
    dropped: Vec<(u64, DroppedRow)>,
    skipped: FlawedRows,
    judged: u64,
    errors: ErrorPolicy,
}

impl JudgedRows {
    fn new(errors: ErrorPolicy) -> JudgedRows {
        JudgedRows {
            dropped: Vec::new(),
            skipped: Vec::new(),
            judged: 0,
            errors,
        }
    }

    /// Judges rows by similarity while they are read.
    fn judge(
        &mut self,
        py: Python<'_>,
        mut judging: Judging,
        texts: &mut TextQueue,
        told: &mut ProgressCallback,
    ) -> PyResult<()> {
        let mut is_ended = false;
        while !is_ended || judging.under_way() > 0 {
            let time = if is_ended || judging.is_full() {
                TICK
            } else {
                if let Some(batch) = texts.next(py)? {
                    judging.push(batch);
                } else {
                    is_ended = true;
                    judging.close();
                }
                Duration::ZERO
            };
            let outcomes = py.detach(|| judging.wait(time));
            let outcomes = outcomes.map_err(|error| of_dedup(py, &error))?;
            self.take(py, texts, outcomes.unwrap_or_default())?;
            told.tell(py, self.judged, texts.all())?;
            py.check_signals()?;
        }
        warn_of_cut_short(py, judging.searches_cut_short())?;
        py.detach(|| drop(judging));
        Ok(())
    }

    /// Judges rows by containment, once all are read.
    fn judge_contained(
        &mut self,
        py: Python<'_>,
        search: ContainedRows,
        texts: &mut TextQueue,
        told: &mut ProgressCallback,
    ) -> PyResult<()> {
        let mut ranked = Vec::new();
        while let Some(batch) = texts.next(py)? {
            ranked.extend(batch);
        }
        let all = texts.all();
        let work = move |progress: &Progress| {
            progress.begin(ranked.len() as u64);
            let rows = search.judge(&ranked, progress);
            (rows, search.searches_cut_short())
        };
        let (rows, cut_short) = watched(py, told, work)?;
        self.take(py, texts, rows.map_err(|error| of_dedup(py, &error))?)?;
        told.tell(py, self.judged, all)?;
        warn_of_cut_short(py, cut_short)
    }

    /// Takes the verdicts on the next rows.
    fn take(&mut self, py: Python<'_>, texts: &TextQueue, rows: RowVerdicts) -> PyResult<()> {
        for verdict in rows {
            let row = texts.row(self.judged);
            self.judged += 1;
            match verdict {
                Ok(None) => {}
                Ok(Some(mut why)) => {
                    why.earlier = texts.row(why.earlier);
                    self.dropped.push((row, why));
                }
                Err(error) if self.errors == ErrorPolicy::Skip => {
                    self.skipped.push((row, error.to_string()));
                }
                Err(error) => return Err(of_row(py, row, &error)),
            }
        }
        Ok(())
    }
}

/// Warns if searches skipped candidates.
pub(crate) fn warn_of_cut_short(py: Python<'_>, times: u64) -> PyResult<()> {
    if times == 0 {
        return Ok(());
    }
    let message = format!(
        "{}, a search skipped candidates after many that did not match; a larger false_candidates compares more",
        counted(times, "time", "times")
    );
    warn(py, &message)
}

fn which(keep: &str) -> PyResult<Keep> {
    match keep {
        "first" => Ok(Keep::First),
        "longest" => Ok(Keep::Longest),
        "newest" => Ok(Keep::Newest),
        other => Err(PyValueError::new_err(format!(
            "keep: {other:?}; there are \"first\", \"longest\" and \"newest\""
        ))),
    }
}

/// Texts in the order in which they are judged.
pub(crate) struct TextQueue {
    rows: RowSource,
    errors: ErrorPolicy,
    /// The number of rows that were taken from `rows`.
    pub(crate) taken: u64,
    /// Those of them with flaws, in order, and how many texts are before each.
    pub(crate) flawed: FlawedRows,
    before: Vec<u64>,
    ranks: FieldRanks,
    ranked: Option<RankedTexts>,
}

/// All texts, waiting for their turns.
struct RankedTexts {
    texts: Vec<String>,
    order: Vec<usize>,
    next: usize,
}

impl TextQueue {
    /// The texts in the order in which they come.
    pub(crate) fn of(rows: RowSource, errors: ErrorPolicy) -> TextQueue {
        TextQueue {
            rows,
            errors,
            taken: 0,
            flawed: Vec::new(),
            before: Vec::new(),
            ranks: FieldRanks::new([]),
            ranked: None,
        }
    }

    /// Reads all texts first, if they are judged in another order than that in which they come.
    fn ordered(
        py: Python<'_>,
        rows: RowSource,
        (keep, ranks): (Keep, FieldRanks),
        schema: &Schema,
        errors: ErrorPolicy,
    ) -> PyResult<TextQueue> {
        let mut texts = TextQueue::of(rows, errors);
        texts.ranks = ranks;
        let is_ranked = texts.ranks.fields().next().is_some();
        if keep != Keep::First || is_ranked {
            let mut all = Vec::new();
            while let Some(batch) = texts.next(py)? {
                all.extend(batch);
                py.check_signals()?;
            }
            let order = py.detach(|| Judging::order(keep, &all, schema));
            let mut order = order.map_err(|error| raised(py, &error))?;
            let checked = texts.ranks.check(&texts.rows.field_names());
            checked.map_err(|error| of_dedup(py, &error))?;
            texts.ranks.sort(&mut order);
            texts.ranked = Some(RankedTexts {
                texts: all,
                order,
                next: 0,
            });
        }
        Ok(texts)
    }

    /// The next texts, or `None` at the end.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        if let Some(ranked) = &mut self.ranked {
            return Ok(ranked.next());
        }
        let Some(batch) = self.rows.next(py)? else {
            return Ok(None);
        };
        for ranks in &batch.ranks {
            self.ranks.push(ranks);
        }
        let mut texts = Vec::with_capacity(batch.rows.len());
        for row in batch.rows {
            match row {
                Ok((_, text)) => texts.push(text),
                Err(flaw) if self.errors == ErrorPolicy::Skip => {
                    self.before.push(self.taken - self.flawed.len() as u64);
                    self.flawed.push((self.taken, flaw.to_string()));
                }
                Err(flaw) => return Err(flaw.raised(self.taken)),
            }
            self.taken += 1;
        }
        Ok(Some(texts))
    }

    /// The number of the row that is judged in this turn.
    pub(crate) fn row(&self, turn: u64) -> u64 {
        let order = self.ranked.as_ref().map(|ranked| &ranked.order);
        let text = order.and_then(|order| order.get(usize::try_from(turn).ok()?));
        let text = text.map_or(turn, |text| *text as u64);
        // Rows with flaws have no turn.
        text + self.before.partition_point(|before| *before <= text) as u64
    }

    /// The number of texts, if it is known.
    fn all(&self) -> Option<u64> {
        self.ranked.as_ref().map(|ranked| ranked.order.len() as u64)
    }

    pub(crate) fn kept(&mut self) -> Option<(SchemaRef, Vec<ArrayRef>)> {
        self.rows.kept()
    }
}

impl RankedTexts {
    fn next(&mut self) -> Option<Vec<String>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_ROWS && self.next < self.order.len() {
            let text = std::mem::take(&mut self.texts[self.order[self.next]]);
            self.next += 1;
            bytes += text.len();
            batch.push(text);
        }
        (!batch.is_empty()).then_some(batch)
    }
}

/// The rows of a table that are kept.
pub(crate) fn kept(schema: &SchemaRef, batches: &[RecordBatch], keep: &[bool]) -> PyResult<Table> {
    let mut rest = keep;
    let kept = batches.iter().map(|batch| {
        let (mask, after) = rest.split_at(batch.num_rows());
        rest = after;
        filter_record_batch(batch, &BooleanArray::from(mask.to_vec()))
    });
    let kept = kept.collect::<Result<_, _>>();
    Ok(Table::new(
        schema.clone(),
        kept.map_err(|error| defect(&error))?,
    ))
}

/// The batches of a table.
fn batches(schema: &SchemaRef, arrays: &[ArrayRef]) -> PyResult<Vec<RecordBatch>> {
    let batches = arrays.iter().map(|array| {
        let columns = array.as_struct().columns().to_vec();
        RecordBatch::try_new(schema.clone(), columns)
    });
    let batches = batches.collect::<Result<_, _>>();
    batches.map_err(|error| defect(&error))
}

/// Why rows are dropped. The containment and the measure are columns if containment was asked for.
fn table_of(dropped: &[(u64, DroppedRow)], by_containment: bool) -> PyResult<Table> {
    let mut fields = vec![
        ("row", DataType::UInt64, false),
        ("earlier", DataType::UInt64, false),
        ("verdict", DataType::Utf8, false),
        ("jaccard", DataType::Float64, false),
    ];
    let why = || dropped.iter().map(|(_, why)| why);
    let verdicts = why().map(|why| match (why.exact_copy, why.is_contained) {
        (true, _) => "exact_copy",
        (false, true) => "contained",
        (false, false) => "near_duplicate",
    });
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(
            dropped.iter().map(|(row, _)| *row),
        )),
        Arc::new(UInt64Array::from_iter_values(why().map(|why| why.earlier))),
        Arc::new(StringArray::from_iter_values(verdicts)),
        Arc::new(Float64Array::from_iter_values(
            why().map(|why| why.jaccard.unwrap_or(why.estimate)),
        )),
    ];
    if by_containment {
        let measures = why().map(|why| {
            if why.is_contained {
                "containment"
            } else {
                "jaccard"
            }
        });
        fields.push(("containment", DataType::Float64, true));
        fields.push(("measure", DataType::Utf8, false));
        let shares = why().map(|why| why.containment);
        columns.push(Arc::new(shares.collect::<Float64Array>()));
        columns.push(Arc::new(StringArray::from_iter_values(measures)));
    }
    let schema = table::schema(&fields);
    let batch = RecordBatch::try_new(schema.clone(), columns).map_err(|error| defect(&error))?;
    Ok(Table::new(schema, vec![batch]))
}
