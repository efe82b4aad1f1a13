//! The fields of a record besides its key and text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::decode::decode;
use crate::formats::column_type::ColumnType;
use crate::formats::field_values::FieldPlaces;
use crate::formats::fields::FieldRelation;
use crate::formats::format::Format;
use crate::formats::jsonl::{without_odd_numbers, without_surrogates};
use crate::formats::parquet::column_types;
use crate::formats::text_place::field_value;
use crate::item::OpenedFile;
use crate::options::Options;

/// The fields that are wanted of records, besides their keys and texts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WantedFields {
    /// All others.
    All,
    /// These. Dots lead into nested fields.
    Named(Vec<String>),
}

/// Names and types of fields.
pub type FieldTypes = Arc<[(String, ColumnType)]>;

/// The fields of a record that are wanted, with [`Options::fields`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordFields {
    /// Names and values as JSON, in the order of the record. A cell of CSV or TSV is a string. A name may be repeated, and
    /// the last one counts.
    pub values: Vec<(String, String)>,
    /// The types of these fields in all rows of the file, if it is Parquet.
    pub types: Option<FieldTypes>,
}

impl WantedFields {
    /// Returns those of a table with these columns.
    pub(crate) fn of_table(&self, columns: &[String], options: &Options) -> Vec<String> {
        let (id, texts) = (options.id_name(), options.text_names());
        let is_other = |name: &&str| !name.is_empty() && *name != id && !texts.contains(name);
        match self {
            WantedFields::Named(names) => names.clone(),
            WantedFields::All => {
                let names = columns.iter().map(|name| name.trim());
                names.filter(is_other).map(str::to_owned).collect()
            }
        }
    }
}

/// Where the records of a file have the fields that are wanted.
#[derive(Debug)]
pub(crate) struct WantedPlaces<'a> {
    options: &'a Options,
    kind: WantedKind,
    types: Option<FieldTypes>,
}

#[derive(Debug)]
enum WantedKind {
    None,
    /// All fields of JSON objects.
    Object,
    /// Fields of JSON objects.
    Paths(Vec<String>),
    Cells(Vec<String>, FieldPlaces),
}

impl<'a> WantedPlaces<'a> {
    /// Returns the places in a file that was opened. `None` if no fields are wanted.
    ///
    /// # Errors
    ///
    /// What is wrong with the file: several of its columns have one name.
    pub(crate) fn of(
        opened: &OpenedFile,
        options: &'a Options,
    ) -> Result<Option<WantedPlaces<'a>>, String> {
        let Some(wanted) = &options.fields else {
            return Ok(None);
        };
        let kind = match (opened.format, wanted) {
            (Format::Csv | Format::Tsv, _) => {
                let names = wanted.of_table(&opened.columns, options);
                let places = FieldPlaces::of(opened, names.iter().map(String::as_str));
                let places = places.map_err(|name| {
                    format!("several of its columns have the name {name:?}; rename all but one")
                })?;
                WantedKind::Cells(names, places)
            }
            (Format::Jsonl | Format::Json | Format::Parquet, WantedFields::All) => {
                WantedKind::Object
            }
            (Format::Jsonl | Format::Json | Format::Parquet, WantedFields::Named(names)) => {
                WantedKind::Paths(names.clone())
            }
            _ => WantedKind::None,
        };
        let types = opened.table.as_ref().map(|table| {
            let types = column_types(table.schema.clone());
            let names = wanted.of_table(&opened.columns, options).into_iter();
            let typed = names.filter_map(|name| {
                let found = ColumnType::at(&types, &name)?.clone();
                Some((name, found))
            });
            typed.collect()
        });
        Ok(Some(WantedPlaces {
            options,
            kind,
            types,
        }))
    }

    /// Returns the fields of a record that is as in its file.
    pub(crate) fn read(&self, record: &[u8]) -> RecordFields {
        let values = match &self.kind {
            WantedKind::None => Vec::new(),
            WantedKind::Cells(names, places) => {
                // A cell is neither a list nor an object.
                let cells = places.values(record).unwrap_or_default();
                let string = |text| serde_json::to_string(&text).ok();
                let cells = names.iter().zip(cells);
                cells
                    .filter_map(|(name, cell)| Some((name.clone(), cell.and_then(string)?)))
                    .collect()
            }
            WantedKind::Object => {
                let (id, texts) = (self.options.id_name(), self.options.text_names());
                let json = plain_object(record);
                let fields = json_fields(&json).unwrap_or_default().into_iter();
                let fields = fields.filter(|(name, _)| *name != id && !texts.contains(&&**name));
                fields
                    .map(|(name, value)| (name.into_owned(), value.to_owned()))
                    .collect()
            }
            WantedKind::Paths(names) => {
                let json = plain_object(record);
                let value = |name: &String| {
                    let found = field_value(&json, FieldRelation::Below(name)).ok()?;
                    Some((name.clone(), found?.to_owned()))
                };
                names.iter().filter_map(value).collect()
            }
        };
        let types = self.types.clone();
        RecordFields { values, types }
    }
}

/// Returns a JSON object as any parser takes it: without unpaired surrogates and numbers that JSON does not have.
fn plain_object(record: &[u8]) -> String {
    let text = decode(record, None).into_owned().text;
    let text = without_surrogates(&text).unwrap_or(text);
    match json_fields(&text) {
        Ok(_) => text,
        Err(_) => without_odd_numbers(&text).unwrap_or(text),
    }
}

/// Returns the names and values of a JSON object, as they are there.
///
/// ```
/// let fields = dedupdb_corpus::json_fields(r#"{"score": 7, "tags": ["a"]}"#).unwrap();
/// assert_eq!(fields[1], ("tags".into(), r#"["a"]"#));
/// ```
///
/// # Errors
///
/// It is not an object.
pub fn json_fields(json: &str) -> Result<Vec<(Cow<'_, str>, &str)>, NoObject> {
    let fields = serde_json::Deserializer::from_str(json).deserialize_map(AllFields);
    fields.map_err(|_| NoObject)
}

/// A text is not a JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoObject;

struct AllFields;

impl<'de> Visitor<'de> for AllFields {
    type Value = Vec<(Cow<'de, str>, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
            fields.push((name, value.get()));
        }
        Ok(fields)
    }
}
