//! Rows of texts that have items of a benchmark.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use dedupdb::sketching::Shingler;
use dedupdb_corpus::decontaminate::{ItemSearch, Overlap, Rule};
use dedupdb_corpus::dedup::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments;
use crate::dedup::{FlawedRows, TextQueue, kept};
use crate::errors::{of_dedup, raised};
use crate::passages::ignored_shingles;
use crate::row_adder::ErrorPolicy;
use crate::rows::{ColumnNames, Flaw, KeyColumn, RowSource};
use crate::table::{NamedColumn, Table, defect};
use crate::watch::ProgressCallback;

/// Rows of the benchmark that cannot be checked: the number, the field, and the reason.
type UncheckedItems = Vec<(u64, String, String)>;

/// The numbers of rows, and their texts without items.
pub(crate) type CutTexts = Vec<(u64, String)>;

/// Which rows to keep, the items that rows have, the texts of the kept ones among these, the items that cannot be checked, which
/// rows could not be compared, and the kept rows if an Arrow table has them and they are asked for. Without a margin, no row
/// with an item is kept.
#[pyfunction]
#[pyo3(signature = (data, text, keep_rows, against, fields, passage, containment, margin, errors, progress, ignore))]
#[expect(clippy::too_many_arguments, reason = "one call of ours makes it")]
#[expect(clippy::type_complexity, reason = "one call of ours takes it apart")]
pub(crate) fn decontaminate(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = arguments::text)] text: Vec<String>,
    keep_rows: bool,
    against: &Bound<'_, PyAny>,
    fields: Vec<String>,
    passage: u32,
    containment: f64,
    margin: Option<usize>,
    #[pyo3(from_py_with = arguments::errors)] errors: &str,
    progress: Option<&Bound<'_, PyAny>>,
    ignore: Option<&Bound<'_, PyAny>>,
) -> PyResult<(
    Vec<bool>,
    Table,
    CutTexts,
    UncheckedItems,
    FlawedRows,
    Option<Table>,
)> {
    let errors = ErrorPolicy::of(errors)?;
    let mut told = ProgressCallback::new(progress, "texts")?;
    let cut_field = margin.map(|_| arguments::one_field(text.clone()));
    let cut_field = cut_field.transpose()?;
    let items = Items::read(py, against, &fields, None, errors)?;
    let rule = Rule::new().passage(passage).containment(containment);
    let shingler =
        Shingler::new(Rule::SHINGLING, true, true).map_err(|error| raised(py, &error))?;
    let rule = match ignored_shingles(py, &shingler, ignore)? {
        Some(ignored) => rule.ignore(&ignored),
        None => rule,
    };
    let search = search(py, &items.texts, &rule)?;
    let unchecked = items.unchecked(&search);
    if unchecked.len() == items.texts.len() + items.flawed.len() {
        return Err(nothing_to_look_for());
    }
    let mut rows = match &cut_field {
        Some(field) => RowSource::texts_to_cut(data, field.clone())?,
        None => RowSource::texts("data", data, text)?,
    };
    if keep_rows {
        rows.keep();
    }
    let mut texts = TextQueue::of(rows, errors);
    let mut hits = HitColumns::default();
    let (mut compared, mut hit, mut cut) = (0, Vec::new(), Vec::new());
    while let Some(batch) = texts.next(py)? {
        let found = py.detach(|| found_and_cut(&search, &batch, margin));
        for (found, text) in found.map_err(|error| of_dedup(py, &error))? {
            let row = texts.row(compared);
            compared += 1;
            for (number, overlap) in &found {
                hits.push(
                    row,
                    items.place(*number),
                    search.words()[*number as usize],
                    overlap,
                );
            }
            match text {
                Some(text) => cut.push((row, text)),
                None if found.is_empty() => {}
                None => hit.push(row),
            }
        }
        told.tell(py, compared, None)?;
        py.check_signals()?;
    }
    told.end(py)?;
    let mut keep = vec![true; usize::try_from(texts.taken)?];
    for row in hit
        .into_iter()
        .chain(texts.flawed.iter().map(|(row, _)| *row))
    {
        keep[usize::try_from(row)?] = false;
    }
    let cut_field = cut_field.unwrap_or_default();
    let kept = texts.kept().map(|(schema, arrays)| {
        let rows = with_texts(&schema, arrays, &cut_field, &cut)?;
        kept(&schema, &rows, &keep)
    });
    Ok((
        keep,
        hits.table()?,
        cut,
        unchecked,
        texts.flawed,
        kept.transpose()?,
    ))
}

/// The search for these items.
pub(crate) fn search<T: AsRef<str> + Sync>(
    py: Python<'_>,
    items: &[T],
    rule: &Rule,
) -> PyResult<ItemSearch> {
    let search = py.detach(|| ItemSearch::new(items, rule));
    search.map_err(|error| of_dedup(py, &error))
}

/// The error about a benchmark without an item that can be checked.
pub(crate) fn nothing_to_look_for() -> PyErr {
    let fewest = Rule::FEWEST_WORDS;
    let message = format!("against: it has no text of {fewest} words or more to look for");
    PyValueError::new_err(message)
}

/// What each of these texts has of items, and, if they are cut, what is left of it.
#[expect(clippy::type_complexity, reason = "one call of ours takes it apart")]
fn found_and_cut(
    search: &ItemSearch,
    texts: &[String],
    margin: Option<usize>,
) -> Result<Vec<(Vec<(u32, Overlap)>, Option<String>)>, Error> {
    let found = search.find_all(texts)?.into_iter().zip(texts);
    let cut = found.map(|(hits, text)| {
        let cut = match margin {
            Some(margin) if !hits.is_empty() => search.cut(text, &hits, margin)?,
            _ => None,
        };
        Ok((hits, cut))
    });
    cut.collect()
}

/// The columns of a table with other texts in rows that are in order.
pub(crate) fn with_texts(
    schema: &SchemaRef,
    arrays: Vec<ArrayRef>,
    text: &str,
    texts: &[(u64, String)],
) -> PyResult<Vec<RecordBatch>> {
    let mut texts = texts.iter().peekable();
    let mut before = 0;
    let batches = arrays.into_iter().map(|array| {
        let mut columns = array.as_struct().columns().to_vec();
        let rows = before..before + array.len() as u64;
        before = rows.end;
        let of_batch = std::iter::from_fn(|| texts.next_if(|(row, _)| rows.contains(row)));
        let of_batch: Vec<&(u64, String)> = of_batch.collect();
        if let (false, Ok(column)) = (of_batch.is_empty(), schema.index_of(text)) {
            let old = cast(&columns[column], &DataType::Utf8)?;
            let mut new: Vec<Option<&str>> = old.as_string::<i32>().iter().collect();
            for (row, text) in of_batch {
                new[usize::try_from(row - rows.start).unwrap_or(usize::MAX)] = Some(text);
            }
            columns[column] = cast(&StringArray::from(new), columns[column].data_type())?;
        }
        RecordBatch::try_new(schema.clone(), columns)
    });
    let batches: Result<Vec<RecordBatch>, ArrowError> = batches.collect();
    batches.map_err(|error| defect(&error))
}

/// The texts of a benchmark.
pub(crate) struct Items<'a> {
    fields: &'a [String],
    pub(crate) texts: Vec<String>,
    /// The keys of the rows of these texts; empty if none are read.
    pub(crate) keys: Vec<String>,
    /// The row and the number of the field of each text, and its number in the list there, if it is in one.
    places: Vec<(u64, usize, Option<usize>)>,
    /// Rows without a text, with `errors="skip"`.
    pub(crate) flawed: UncheckedItems,
}

impl<'a> Items<'a> {
    /// Reads the benchmark once for each field, with the keys of its rows if their column is named.
    pub(crate) fn read(
        py: Python<'_>,
        against: &Bound<'_, PyAny>,
        fields: &'a [String],
        key: Option<String>,
        errors: ErrorPolicy,
    ) -> PyResult<Items<'a>> {
        let mut items = Items {
            fields,
            texts: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
            flawed: Vec::new(),
        };
        let mut rows_before = None;
        let key = key.map(KeyColumn::Named);
        for (number, field) in fields.iter().enumerate() {
            let names = ColumnNames {
                key: key.clone(),
                texts: vec![field.clone()],
                are_nested: true,
                ranked: Vec::new(),
            };
            let mut rows = RowSource::named("against", against, &names)?;
            let mut row = 0;
            while let Some(batch) = rows.next(py)? {
                let mut lists = batch.lists.into_iter().peekable();
                for (at, text) in batch.rows.into_iter().enumerate() {
                    let list = lists.next_if(|(row, _)| *row == at);
                    match text {
                        Ok((key, text)) => match list {
                            Some((_, places)) => {
                                let strings =
                                    places.into_iter().map(|place| text[place].to_owned());
                                items.push_all((row, number), &key, strings);
                            }
                            None => items.push((row, number, None), key, text),
                        },
                        Err(flaw) if errors == ErrorPolicy::Skip => {
                            items.flawed.push((row, field.clone(), flaw.to_string()));
                        }
                        Err(flaw) => {
                            let hint = match flaw {
                                Flaw::Missing(..) => " (against_text names the fields)",
                                _ => "",
                            };
                            let message = format!("against: row {row}, {field:?}: {flaw}{hint}");
                            return Err(PyValueError::new_err(message));
                        }
                    }
                    row += 1;
                }
                py.check_signals()?;
            }
            if rows_before.is_some_and(|before| before != row) {
                let message = "against: it can be read only once, and has several fields; give a table or a list";
                return Err(PyValueError::new_err(message));
            }
            rows_before = Some(row);
        }
        Ok(items)
    }

    fn push(&mut self, place: (u64, usize, Option<usize>), key: String, text: String) {
        self.texts.push(text);
        self.keys.push(key);
        self.places.push(place);
    }

    /// Takes the strings of a list.
    fn push_all(
        &mut self,
        (row, field): (u64, usize),
        key: &str,
        strings: impl Iterator<Item = String>,
    ) {
        for (number, string) in strings.enumerate() {
            self.push((row, field, Some(number)), key.to_owned(), string);
        }
    }

    /// The row and the field of an item, such as `choices[0]` if that has a list.
    pub(crate) fn place(&self, number: u32) -> (u64, Cow<'a, str>) {
        let (row, field, string) = self.places[number as usize];
        let field = self.fields[field].as_str();
        let field = string.map_or(field.into(), |string| format!("{field}[{string}]").into());
        (row, field)
    }

    fn unchecked(&self, search: &ItemSearch) -> UncheckedItems {
        let mut unchecked = self.flawed.clone();
        let fewest = Rule::FEWEST_WORDS;
        for number in search.unchecked() {
            let words = search.words()[number as usize];
            let reason = if (words as usize) < fewest {
                format!("it has {words} of at least {fewest} words")
            } else {
                format!("without what is ignored, it has fewer than {fewest} words")
            };
            let (row, field) = self.place(number);
            unchecked.push((row, field.into_owned(), reason));
        }
        unchecked.sort();
        unchecked
    }
}

/// Hits, column by column.
#[derive(Default)]
struct HitColumns {
    row: UInt64Builder,
    item: UInt64Builder,
    overlaps: OverlapColumns,
}

impl HitColumns {
    fn push(
        &mut self,
        row: u64,
        (item, field): (u64, Cow<'_, str>),
        words: u32,
        overlap: &Overlap,
    ) {
        self.row.append_value(row);
        self.item.append_value(item);
        self.overlaps.push(&field, words, overlap);
    }

    fn table(mut self) -> PyResult<Table> {
        self.overlaps.table([
            ("row", Arc::new(self.row.finish()), false),
            ("item", Arc::new(self.item.finish()), false),
        ])
    }
}

/// What texts have of items, column by column.
#[derive(Default)]
pub(crate) struct OverlapColumns {
    field: StringBuilder,
    lengths: [UInt64Builder; 2],
    shares: [Float64Builder; 2],
    places: [UInt64Builder; 4],
    text: StringBuilder,
}

impl OverlapColumns {
    /// Adds what a text has of an item, which is in this field and has this number of words.
    pub(crate) fn push(&mut self, field: &str, words: u32, overlap: &Overlap) {
        self.field.append_value(field);
        for (column, number) in self.lengths.iter_mut().zip([words, overlap.longest]) {
            column.append_value(number.into());
        }
        for (column, share) in self
            .shares
            .iter_mut()
            .zip([overlap.coverage, overlap.share])
        {
            column.append_value(share);
        }
        let places = [
            overlap.bytes.start as u64,
            overlap.bytes.end as u64,
            overlap.item_words.start.into(),
            overlap.item_words.end.into(),
        ];
        for (column, place) in self.places.iter_mut().zip(places) {
            column.append_value(place);
        }
        self.text.append_value(&overlap.text);
    }

    /// A table with these columns, and behind two others that say which text and which item it is.
    pub(crate) fn table(mut self, others: [NamedColumn; 2]) -> PyResult<Table> {
        let [words, longest] = &mut self.lengths;
        let [coverage, share] = &mut self.shares;
        let [start, end, item_start, item_end] = &mut self.places;
        let own: [NamedColumn; 10] = [
            ("field", Arc::new(self.field.finish()), false),
            ("words", Arc::new(words.finish()), false),
            ("longest", Arc::new(longest.finish()), false),
            ("coverage", Arc::new(coverage.finish()), false),
            ("share", Arc::new(share.finish()), false),
            ("byte_start", Arc::new(start.finish()), false),
            ("byte_end", Arc::new(end.finish()), false),
            ("item_start", Arc::new(item_start.finish()), false),
            ("item_end", Arc::new(item_end.finish()), false),
            ("text", Arc::new(self.text.finish()), false),
        ];
        Table::one(others.into_iter().chain(own).collect())
    }
}
