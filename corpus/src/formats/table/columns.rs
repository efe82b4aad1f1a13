//! The columns of a table that hold the key and the text.

use std::mem::take;

use encoding_rs::{Encoding, UTF_8};

use crate::decode::{Decoded, decode};
use crate::formats::fields::FieldPaths;
use crate::formats::jsonl;
use crate::formats::record::{JoinedText, Record};
use crate::formats::table::quoted::OTHER_SEPARATORS;
use crate::formats::text_place::TextPlace;
use crate::options::Options;
use crate::skipped::{Hint, HintedError, RecordFault};

/// The columns to read, counted from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnIndices {
    /// `None` if no column has keys.
    pub(crate) id: Option<usize>,
    /// Those with texts, which are joined in this order.
    pub(crate) texts: Vec<usize>,
    /// How many cells a row has. Only a table has rows that may be torn.
    pub(crate) widths: Option<RowWidths>,
}

/// The number of cells of the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowWidths {
    pub(crate) all: usize,
    /// Those up to the last one that is not empty.
    pub(crate) filled: usize,
}

impl ColumnIndices {
    /// Returns where rows have their text, if that is one cell.
    pub(crate) fn text_place(&self) -> TextPlace {
        match *self.texts {
            [column] => TextPlace::Cell(column),
            _ => TextPlace::None,
        }
    }
}

/// The columns, and whether the first row has their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableHead {
    pub(crate) columns: ColumnIndices,
    pub(crate) is_header: bool,
}

impl TableHead {
    /// Returns the columns of a table that begins with the row `first`.
    ///
    /// The row is a header unless all requested columns are numbers. If the row counts from 0, as pandas writes columns
    /// without names, these numbers are the names.
    ///
    /// # Errors
    ///
    /// A requested column does not exist.
    pub(crate) fn of(first: &[String], options: &Options) -> Result<TableHead, HintedError> {
        let names = options.text_names();
        let given = names.iter().copied().chain(options.id_field.as_deref());
        let is_counted = counts(first);
        // The first column has the number 1, but 0 is no name either.
        let is_name = |name: &str| name.parse::<usize>().is_err();
        let is_header = is_counted || given.into_iter().any(is_name);
        let is_only = names.len() == 1;
        let find = |name: &str| {
            let is_named = |at: &usize| is_header && first[*at].trim() == name;
            let mut named = (0..first.len()).filter(is_named);
            match (named.next(), named.next()) {
                (_, Some(_)) => Err(repeated(name)),
                (Some(column), None) => Ok(Some(column)),
                (None, None) => {
                    let number = number(name).filter(|_| !is_counted);
                    Ok(number.filter(|&number| is_only || number < first.len()))
                }
            }
        };
        let text = |name| find(name)?.ok_or_else(|| missing(name, ROW, first));
        let texts = names.into_iter().map(text).collect::<Result<_, _>>()?;
        let texts = distinct(texts);
        let id = match &options.id_field {
            Some(name) => Some(find(name)?.ok_or_else(|| missing(name, ROW, first))?),
            None if is_header => find(options.id_name())?,
            None => None,
        };
        let filled = first.iter().rposition(|cell| !cell.is_empty());
        Ok(TableHead {
            columns: ColumnIndices {
                id,
                texts,
                widths: Some(RowWidths {
                    all: first.len(),
                    filled: filled.map_or(0, |last| last + 1),
                }),
            },
            is_header,
        })
    }
}

/// Whether the cells of a row are 0, 1, 2 and so on; the first one may be empty, above an index.
fn counts(first: &[String]) -> bool {
    let numbers = match first {
        [index, numbers @ ..] if index.is_empty() => numbers,
        numbers => numbers,
    };
    let mut counted = numbers.iter().enumerate();
    !numbers.is_empty() && counted.all(|(number, cell)| *cell == number.to_string())
}

/// Returns columns in their order, each once.
pub(crate) fn distinct(columns: Vec<usize>) -> Vec<usize> {
    let mut once = Vec::with_capacity(columns.len());
    for column in columns {
        if !once.contains(&column) {
            once.push(column);
        }
    }
    once
}

/// Reports that several columns have this name.
fn repeated(name: &str) -> HintedError {
    HintedError {
        detail: format!("several columns are called {name:?}"),
        hint: Hint::Columns,
    }
}

/// Introduces the cells of a row that may be a header.
const ROW: &str = "its first row is";

/// Returns the column, counted from 0, for a number counted from 1.
pub(crate) fn number(name: &str) -> Option<usize> {
    name.parse::<usize>().ok()?.checked_sub(1)
}

/// Reports that there is no column of this name. `list` introduces the existing columns.
pub(crate) fn missing(name: &str, list: &str, first: &[String]) -> HintedError {
    const SHOWN: usize = 20;
    if let [only] = first
        && let Some(other) = OTHER_SEPARATORS
            .map(char::from)
            .iter()
            .find(|other| only.contains(**other))
    {
        return HintedError {
            detail: format!(
                "{list} {}, separated by `{other}`, and only commas and tabs are read",
                short(only)
            ),
            hint: Hint::Separator,
        };
    }
    let shown: Vec<String> = first.iter().take(SHOWN).map(|name| short(name)).collect();
    let more = if first.len() > SHOWN { ", ..." } else { "" };
    HintedError {
        detail: format!(
            "it has no column {name:?}, {list} {}{more}",
            shown.join(", ")
        ),
        hint: Hint::Columns,
    }
}

/// Returns a name in quotes, truncated if it is long.
pub(crate) fn short(name: &str) -> String {
    const SHOWN: usize = 40;
    let more = if name.chars().count() > SHOWN {
        "..."
    } else {
        ""
    };
    let start: String = name.chars().take(SHOWN).collect();
    format!("{start:?}{more}")
}

/// The cells of a row that are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowCells<B> {
    pub(crate) id: Option<B>,
    pub(crate) texts: Vec<Option<B>>,
    /// The fields with the texts, as a JSON object, in place of these if one is in a list.
    pub(crate) nested: Option<Vec<u8>>,
    /// What is wrong with the row.
    pub(crate) fault: Option<RecordFault>,
}

/// The cells of a row, while they are met one after another.
#[derive(Debug)]
pub(crate) struct CellPicker<'a, B> {
    columns: &'a ColumnIndices,
    cells: RowCells<B>,
    /// The number of cells.
    count: usize,
    /// The number of cells up to the last one that is not empty.
    filled: usize,
}

impl<'a, B: Clone> CellPicker<'a, B> {
    /// Begins a row.
    pub(crate) fn of(columns: &'a ColumnIndices) -> CellPicker<'a, B> {
        let cells = RowCells {
            id: None,
            texts: vec![None; columns.texts.len()],
            nested: None,
            fault: None,
        };
        CellPicker {
            columns,
            cells,
            count: 0,
            filled: 0,
        }
    }

    /// Takes the next cell, which is the one with this index, counted from 0.
    pub(crate) fn take<'c>(&mut self, index: usize, cell: &'c [u8])
    where
        B: From<&'c [u8]>,
    {
        self.count = index + 1;
        if !cell.is_empty() {
            self.filled = self.count;
        }
        if self.columns.id == Some(index) {
            self.cells.id = Some(cell.into());
        }
        for (text, &column) in self.cells.texts.iter_mut().zip(&self.columns.texts) {
            if column == index {
                *text = Some(cell.into());
            }
        }
    }

    /// Ends the row. One that has more cells than the first row, or fewer, is no record: most likely, it was split within its
    /// text. Empty cells at the end of either do not count. `advice` says what to do about that.
    pub(crate) fn end(mut self, advice: &str) -> RowCells<B> {
        let Some(first) = self.columns.widths else {
            return self.cells;
        };
        if self.filled > first.all || self.count < first.filled {
            let count = self.filled.max(self.count.min(first.all));
            self.cells.fault = Some(RecordFault::bad(format!(
                "it has {count} {}, and the first row {}; {advice}",
                if count == 1 { "cell" } else { "cells" },
                first.all
            )));
        }
        self.cells
    }
}

impl<B: AsRef<[u8]>> RowCells<B> {
    /// Returns the record of the row, in the encoding `given`. An empty key counts as no key.
    ///
    /// # Errors
    ///
    /// The [fault](RowCells::fault) of the row, or it has no text.
    pub(crate) fn record(self, given: Option<&'static Encoding>) -> Result<Record, RecordFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let decoded = joined(&self.texts, |text| Ok(decode(text, given).into_owned()))?;
        let id = self.id.map(|id| decode(id.as_ref(), given).into_owned());
        // A byte order mark alone is an empty key too.
        let id = id.filter(|id| !id.text.is_empty());
        Ok(Record {
            is_lossy: id.as_ref().is_some_and(|id| id.replaced),
            id: id.map(|id| id.text),
            decoded,
            strings: None,
        })
    }

    /// Returns the record of a row whose columns have types: its text and key are UTF-8, unless they are in the encoding
    /// `given`. `names` are the fields with the texts. An empty key counts as no key.
    ///
    /// # Errors
    ///
    /// The row has no text, or it is not UTF-8.
    pub(crate) fn typed_record(
        self,
        given: Option<&'static Encoding>,
        names: &[&str],
    ) -> Result<Record, RecordFault> {
        let (decoded, strings) = match self.nested {
            Some(object) => {
                let (id, texts) = ("", names);
                let record = jsonl::record(&object, FieldPaths { id, texts })?;
                (record.decoded, record.strings)
            }
            None => (
                joined(&self.texts, |text| typed("text", text, given))?,
                None,
            ),
        };
        let id = self.id.map(|id| typed("key", id.as_ref(), given));
        let id = id.transpose()?.filter(|id| !id.text.is_empty());
        Ok(Record {
            is_lossy: id.as_ref().is_some_and(|id| id.replaced),
            id: id.map(|id| id.text),
            decoded,
            strings,
        })
    }
}

/// Returns the texts of the cells that a row has, decoded, with line breaks between them.
///
/// # Errors
///
/// There are none, or one cannot be decoded.
fn joined<B: AsRef<[u8]>>(
    cells: &[Option<B>],
    decoded: impl Fn(&[u8]) -> Result<Decoded, RecordFault>,
) -> Result<Decoded, RecordFault> {
    let mut cells = cells.iter().flatten().map(|cell| decoded(cell.as_ref()));
    let first = cells.next().transpose()?;
    let mut whole = first.ok_or_else(|| RecordFault::bad("it has no text"))?;
    let mut text = JoinedText::from(take(&mut whole.text));
    for cell in cells {
        let cell = cell?;
        text.add(cell.text);
        whole.replaced |= cell.replaced;
    }
    whole.text = text.into_text().unwrap_or_default();
    Ok(whole)
}

/// Returns a cell of a typed column as text.
fn typed(
    what: &str,
    cell: &[u8],
    given: Option<&'static Encoding>,
) -> Result<Decoded, RecordFault> {
    if given.is_some() {
        return Ok(decode(cell, given).into_owned());
    }
    match std::str::from_utf8(cell) {
        Ok(text) => Ok(Decoded {
            text: text.to_owned(),
            encoding: UTF_8.name(),
            replaced: false,
            source_hash: None,
            attachments: None,
        }),
        Err(_) => Err(RecordFault {
            hint: Some(Hint::Encoding),
            ..RecordFault::bad(format!("its {what} is not UTF-8"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnIndices, RowCells, TableHead};
    use crate::options::Options;

    fn head(
        first: &[&str],
        names: &[(&str, &str)],
    ) -> Result<(Option<usize>, Vec<usize>, bool), String> {
        let first: Vec<String> = first.iter().map(|&name| name.to_owned()).collect();
        let choose = |options: Options, &(field, name): &(&str, &str)| match field {
            "text" => options.text_fields(name.split('+')),
            _ => options.id_field(name),
        };
        let options = names.iter().fold(Options::new(), choose);
        let head = TableHead::of(&first, &options).map_err(|wrong| wrong.detail)?;
        let ColumnIndices { id, texts, .. } = head.columns;
        Ok((id, texts, head.is_header))
    }

    #[test]
    fn an_id_without_a_character_is_none() {
        for id in [&b""[..], b"\xEF\xBB\xBF", b"\xFF\xFE"] {
            let cells = RowCells {
                id: Some(id),
                texts: vec![Some(&b"a text"[..])],
                nested: None,
                fault: None,
            };
            assert_eq!(cells.record(None).unwrap().id, None, "{id:?}");
        }
    }

    #[test]
    fn columns_are_found_by_name_or_number() {
        let row = ["id", " text ", "url"];
        assert_eq!(head(&row, &[]), Ok((Some(0), vec![1], true)));
        assert_eq!(head(&row[1..], &[]), Ok((None, vec![0], true)));
        let url = [("id", "url")];
        assert_eq!(head(&row, &url), Ok((Some(2), vec![1], true)));
        let numbers = [("text", "2"), ("id", "3")];
        assert_eq!(head(&row, &numbers), Ok((Some(2), vec![1], false)));
        assert_eq!(head(&row, &numbers[..1]), Ok((None, vec![1], false)));
        // Columns without names are numbered from 0 by pandas.
        let unnamed = [("text", "1"), ("id", "0")];
        assert_eq!(head(&["0", "1"], &unnamed), Ok((Some(0), vec![1], true)));
        let row_names = head(&["", "0", "1"], &unnamed[..1]);
        assert_eq!(row_names, Ok((None, vec![2], true)));
        assert_eq!(head(&["0"], &[("text", "0")]), Ok((None, vec![0], true)));
        assert_eq!(head(&["1", "a"], &unnamed[..1]), Ok((None, vec![0], false)));
        let missing = "it has no column \"0\", its first row is \"0\", \"a\"";
        assert_eq!(head(&["0", "a"], &unnamed), Err(missing.to_owned()));
        assert_eq!(
            head(&["id", "3", "text"], &[("text", "3"), ("id", "id")]),
            Ok((Some(0), vec![1], true))
        );
        let mixed = [("text", "3"), ("id", "id")];
        assert_eq!(head(&row, &mixed), Ok((Some(0), vec![2], true)));
        let several = [("text", "url+text")];
        assert_eq!(head(&row, &several), Ok((Some(0), vec![2, 1], true)));
        let several = [("text", "3+1")];
        assert_eq!(head(&row, &several), Ok((None, vec![2, 0], false)));
        let several = [("text", "3+text+url+3+2")];
        assert_eq!(head(&row, &several), Ok((Some(0), vec![2, 1], true)));
        for wrong in [[("text", "body")], [("text", "text+body")], [("id", "key")]] {
            let message = head(&row, &wrong).unwrap_err();
            assert!(message.contains("\"id\", \" text \", \"url\""), "{message}");
        }
    }
}
