//! The marks of documents when all of them are written.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::publish::{ascii_json, csv_field, escape};
use crate::{Format, cells_of_csv, has_utf8_characters, split_line_end};

/// The mark of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DocumentMark {
    /// Whether it would be kept.
    pub(crate) is_kept: bool,
    /// What makes it known in numbers, such as that of its cluster.
    pub(crate) number: u64,
    /// The key of the other text that decided.
    pub(crate) key: String,
    /// How much it has of that, from 0 to 1.
    pub(crate) share: f64,
}

/// The names of the four columns.
#[derive(Clone, Debug)]
pub(crate) struct MarkColumns([String; 4]);

impl MarkColumns {
    /// Returns columns whose names begin with `name`.
    pub(crate) fn new(name: &str, ends: [&str; 4]) -> MarkColumns {
        MarkColumns(ends.map(|end| format!("{name}_{end}")))
    }

    pub(crate) fn names(&self) -> &[String; 4] {
        &self.0
    }

    /// Whether records of this format can have further columns. For a table, that may depend on whether it has a
    /// header.
    pub(crate) fn fit(format: Format, has_header: bool) -> bool {
        match format {
            Format::Jsonl | Format::Json | Format::Csv | Format::Parquet => true,
            Format::Tsv => has_header,
            Format::Text
            | Format::Html
            | Format::Warc
            | Format::Eml
            | Format::Mbox
            | Format::Shingles => false,
        }
    }

    /// Returns the first of the names that is a field of this JSON line, if there is one.
    pub(crate) fn field_of(&self, record: &[u8]) -> Option<&str> {
        let fields = fields(record)?;
        self.among(|name| fields.contains_key(name))
    }

    /// Returns the first of the names for which `is_there` is true.
    pub(crate) fn among(&self, is_there: impl Fn(&str) -> bool) -> Option<&str> {
        let mut names = self.0.iter().map(String::as_str);
        names.find(|name| is_there(name))
    }

    /// Returns the header with the columns added.
    pub(crate) fn header(&self, format: Format, header: &[u8]) -> Vec<u8> {
        if header.is_empty() {
            return Vec::new();
        }
        extended(format, header, &self.0)
    }

    /// Returns the record with the values of `mark`, or with nulls. A row of Parquet is a JSON line here. A row of
    /// another table is padded to the `wide` cells of its header, and loses empty cells beyond them.
    pub(crate) fn record(
        &self,
        format: Format,
        record: &[u8],
        mark: Option<&DocumentMark>,
        wide: usize,
    ) -> Vec<u8> {
        // Further cells go to the end of a row, so a short row is filled up first.
        if matches!(format, Format::Csv | Format::Tsv) {
            let cells = mark.map(|mark| {
                [
                    mark.is_kept.to_string(),
                    mark.number.to_string(),
                    mark.key.clone(),
                    mark.share.to_string(),
                ]
            });
            let (record, cells_of_row) = fitted(format, record, wide);
            let record = &*record;
            let missing = vec![String::new(); wide.saturating_sub(cells_of_row)];
            return extended(
                format,
                record,
                &[&missing[..], &cells.unwrap_or_default()].concat(),
            );
        }
        let values = mark.map(|mark| {
            [
                json!(mark.is_kept),
                json!(mark.number),
                json!(mark.key),
                json!(mark.share),
            ]
        });
        // Other characters would have to be in the encoding of the record, which may be ASCII in other records, too.
        let is_utf8 = has_utf8_characters(record);
        let spelled = |value: &Value| {
            if is_utf8 {
                value.to_string()
            } else {
                ascii_json(&value.to_string())
            }
        };
        // Further fields go before the brace that ends the object.
        let end = record.iter().rposition(|&byte| byte == b'}');
        let (fields, end) = record.split_at(end.unwrap_or(record.len()));
        let mut marked = fields.to_vec();
        for (name, value) in self.0.iter().zip(values.unwrap_or_default()) {
            if !marked.trim_ascii_end().ends_with(b"{") {
                marked.push(b',');
            }
            marked.extend_from_slice(format!("{}:{}", json!(name), spelled(&value)).as_bytes());
        }
        marked.extend_from_slice(end);
        marked
    }
}

/// Whether a record of this format that is not a document can have further fields. A row of a table with a header of
/// `wide` cells has none left if it is longer.
pub(crate) fn has_fields(format: Format, record: &[u8], wide: usize) -> bool {
    match format {
        Format::Jsonl | Format::Json => fields(record).is_some(),
        Format::Csv | Format::Tsv => wide == 0 || fitted(format, record, wide).1 <= wide,
        _ => true,
    }
}

/// Returns the number of cells in a row of a table.
pub(crate) fn width(format: Format, row: &[u8]) -> usize {
    match format {
        Format::Csv => cells_of_csv(row),
        Format::Tsv => row.split(|&byte| byte == b'\t').count(),
        _ => 0,
    }
}

/// Returns the fields of a line that is a JSON object.
#[expect(
    clippy::zero_sized_map_values,
    reason = "only a map can be read from an object"
)]
fn fields(record: &[u8]) -> Option<HashMap<String, IgnoredAny>> {
    serde_json::from_slice(record).ok()
}

/// Returns a row without the empty cells at its end that are beyond the `wide` ones of the header, and the number of its
/// cells. Nothing is beyond a header that does not exist.
fn fitted(format: Format, row: &[u8], wide: usize) -> (Cow<'_, [u8]>, usize) {
    let mut cells = width(format, row);
    if wide == 0 || cells <= wide {
        return (Cow::Borrowed(row), cells);
    }
    let (mut body, end) = split_line_end(row);
    let (separator, empty): (u8, &[u8]) = match format {
        Format::Tsv => (b'\t', b""),
        _ => (b',', b"\"\""),
    };
    while cells > wide {
        let before = body.strip_suffix(&[separator]).or_else(|| {
            let before = body.strip_suffix(empty)?;
            before.strip_suffix(&[separator])
        });
        let Some(before) = before else { break };
        (body, cells) = (before, cells - 1);
    }
    (Cow::Owned([body, end].concat()), cells)
}

/// Returns a row with further cells.
fn extended(format: Format, row: &[u8], cells: &[String]) -> Vec<u8> {
    let (body, end) = split_line_end(row);
    let mut extended = body.to_vec();
    for cell in cells {
        if format == Format::Tsv {
            extended.push(b'\t');
            extended.extend_from_slice(escape(cell).as_bytes());
        } else {
            extended.push(b',');
            extended.extend_from_slice(csv_field(cell).as_bytes());
        }
    }
    extended.extend_from_slice(end);
    extended
}

#[cfg(test)]
mod tests {
    use super::{DocumentMark, MarkColumns, has_fields};
    use crate::Format;
    use crate::dedup::settings::DEDUP_MARKS;

    #[test]
    fn records_stay_as_they_are_in_front_of_their_marks() {
        let columns = MarkColumns::new("dup", DEDUP_MARKS);
        let mark = DocumentMark {
            is_kept: false,
            number: 7,
            key: "a,\"b".to_owned(),
            share: 0.5,
        };
        let marked = |format, record: &[u8]| {
            String::from_utf8(columns.record(format, record, Some(&mark), 2)).unwrap()
        };
        assert_eq!(
            marked(Format::Jsonl, b"{ \"text\": \"}\" } \r\n"),
            "{ \"text\": \"}\" ,\"dup_keep\":false,\"dup_cluster\":7,\
             \"dup_representative\":\"a,\\\"b\",\"dup_similarity\":0.5} \r\n"
        );
        assert_eq!(
            marked(Format::Csv, b"1,\"x\ny\"\r\n"),
            "1,\"x\ny\",false,7,\"a,\"\"b\",0.5\r\n"
        );
        assert_eq!(marked(Format::Tsv, b"1\tx"), "1\tx\tfalse\t7\ta,\"b\t0.5");
        assert_eq!(
            columns.header(Format::Csv, b"id,text\n"),
            b"id,text,dup_keep,dup_cluster,dup_representative,dup_similarity\n"
        );
        assert_eq!(columns.header(Format::Csv, b""), b"");
    }

    #[test]
    fn a_mark_fits_the_encoding_of_its_record() {
        let columns = MarkColumns::new("dup", DEDUP_MARKS);
        let mark = DocumentMark {
            is_kept: true,
            number: 7,
            key: "cl\u{e9} \u{1f600}".to_owned(),
            share: 1.0,
        };
        for (record, name) in [
            (&b"{\"a\":\"n\xe9\"}"[..], "cl\\u00e9 \\ud83d\\ude00"),
            (b"{\"a\":\"ne\"}", "cl\\u00e9 \\ud83d\\ude00"),
            ("{\"a\":\"n\u{e9}\"}".as_bytes(), "cl\u{e9} \u{1f600}"),
        ] {
            let marked = columns.record(Format::Jsonl, record, Some(&mark), 0);
            let end = &marked[record.len() - 1..];
            let end: serde_json::Value =
                serde_json::from_slice(&[b"{\"a\":1", end].concat()).unwrap();
            assert_eq!(end["dup_representative"], mark.key);
            let marked = String::from_utf8_lossy(&marked).into_owned();
            assert!(marked.contains(name), "{marked}");
        }
    }

    #[test]
    fn records_without_marks_have_nulls_in_their_place() {
        let columns = MarkColumns::new("x", DEDUP_MARKS);
        let nulls =
            "\"x_keep\":null,\"x_cluster\":null,\"x_representative\":null,\"x_similarity\":null";
        for (format, record, marked) in [
            (Format::Jsonl, "{}\n", format!("{{{nulls}}}\n")),
            (Format::Jsonl, " { }", format!(" {{ {nulls}}}")),
            (Format::Parquet, "{\"a\":1}", format!("{{\"a\":1,{nulls}}}")),
            (Format::Csv, "1\r\n", "1,,,,,,\r\n".to_owned()),
            (Format::Csv, "1,\",\",3,4\n", "1,\",\",3,4,,,,\n".to_owned()),
            (Format::Tsv, "1\t2", "1\t2\t\t\t\t\t".to_owned()),
            (Format::Csv, "1,2,3,,\"\"\r\n", "1,2,3,,,,\r\n".to_owned()),
            (Format::Csv, "1,2,,,", "1,2,,,,,".to_owned()),
            (Format::Tsv, "1\t2\t3\t\t\n", "1\t2\t3\t\t\t\t\n".to_owned()),
        ] {
            let found = columns.record(format, record.as_bytes(), None, 3);
            assert_eq!(String::from_utf8(found).unwrap(), marked, "{record:?}");
        }
        for (record, is_object) in [("{}", true), ("[]", false), ("{", false), ("{} x", false)] {
            assert_eq!(has_fields(Format::Jsonl, record.as_bytes(), 0), is_object);
        }
        for (row, wide, has_room) in [
            ("1,2\n", 2, true),
            ("1,2,,\"\"\n", 2, true),
            ("1,2,3\n", 2, false),
            ("1,2,3\n", 0, true),
        ] {
            assert_eq!(
                has_fields(Format::Csv, row.as_bytes(), wide),
                has_room,
                "{row:?}"
            );
        }
    }
}
