//! The values of some fields of a record that is there as it is in its file.

use crate::decode::{decode, without_mark};
use crate::formats::format::Format;
use crate::formats::jsonl;
use crate::formats::table::columns::number;
use crate::formats::table::csv::cells;
use crate::formats::text_place::split_line_end;
use crate::item::OpenedFile;

/// Where the records of a file have some fields.
#[derive(Debug, Default)]
pub(crate) struct FieldPlaces {
    kind: PlaceKind,
    /// The names of the columns of a table.
    columns: Vec<String>,
}

#[derive(Debug, Default)]
enum PlaceKind {
    /// Nowhere: its records have no fields.
    #[default]
    None,
    /// In JSON objects, under these names.
    Json(Vec<String>),
    /// In the cells of rows with these indices, from 0.
    Csv(Vec<Option<usize>>),
    Tsv(Vec<Option<usize>>),
}

/// The value of a field is not a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compound {
    List,
    Object,
}

impl FieldPlaces {
    /// Returns the places in a file that was opened.
    ///
    /// # Errors
    ///
    /// The name that several of its columns have.
    pub(crate) fn of<'n>(
        opened: &OpenedFile,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<FieldPlaces, &'n str> {
        let columns = &opened.columns;
        let index = |name: &'n str| {
            let mut named = (0..columns.len()).filter(|&at| columns[at].trim() == name);
            match (named.next(), named.next()) {
                (_, Some(_)) => Err(name),
                (found, None) => Ok(found.or_else(|| number(name))),
            }
        };
        let kind = match opened.format {
            Format::Jsonl | Format::Json | Format::Parquet => {
                PlaceKind::Json(names.map(str::to_owned).collect())
            }
            Format::Csv => PlaceKind::Csv(names.map(index).collect::<Result<_, _>>()?),
            Format::Tsv => PlaceKind::Tsv(names.map(index).collect::<Result<_, _>>()?),
            _ => PlaceKind::None,
        };
        let columns = columns.clone();
        Ok(FieldPlaces { kind, columns })
    }

    /// Returns the values of the fields of a record, as texts. `None` for what is missing or null.
    ///
    /// # Errors
    ///
    /// The number of a field whose value is a list or an object.
    pub(crate) fn values(&self, record: &[u8]) -> Result<Vec<Option<String>>, (usize, Compound)> {
        let text = |cell: &[u8]| Some(decode(cell, None).into_owned().text);
        match &self.kind {
            PlaceKind::None => Ok(Vec::new()),
            PlaceKind::Json(names) => jsonl::values(record, names),
            PlaceKind::Csv(indices) => {
                let mut values = vec![None; indices.len()];
                cells(&mut csv_core::Reader::new(), record, |index, cell, _| {
                    for (value, wanted) in values.iter_mut().zip(indices) {
                        if *wanted == Some(index) {
                            *value = text(cell);
                        }
                    }
                });
                Ok(values)
            }
            PlaceKind::Tsv(indices) => {
                let (row, _) = split_line_end(without_mark(record));
                let cell = |index: usize| row.split(|&byte| byte == b'\t').nth(index);
                let values = indices
                    .iter()
                    .map(|index| index.and_then(cell).and_then(text));
                Ok(values.collect())
            }
        }
    }

    /// Returns the names of the fields that a record has.
    pub(crate) fn names(&self, record: &[u8]) -> Vec<String> {
        match &self.kind {
            PlaceKind::Json(_) if self.columns.is_empty() => jsonl::field_names(record),
            _ => self.columns.clone(),
        }
    }
}
