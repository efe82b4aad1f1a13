//! Where a record has its text, so that another text can be written there.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::decode::{decode, without_mark};
use crate::formats::fields::FieldRelation;
use crate::formats::format::Format;
use crate::formats::jsonl::odd_numbers;
use crate::formats::table::csv::cell_places;
use crate::publish::{ascii_json, csv_field};

/// Where the records of a file have their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// In this field of a JSON object; dots lead into nested objects.
    Field(String),
    /// In the cell of a table with this index, from 0.
    Cell(usize),
    /// Behind the first tab of a line.
    BehindTab,
    /// Nowhere: the text was extracted from the record.
    None,
}

impl TextPlace {
    /// Returns the record of a file of this format with another text, in the encoding of the record. In a line of JSON that is
    /// not UTF-8, the text becomes ASCII with escapes. `None` if the record has no place for a text.
    pub(crate) fn with_text(
        &self,
        format: Format,
        record: &[u8],
        text: &str,
        encoding: &str,
    ) -> Option<Vec<u8>> {
        match self {
            TextPlace::Field(name) => with_field(record, name, text),
            TextPlace::Cell(index) if format == Format::Csv => {
                let place = cell_places(record).into_iter().nth(*index)?;
                Some(spliced(
                    record,
                    place,
                    &encoded(record, &csv_field(text), encoding),
                ))
            }
            TextPlace::Cell(index) => {
                let (body, _) = split_line_end(record);
                let mut cells = body.split(|&byte| byte == b'\t');
                let before: usize = cells.by_ref().take(*index).map(|cell| cell.len() + 1).sum();
                let place = before..before + cells.next()?.len();
                Some(spliced(record, place, &encoded(record, text, encoding)))
            }
            TextPlace::BehindTab => {
                let (body, _) = split_line_end(record);
                let tab = body.iter().position(|&byte| byte == b'\t')?;
                let place = tab + 1..body.len();
                Some(spliced(record, place, &encoded(record, text, encoding)))
            }
            TextPlace::None => None,
        }
    }
}

/// Returns a text in this encoding, or in UTF-8 if that is one in which nothing is written, such as UTF-16.
pub(crate) fn encoded_as<'t>(text: &'t str, encoding: &str) -> Cow<'t, [u8]> {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(UTF_8);
    encoding.encode(text).0
}

/// Returns a text in the encoding of a record whose text was in `encoding`. The file may have been decoded as a whole.
fn encoded<'t>(record: &[u8], text: &'t str, encoding: &str) -> Cow<'t, [u8]> {
    if has_utf8_characters(record) {
        return Cow::Borrowed(text.as_bytes());
    }
    encoded_as(text, encoding)
}

/// Whether a record is UTF-8. One that is ASCII may be in another encoding, as other records of its file are.
pub(crate) fn has_utf8_characters(record: &[u8]) -> bool {
    !record.is_ascii() && std::str::from_utf8(record).is_ok()
}

/// Splits a row from its line ending.
pub(crate) fn split_line_end(row: &[u8]) -> (&[u8], &[u8]) {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let last = row.iter().rposition(|byte| !is_end(byte));
    row.split_at(last.map_or(0, |at| at + 1))
}

fn spliced(record: &[u8], place: Range<usize>, new: &[u8]) -> Vec<u8> {
    [&record[..place.start], new, &record[place.end..]].concat()
}

fn with_field(record: &[u8], name: &str, text: &str) -> Option<Vec<u8>> {
    let decoded = decode(record, None);
    let find = |json: &str| {
        let found = field_value(json, FieldRelation::Below(name));
        // A list of strings is a text, too.
        let found = found.ok()?.filter(|found| found.starts_with('"'))?;
        Some(place_in(json, found))
    };
    let place = find(&decoded.text).or_else(|| {
        // Numbers that JSON does not have are replaced by others of the same length.
        let mut json = decoded.text.to_string();
        for place in odd_numbers(&decoded.text) {
            let zero = format!("{:1$}", 0, place.len());
            json.replace_range(place, &zero);
        }
        find(&json)
    })?;
    let mut value = serde_json::to_string(text).ok()?;
    if !value.is_ascii() && !has_utf8_characters(record) {
        value = ascii_json(&value);
    }
    let record = without_mark(record);
    let before = encoded_as(&decoded.text[..place.start], decoded.encoding);
    let behind = encoded_as(&decoded.text[place.end..], decoded.encoding);
    if record.starts_with(&before) && record.ends_with(&behind) {
        return Some([&before, value.as_bytes(), &behind].concat());
    }
    // It has bytes that are not text in its encoding.
    Some(spliced(decoded.text.as_bytes(), place, value.as_bytes()))
}

/// Returns the value in a JSON object that is the field, as it is there. Of several, it is the one that
/// [`Fields`](crate::formats::fields::Fields) has.
///
/// # Errors
///
/// It is not an object.
pub(crate) fn field_value<'j>(
    json: &'j str,
    field: FieldRelation<'_>,
) -> serde_json::Result<Option<&'j str>> {
    Ok(nested_value(json, field)?.map(|(_, value)| value))
}

/// Returns the number of objects in which the value is, too.
fn nested_value<'j>(
    json: &'j str,
    field: FieldRelation<'_>,
) -> serde_json::Result<Option<(usize, &'j str)>> {
    serde_json::Deserializer::from_str(json).deserialize_map(ObjectFields(field))
}

/// Returns the place of a part in the text that it was parsed from.
fn place_in(json: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - json.as_ptr().addr();
    start..start + part.len()
}

/// Looks in an object for the value that is a field.
struct ObjectFields<'a>(FieldRelation<'a>);

impl<'de> Visitor<'de> for ObjectFields<'_> {
    type Value = Option<(usize, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut best: Self::Value = None;
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
            let json: &'de str = value.get();
            let found = match self.0.of(&name) {
                FieldRelation::This => Some((1, json)),
                FieldRelation::Below(rest) if json.starts_with('{') => {
                    let found = nested_value(json, FieldRelation::Below(rest));
                    let found = found.ok().flatten();
                    found.map(|(depth, value)| (depth + 1, value))
                }
                FieldRelation::Below(_) | FieldRelation::List(_) | FieldRelation::No => None,
            };
            if let Some((depth, _)) = found
                && best.is_none_or(|(least, _)| depth <= least)
            {
                best = found;
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::TextPlace;
    use crate::Format;

    fn replaced(place: &TextPlace, format: Format, record: &[u8], text: &str) -> Vec<u8> {
        place
            .with_text(format, record, text, "windows-1252")
            .unwrap()
    }

    #[test]
    fn of_json_only_the_text_changes() {
        let field = |name: &str| TextPlace::Field(name.to_owned());
        for (name, record, expected) in [
            (
                "text",
                "{ \"id\": 1, \"text\" : \"old\\n\" ,\"x\":[{}]} \r\n",
                "{ \"id\": 1, \"text\" : \"n\\\"w\" ,\"x\":[{}]} \r\n",
            ),
            (
                "a.text",
                "{\"a\":{\"text\":\"\\ud83d\"},\"text\":\"\u{e9}\"}",
                "{\"a\":{\"text\":\"n\\\"w\"},\"text\":\"\u{e9}\"}",
            ),
            ("a.text", "{\"a.text\":\"o\"}", "{\"a.text\":\"n\\\"w\"}"),
            (
                "text",
                "{\"a\":[-NaN,\"NaN\"],\"text\":\"NaN\",\"x\":-Infinity}",
                "{\"a\":[-NaN,\"NaN\"],\"text\":\"n\\\"w\",\"x\":-Infinity}",
            ),
            (
                "a.text",
                "{\"a.text\":\"o\",\"a\":{\"text\":\"p\"}}",
                "{\"a.text\":\"n\\\"w\",\"a\":{\"text\":\"p\"}}",
            ),
            (
                "text",
                "{\"text\":\"o\",\"te\\u0078t\":\"p\"}",
                "{\"text\":\"o\",\"te\\u0078t\":\"n\\\"w\"}",
            ),
        ] {
            let found = replaced(&field(name), Format::Jsonl, record.as_bytes(), "n\"w");
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
        let found = replaced(
            &field("text"),
            Format::Jsonl,
            b"{\"text\":\"\\u00e9 b\"}",
            "\u{e9}",
        );
        assert_eq!(found, b"{\"text\":\"\\u00e9\"}");
        let found = replaced(
            &field("text"),
            Format::Jsonl,
            b"{\"text\":\"\xe9\xe8\",\"a\":\"\xe9\"}",
            "\u{e9}",
        );
        assert_eq!(found, b"{\"text\":\"\\u00e9\",\"a\":\"\xe9\"}");
        let none = field("text").with_text(Format::Jsonl, b"{\"a\":1}", "", "UTF-8");
        assert_eq!(none, None);
    }

    #[test]
    fn of_rows_only_one_cell_changes() {
        for (format, index, record, text, expected) in [
            (
                Format::Csv,
                1,
                &b"1,\"a,\n\"\"b\"\"\",x\r\n"[..],
                "a,",
                &b"1,\"a,\",x\r\n"[..],
            ),
            (Format::Csv, 0, b"\"a\",b\n", "c", b"c,b\n"),
            (Format::Csv, 1, b"1,ab", "a", b"1,a"),
            (Format::Csv, 1, b"1,ab\r\n", "a", b"1,a\r\n"),
            (
                Format::Csv,
                1,
                b"\xe9,a\xe9 b\n",
                "a\u{e9}",
                b"\xe9,a\xe9\n",
            ),
            (
                Format::Csv,
                1,
                "\u{e9},a\u{e9} b\n".as_bytes(),
                "a\u{e9}",
                "\u{e9},a\u{e9}\n".as_bytes(),
            ),
            (Format::Tsv, 1, b"1\ta b\tx\r\n", "a", b"1\ta\tx\r\n"),
            (Format::Tsv, 2, b"1\ta\tx y\n", "x", b"1\ta\tx\n"),
        ] {
            let found = replaced(&TextPlace::Cell(index), format, record, text);
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(&found));
        }
        let found = replaced(&TextPlace::BehindTab, Format::Tsv, b"1\ta\tb\n", "a");
        assert_eq!(found, b"1\ta\n");
        for place in [TextPlace::Cell(2), TextPlace::BehindTab, TextPlace::None] {
            assert_eq!(place.with_text(Format::Tsv, b"1 2\n", "", "UTF-8"), None);
        }
    }
}
