//! Tables with one row per line and tabs between cells, without quotes.

use std::io::{self, BufRead};

use crate::decode::without_mark;
use crate::formats::lines::LineReader;
use crate::formats::record::{RawRecord, Record};
use crate::formats::table::columns::{CellPicker, ColumnIndices, RowCells, TableHead};
use crate::options::Options;
use crate::skipped::RecordFault;

/// What to do about a row with more or fewer cells than the first row.
const SPACES: &str = "write the tabs and line breaks of a text as spaces";

const OLD_ENDS: &str =
    "its rows end with carriage returns alone, as on old systems; write line feeds";

const QUOTED: &str = "its first row is in quotes, which would be read as part of a text; write tabs without quotes, for \
                      example with quote=FALSE in R, or commas into a .csv file";

/// Names of columns that have texts, or stand beside one. A first row with one of them is a header, although no column was
/// found.
const TEXTS: [&str; 28] = [
    "abstract",
    "answer",
    "article",
    "body",
    "caption",
    "comment",
    "content",
    "contents",
    "description",
    "document",
    "hypothesis",
    "label",
    "message",
    "post",
    "premise",
    "prompt",
    "question",
    "quote",
    "response",
    "review",
    "sentence",
    "sentences",
    "summary",
    "text",
    "texts",
    "title",
    "tweet",
    "utterance",
];

/// How lines are split into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Columns(ColumnIndices),
    /// The key, a tab and the text, which is the rest of the line.
    Pair,
}

type RawLine = RawRecord<Vec<u8>>;

/// A table that is being read.
pub(crate) struct TabTable<L> {
    pub(crate) layout: Layout,
    /// The verbatim header, if there is one and records are wanted verbatim.
    pub(crate) header: Vec<u8>,
    /// The names in the header.
    pub(crate) names: Vec<String>,
    /// The lines below the header.
    pub(crate) lines: L,
}

/// Starts reading a table.
///
/// # Errors
///
/// Those of reading, or a column does not exist.
pub(crate) fn open<R: BufRead>(
    reader: R,
    options: &Options,
) -> io::Result<TabTable<impl Iterator<Item = io::Result<RawLine>>>> {
    let lines = LineReader::new(reader, options.max_record()).untrimmed();
    let mut lines = lines.verbatim(options.verbatim);
    let first = lines.next().transpose()?;
    let row = first.as_ref().and_then(|line| line.body.as_ref().ok());
    if row.is_some_and(|row| has_old_ends(row)) {
        return Err(io::Error::other(OLD_ENDS));
    }
    let names = row.map_or(Vec::new(), |row| {
        let cells = without_mark(row).split(|&byte| byte == b'\t');
        cells
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect()
    });
    let is_chosen = !options.text_fields.is_empty() || options.id_field.is_some();
    let (layout, is_header) = match TableHead::of(&names, options) {
        Ok(head) if head.is_header || !are_quoted(&names) => {
            (Layout::Columns(head.columns), head.is_header)
        }
        _ if are_quoted(&names) => return Err(io::Error::other(QUOTED)),
        Err(wrong) if (is_chosen || is_header(&names)) && !names.is_empty() => {
            return Err(io::Error::other(wrong));
        }
        _ => (Layout::Pair, false),
    };
    let (header, names, first) = match first {
        Some(line) if is_header => (line.verbatim, names, None),
        first => (Vec::new(), Vec::new(), first.map(Ok)),
    };
    Ok(TabTable {
        layout,
        header,
        names,
        lines: first.into_iter().chain(lines),
    })
}

/// Whether rows end within a line: other cells are behind a carriage return.
fn has_old_ends(line: &[u8]) -> bool {
    let mut parts = line.split(|&byte| byte == b'\r').skip(1);
    parts.any(|part| part.contains(&b'\t'))
}

/// Whether there are several cells, all in quotes.
fn are_quoted(names: &[String]) -> bool {
    let is_quoted = |name: &String| name.len() > 1 && name.starts_with('"') && name.ends_with('"');
    names.len() > 1 && names.iter().all(is_quoted)
}

/// Whether a first row seems to have names of columns.
fn is_header(names: &[String]) -> bool {
    let is_text = |name: &String| TEXTS.contains(&&*name.trim().to_ascii_lowercase());
    names.iter().any(is_text)
}

/// Returns the record on a line.
///
/// # Errors
///
/// A fault that says what is wrong with the line.
pub(crate) fn record(line: &[u8], layout: &Layout) -> Result<Record, RecordFault> {
    let cells: RowCells<&[u8]> = match layout {
        Layout::Columns(columns) => {
            let mut picking = CellPicker::of(columns);
            for (index, cell) in line.split(|&byte| byte == b'\t').enumerate() {
                picking.take(index, cell);
            }
            picking.end(SPACES)
        }
        Layout::Pair => {
            let tab = line.iter().position(|&byte| byte == b'\t');
            let tab =
                tab.ok_or_else(|| RecordFault::bad("it has no tab between a key and a text"))?;
            RowCells {
                id: Some(&line[..tab]),
                texts: vec![Some(&line[tab + 1..])],
                nested: None,
                fault: None,
            }
        }
    };
    cells.record(None)
}
