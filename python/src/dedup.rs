//! Rows without their near-duplicates, for callers without a store.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use dedupdb::{Match, Options, Progress, Schema};
use dedupdb_corpus::dedup::{
    Attachments, ContainedRows, ContainmentConflict, DroppedRow, Error, FieldRanks, Keep, KeepBy,
    RowDedup as Judging, RowVerdicts,
};
use dedupdb_corpus::number::counted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::against::Reference;
use crate::arguments;
use crate::errors::{of_dedup, of_row, raised};
use crate::passages::ignored_shingles;
use crate::row_adder::ErrorPolicy;
use crate::rows::{ATTACHMENTS, BATCH_BYTES, BATCH_ROWS, ColumnNames, KeyColumn, RowSource};
use crate::schema;
use crate::table::{NamedColumn, Table, defect};
use crate::warning::warn;
use crate::watch::{ProgressCallback, TICK, watched};

/// The number of texts to ask about together.
const ROWS_ASKED: usize = 256;

/// Rows that could not be judged, with the reasons.
pub(crate) type FlawedRows = Vec<(u64, String)>;

/// The numbers of rows without a value of a field, for each field.
type LackingRows = Vec<(String, u64)>;

/// A row that is not marked as it is dropped, the number of the row that represents it, and the similarity of both.
type MarkedRow = (u64, u64, f64);

/// What [`dedup`] returns.
type JudgedTable = (
    Vec<bool>,
    Table,
    FlawedRows,
    Option<Table>,
    LackingRows,
    Vec<MarkedRow>,
);

/// Which rows to keep, why the others are dropped, which could not be judged, the kept rows if an Arrow table has
/// them and they are asked for, how many rows lack what ranks them, and which rows have other marks than the list of dropped ones says.
#[pyfunction]
#[pyo3(signature = (data, text, key, keep, ranked, keep_rows, within, against, containment, shortest, false_candidates, errors, progress, ignore, parameters))]
#[expect(clippy::too_many_arguments, reason = "one call of ours makes it")]
pub(crate) fn dedup(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::text)] text: Vec<String>,
    #[pyo3(from_py_with = arguments::key)] key: Option<String>,
    #[pyo3(from_py_with = arguments::keep)] keep: String,
    ranked: Vec<(String, Option<Vec<String>>)>,
    keep_rows: bool,
    within: PathBuf,
    against: Option<&Bound<'_, PyAny>>,
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
    let names = ColumnNames {
        key: key.map(KeyColumn::Named),
        texts: text,
        are_nested: true,
        ranked: (ranks.fields().chain([ATTACHMENTS]))
            .map(str::to_owned)
            .collect(),
    };
    let mut rows = RowSource::named("data", data, &names)?;
    if keep_rows {
        rows.keep();
    }
    let refused = |error| of_dedup(py, &error);
    let options = store_options(py, &schema, false_candidates, ignore)?;
    let mut verdicts = JudgedRows::new(errors, keep);
    let mut texts = TextQueue::of(rows, errors);
    texts.keys = names.key.is_some().then(Vec::new);
    texts.attachments = Some(HashMap::new());
    if let Some(against) = against {
        let place = (&options, &schema, &*within);
        let reference = Reference::of(py, against, &names.texts, place)?;
        verdicts.judge_against(py, &reference, &mut texts, &mut told)?;
    } else if let Some(least) = containment {
        if keep != Keep::Longest {
            let conflict = ContainmentConflict::Keep;
            return Err(refused(Error::Containment { conflict }));
        }
        let search = py.detach(|| ContainedRows::begin(&options, &schema, within, least));
        let search = search.map_err(refused)?.shortest(shortest);
        texts.order(py, (keep, ranks), &schema)?;
        verdicts.judge_contained(py, search, &mut texts, &mut told)?;
    } else {
        let judging = py.detach(|| Judging::begin(&options, &schema, within));
        let judging = judging.map_err(refused)?;
        texts.order(py, (keep, ranks), &schema)?;
        verdicts.judge(py, judging, &mut texts, &mut told)?;
    }
    told.end(py)?;
    verdicts.result(texts, containment.is_some())
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
    keep: Keep,
    /// The number of rows that were met so far of those that resemble a kept one, and are kept, too, if they are few.
    met: HashMap<u64, u32>,
    attachments: Attachments,
    /// Those that are kept, and, if none of several similar rows is kept, those that represent the others.
    marked: Vec<MarkedRow>,
    /// The keys of a store, if rows are compared with those. The number of an earlier row is a place in this list.
    stored: Option<Vec<String>>,
    /// The texts of rows that are being judged, if no row of several similar ones is kept, and those of dropped rows.
    under_way: VecDeque<String>,
    dropped_texts: Vec<String>,
    /// Whether earlier rows are those of other data.
    is_against: bool,
}

impl JudgedRows {
    fn new(errors: ErrorPolicy, keep: Keep) -> JudgedRows {
        JudgedRows {
            dropped: Vec::new(),
            skipped: Vec::new(),
            judged: 0,
            errors,
            keep,
            met: HashMap::new(),
            attachments: Attachments::default(),
            marked: Vec::new(),
            stored: None,
            under_way: VecDeque::new(),
            dropped_texts: Vec::new(),
            is_against: false,
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
                    if self.keep == Keep::None {
                        self.under_way.extend(batch.iter().cloned());
                    }
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
        self.drop_resembled(py, &mut judging, texts)?;
        warn_of_cut_short(py, judging.searches_cut_short())?;
        py.detach(|| drop(judging));
        Ok(())
    }

    /// Drops the kept rows that resemble a dropped one, and have no other attachments than that, if none of several
    /// similar rows is kept.
    fn drop_resembled(
        &mut self,
        py: Python<'_>,
        judging: &mut Judging,
        texts: &TextQueue,
    ) -> PyResult<()> {
        let mut gone: HashSet<u64> = self.dropped.iter().map(|(row, _)| *row).collect();
        let rows: Vec<u64> = self.dropped.iter().map(|(row, _)| *row).collect();
        let all = std::mem::take(&mut self.dropped_texts);
        for (rows, all) in rows.chunks(ROWS_ASKED).zip(all.chunks(ROWS_ASKED)) {
            let judging = &mut *judging;
            let answers = py.detach(move || judging.resembled(all));
            let answers = answers.map_err(|error| of_dedup(py, &error))?;
            for (&earlier, answer) in rows.iter().zip(answers) {
                for mut found in answer.map_err(|error| of_row(py, earlier, &error))? {
                    let row = texts.row(found.earlier);
                    found.earlier = earlier;
                    let attached = texts.attachments(row);
                    let has_more = attached.is_some() && attached != texts.attachments(earlier);
                    if !has_more && gone.insert(row) {
                        self.dropped.push((row, found));
                        self.marked.push((row, row, 1.0));
                    }
                }
            }
            py.check_signals()?;
        }
        Ok(())
    }

    /// Judges rows by comparison with others alone.
    fn judge_against(
        &mut self,
        py: Python<'_>,
        reference: &Reference,
        texts: &mut TextQueue,
        told: &mut ProgressCallback,
    ) -> PyResult<()> {
        self.is_against = true;
        let before = reference.searches_cut_short();
        self.stored = (!reference.has_rows).then(Vec::new);
        while let Some(batch) = texts.next(py)? {
            let found = py.detach(|| reference.matches(&batch));
            let found = found.map_err(|error| raised(py, &error))?;
            let stored = &mut self.stored;
            let mut verdict = |found: Match| {
                let earlier = if let Some(keys) = stored {
                    keys.push(found.key.clone());
                    keys.len() as u64 - 1
                } else {
                    found.key.parse().unwrap_or_default()
                };
                DroppedRow::like(earlier, &found)
            };
            let verdicts = found.into_iter();
            let verdicts = verdicts.map(|found| Ok(found?.map(&mut verdict)));
            let verdicts = verdicts.collect();
            self.take_as_they_are(py, texts, verdicts)?;
            told.tell(py, self.judged, None)?;
            py.check_signals()?;
        }
        warn_of_cut_short(py, reference.searches_cut_short() - before)
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

    /// Takes the verdicts on the next rows, in which the earlier rows have their numbers in the order of judgement.
    fn take(&mut self, py: Python<'_>, texts: &TextQueue, rows: RowVerdicts) -> PyResult<()> {
        let numbered = |verdict: dedupdb::Result<Option<DroppedRow>>| {
            let mut verdict = verdict?;
            if let Some(why) = &mut verdict {
                why.earlier = texts.row(why.earlier);
            }
            Ok(verdict)
        };
        self.take_as_they_are(py, texts, rows.into_iter().map(numbered).collect())
    }

    /// Takes the verdicts on the next rows.
    fn take_as_they_are(
        &mut self,
        py: Python<'_>,
        texts: &TextQueue,
        rows: RowVerdicts,
    ) -> PyResult<()> {
        for verdict in rows {
            let row = texts.row(self.judged);
            self.judged += 1;
            let text = self.under_way.pop_front();
            match verdict {
                Ok(None) => {
                    if let Some(attached) = texts.attachments(row) {
                        self.attachments.are_new(&row.to_string(), attached);
                    }
                }
                Ok(Some(why)) if self.stays(texts.attachments(row), why.earlier) => {
                    let similarity = why.jaccard.unwrap_or(why.estimate);
                    self.marked.push((row, why.earlier, similarity));
                }
                Ok(Some(why)) => {
                    self.dropped.push((row, why));
                    self.dropped_texts.extend(text);
                }
                Err(error) if self.errors == ErrorPolicy::Skip => {
                    self.skipped.push((row, error.to_string()));
                }
                Err(error) => return Err(of_row(py, row, &error)),
            }
        }
        Ok(())
    }

    /// Whether a row is kept although it resembles a kept one: no other of these has its attachments, or they are few.
    fn stays(&mut self, attached: Option<&[u8]>, earlier: u64) -> bool {
        let has_more = attached.is_some_and(|attached| {
            let key = match &self.stored {
                Some(keys) => key_at(keys, earlier).to_owned(),
                None => earlier.to_string(),
            };
            self.attachments.are_new(&key, attached)
        });
        has_more || self.is_beside(earlier)
    }

    /// Whether a row is kept beside the kept one that it resembles.
    fn is_beside(&mut self, earlier: u64) -> bool {
        let Keep::Few(few) = self.keep else {
            return false;
        };
        let met = self.met.entry(earlier).or_default();
        *met = met.saturating_add(1);
        *met < few.get()
    }

    /// What has been judged, once all rows are.
    fn result(mut self, mut texts: TextQueue, by_containment: bool) -> PyResult<JudgedTable> {
        self.dropped.sort_unstable_by_key(|(row, _)| *row);
        self.skipped.append(&mut texts.flawed);
        self.skipped.sort_unstable();
        let mut keep = vec![true; usize::try_from(texts.taken)?];
        let gone = self.dropped.iter().map(|(row, _)| *row);
        for row in gone.chain(self.skipped.iter().map(|(row, _)| *row)) {
            keep[usize::try_from(row)?] = false;
        }
        let kept = texts
            .kept()
            .map(|(schema, arrays)| kept(&schema, &batches(&schema, &arrays)?, &keep));
        let table = self.table(&texts, by_containment)?;
        let without = texts.ranks.without();
        let without = without.map(|(field, rows)| (field.to_owned(), rows));
        let without = without.collect();
        Ok((
            keep,
            table,
            self.skipped,
            kept.transpose()?,
            without,
            self.marked,
        ))
    }

    /// Why rows are dropped. The containment and the measure are columns if containment was asked for, and so are keys.
    fn table(&self, texts: &TextQueue, by_containment: bool) -> PyResult<Table> {
        let why = || self.dropped.iter().map(|(_, why)| why);
        let rows = UInt64Array::from_iter_values(self.dropped.iter().map(|(row, _)| *row));
        let mut columns: Vec<NamedColumn> = vec![("row", Arc::new(rows), false)];
        let earlier = why().map(|why| why.earlier);
        columns.push(match &self.stored {
            Some(keys) => strings("earlier", earlier.map(|place| key_at(keys, place))),
            None => (
                "earlier",
                Arc::new(UInt64Array::from_iter_values(earlier)),
                false,
            ),
        });
        let verdicts = why().map(|why| match (why.exact_copy, why.is_contained) {
            (true, _) => "exact_copy",
            (false, true) => "contained",
            (false, false) => "near_duplicate",
        });
        columns.push(strings("verdict", verdicts));
        let similarities = why().map(|why| why.jaccard.unwrap_or(why.estimate));
        columns.push((
            "jaccard",
            Arc::new(Float64Array::from_iter_values(similarities)),
            false,
        ));
        if by_containment {
            let shares = why().map(|why| why.containment).collect::<Float64Array>();
            let measures = why().map(|why| {
                if why.is_contained {
                    "containment"
                } else {
                    "jaccard"
                }
            });
            columns.push(("containment", Arc::new(shares), true));
            columns.push(strings("measure", measures));
        }
        if let Some(keys) = &texts.keys {
            let own = self.dropped.iter().map(|(row, _)| key_at(keys, *row));
            columns.push(strings("key", own));
            if !self.is_against {
                let earlier = why().map(|why| key_at(keys, why.earlier));
                columns.push(strings("earlier_key", earlier));
            }
        }
        Table::one(columns)
    }
}

/// A column of strings.
fn strings<'a>(name: &'static str, values: impl Iterator<Item = &'a str>) -> NamedColumn {
    let values = StringArray::from_iter_values(values);
    (name, Arc::new(values), false)
}

/// The key in this place.
fn key_at(keys: &[String], place: u64) -> &str {
    let key = usize::try_from(place)
        .ok()
        .and_then(|place| keys.get(place));
    key.map_or("", String::as_str)
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
        "none" => Ok(Keep::None),
        other => other.parse().map(Keep::Few).map_err(|_| {
            PyValueError::new_err(format!(
                "keep: {other:?}; there are \"first\", \"longest\", \"newest\", \"none\" and a number from 1"
            ))
        }),
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
    /// The keys of all rows that were taken, if they are asked for; empty for those with flaws.
    keys: Option<Vec<String>>,
    /// What rows have besides their texts, by their numbers, if it is asked for. Few have anything.
    attachments: Option<HashMap<u64, String>>,
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
            keys: None,
            attachments: None,
        }
    }

    /// Reads all texts first, if they are judged in another order than that in which they come.
    fn order(
        &mut self,
        py: Python<'_>,
        (keep, ranks): (Keep, FieldRanks),
        schema: &Schema,
    ) -> PyResult<()> {
        self.ranks = ranks;
        let is_ranked = self.ranks.fields().next().is_some();
        if !is_ranked && !matches!(keep, Keep::Longest | Keep::Newest) {
            return Ok(());
        }
        let mut all = Vec::new();
        while let Some(batch) = self.next(py)? {
            all.extend(batch);
            py.check_signals()?;
        }
        let order = py.detach(|| Judging::order(keep, &all, schema));
        let mut order = order.map_err(|error| raised(py, &error))?;
        let checked = self.ranks.check(&self.rows.field_names());
        checked.map_err(|error| of_dedup(py, &error))?;
        self.ranks.sort(&mut order);
        self.ranked = Some(RankedTexts {
            texts: all,
            order,
            next: 0,
        });
        Ok(())
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
        let mut ranks = batch.ranks.into_iter();
        for row in batch.rows {
            if let Some(keys) = &mut self.keys {
                keys.push(
                    row.as_ref()
                        .map_or_else(|_| String::new(), |(key, _)| key.clone()),
                );
            }
            match row {
                Ok((_, text)) => {
                    texts.push(text);
                    let last = ranks.next().and_then(|mut ranks| ranks.pop()?);
                    if let (Some(all), Some(attached)) = (&mut self.attachments, last) {
                        all.insert(self.taken, attached);
                    }
                }
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

    /// What a row has besides its text, if anything.
    fn attachments(&self, row: u64) -> Option<&[u8]> {
        let attached = self.attachments.as_ref()?.get(&row)?;
        Some(attached.as_bytes())
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
