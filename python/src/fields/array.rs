//! Values of JSON as Arrow arrays.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, LargeStringArray, ListArray, MapArray, StringArray,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dedupdb_corpus::json_fields;
use serde_json::value::RawValue;

use super::kind::Kind;

/// The most values of a batch, null or not, in a table or a struct.
pub(super) const CELLS: usize = 1 << 24;

/// A value that does not have the type of its column.
#[derive(Debug)]
pub(super) struct Misfit {
    pub(super) row: usize,
    /// What leads to it in the row's value, such as `.date`.
    pub(super) path: String,
    /// What is there, and should not be.
    pub(super) found: String,
    /// The type that it should have.
    pub(super) kind: Option<DataType>,
}

/// Values of a column, as JSON. `None` for null, and for what is missing.
type Values<'v> = [Option<&'v str>];

/// Values inside those of a column, each with the row that it is in.
#[derive(Default)]
struct Inner<'v> {
    values: Vec<Option<&'v str>>,
    rows: Vec<usize>,
}

impl<'v> Inner<'v> {
    fn push(&mut self, row: usize, json: &'v str) {
        self.values.push(Some(json).filter(|json| *json != "null"));
        self.rows.push(row);
    }

    fn array(
        &self,
        kind: &Kind,
        path: &str,
        late: &mut Option<String>,
    ) -> Result<ArrayRef, Misfit> {
        array(kind, &self.values, late).map_err(|misfit| Misfit {
            row: self.rows.get(misfit.row).copied().unwrap_or(0),
            path: format!("{path}{}", misfit.path),
            ..misfit
        })
    }
}

/// The array of values of this type. A field of an object that the type does not have is left out, and is `late`.
pub(super) fn array(
    kind: &Kind,
    values: &Values<'_>,
    late: &mut Option<String>,
) -> Result<ArrayRef, Misfit> {
    let made = match kind {
        Kind::Unknown => texts(values, |json| Some(json.to_owned())),
        Kind::Json => {
            let json = values.iter().copied().collect::<StringArray>();
            Ok(Arc::new(json) as ArrayRef)
        }
        Kind::Natural => leaf(&DataType::Int64, values),
        Kind::Leaf(kind) => leaf(kind, values),
        Kind::List(element) => list(kind, element, values, late),
        Kind::Map(value) => map(kind, value, values, late),
        Kind::Object(fields) => object(kind, fields, values, late),
    };
    made.map_err(|misfit| Misfit {
        kind: misfit.kind.or_else(|| Some(kind.data_type())),
        ..misfit
    })
}

fn list(
    kind: &Kind,
    element: &Kind,
    values: &Values<'_>,
    late: &mut Option<String>,
) -> Result<ArrayRef, Misfit> {
    let mut inner = Inner::default();
    let lengths = values.iter().enumerate().map(|(row, value)| {
        let Some(json) = *value else { return Ok(0) };
        let elements = serde_json::from_str::<Vec<&RawValue>>(json);
        let elements = elements.map_err(|_| misfit(row, json))?;
        for element in &elements {
            inner.push(row, element.get());
        }
        Ok(elements.len())
    });
    let lengths = lengths.collect::<Result<Vec<usize>, Misfit>>()?;
    let elements = inner.array(element, "[]", late)?;
    let DataType::List(field) = kind.data_type() else {
        return Err(misfit(0, "no list"));
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    ready(ListArray::try_new(field, offsets, elements, nulls(values)))
}

fn map(
    kind: &Kind,
    value: &Kind,
    values: &Values<'_>,
    late: &mut Option<String>,
) -> Result<ArrayRef, Misfit> {
    let (mut names, mut inner) = (Vec::new(), Inner::default());
    let lengths = values.iter().enumerate().map(|(row, value)| {
        let Some(json) = *value else { return Ok(0) };
        let fields = json_fields(json).map_err(|_| misfit(row, json))?;
        let length = fields.len();
        for (name, value) in fields {
            inner.push(row, value);
            names.push(name);
        }
        Ok(length)
    });
    let lengths = lengths.collect::<Result<Vec<usize>, Misfit>>()?;
    let values_of_map = inner.array(value, ".*", late)?;
    let DataType::Map(field, _) = kind.data_type() else {
        return Err(misfit(0, "no map"));
    };
    let DataType::Struct(parts) = field.data_type() else {
        return Err(misfit(0, "no map"));
    };
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let entries = StructArray::try_new(parts.clone(), vec![names, values_of_map], None);
    let entries = entries.map_err(|error| misfit(0, &error.to_string()))?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    ready(MapArray::try_new(
        field,
        offsets,
        entries,
        nulls(values),
        false,
    ))
}

fn object(
    kind: &Kind,
    fields: &[(String, Kind)],
    values: &Values<'_>,
    late: &mut Option<String>,
) -> Result<ArrayRef, Misfit> {
    if values.len().saturating_mul(fields.len()) > CELLS {
        return Err(misfit(0, "one of too many objects with too many fields"));
    }
    let mut columns = vec![vec![None; values.len()]; fields.len()];
    for (row, json) in values.iter().enumerate() {
        let Some(json) = *json else { continue };
        for (name, value) in json_fields(json).map_err(|_| misfit(row, json))? {
            let place = fields.iter().position(|(field, _)| **field == *name);
            match place.and_then(|place| columns.get_mut(place)) {
                Some(column) => column[row] = Some(value).filter(|value| *value != "null"),
                None => *late = Some(name.into_owned()),
            }
        }
    }
    let arrays = fields.iter().zip(&columns).map(|((name, kind), column)| {
        array(kind, column, late).map_err(|misfit| Misfit {
            path: format!(".{name}{}", misfit.path),
            ..misfit
        })
    });
    let arrays = arrays.collect::<Result<Vec<ArrayRef>, Misfit>>()?;
    if arrays.is_empty() {
        let empty = StructArray::new_empty_fields(values.len(), nulls(values));
        return Ok(Arc::new(empty));
    }
    let DataType::Struct(fields) = kind.data_type() else {
        return Err(misfit(0, "no object"));
    };
    ready(StructArray::try_new(fields, arrays, nulls(values)))
}

/// The array of single values.
fn leaf(kind: &DataType, values: &Values<'_>) -> Result<ArrayRef, Misfit> {
    match kind {
        DataType::Utf8 => texts(values, |_| None),
        DataType::Boolean => truth_values(values),
        DataType::Binary => {
            let bytes = bytes(values)?;
            Ok(Arc::new(bytes.into_iter().collect::<BinaryArray>()))
        }
        DataType::FixedSizeBinary(length) => {
            let mut builder = FixedSizeBinaryBuilder::new(*length);
            for (row, bytes) in bytes(values)?.into_iter().enumerate() {
                match bytes.map(|bytes| builder.append_value(bytes)) {
                    Some(added) => added.map_err(|error| misfit(row, &error.to_string()))?,
                    None => builder.append_null(),
                }
            }
            Ok(Arc::new(builder.finish()))
        }
        _ => numbers_or_times(kind, values),
    }
}

fn truth_values(values: &Values<'_>) -> Result<ArrayRef, Misfit> {
    let truth = values.iter().enumerate().map(|(row, json)| match *json {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(other) => Err(misfit(row, other)),
    });
    let truth = truth.collect::<Result<Vec<Option<bool>>, Misfit>>()?;
    Ok(Arc::new(BooleanArray::from(truth)))
}

/// The array of numbers, or of dates and times, which are strings in JSON.
fn numbers_or_times(kind: &DataType, values: &Values<'_>) -> Result<ArrayRef, Misfit> {
    let text = |json: &'_ str| {
        let string = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let is_number = json.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        match string {
            Some(time) if kind.is_temporal() => Some(time.to_owned()),
            Some(odd) if kind.is_floating() && is_odd_number(odd) => Some(odd.to_owned()),
            None if is_number && !kind.is_temporal() => Some(json.to_owned()),
            _ => None,
        }
    };
    let texts = values.iter().map(|value| value.and_then(text));
    let texts = texts.collect::<LargeStringArray>();
    let array = cast(&texts, kind).map_err(|error| misfit(0, &error.to_string()))?;
    // What cannot be cast becomes null.
    let mut rows = values.iter().enumerate();
    match rows.find_map(|(row, json)| json.filter(|_| array.is_null(row)).map(|json| (row, json))) {
        Some((row, json)) => Err(misfit(row, json)),
        None => Ok(array),
    }
}

/// Whether a string stands for a number that JSON does not have.
fn is_odd_number(text: &str) -> bool {
    matches!(text, "NaN" | "inf" | "-inf")
}

/// The array of strings. Another value becomes what `otherwise` makes of its JSON.
fn texts(
    values: &Values<'_>,
    otherwise: impl Fn(&str) -> Option<String>,
) -> Result<ArrayRef, Misfit> {
    let texts = values.iter().enumerate().map(|(row, value)| {
        let Some(json) = *value else { return Ok(None) };
        let text = serde_json::from_str::<String>(json).ok();
        let text = text.or_else(|| otherwise(json));
        text.map(Some).ok_or_else(|| misfit(row, json))
    });
    let texts = texts.collect::<Result<StringArray, Misfit>>()?;
    Ok(Arc::new(texts))
}

/// The bytes that strings of base64 stand for.
fn bytes(values: &Values<'_>) -> Result<Vec<Option<Vec<u8>>>, Misfit> {
    let decoded = values.iter().enumerate().map(|(row, value)| {
        let Some(json) = *value else { return Ok(None) };
        let bytes = BASE64_STANDARD.decode(json.trim_matches('"'));
        bytes.map(Some).map_err(|_| misfit(row, json))
    });
    decoded.collect()
}

fn nulls(values: &Values<'_>) -> Option<NullBuffer> {
    let there = values.iter().map(Option::is_some);
    Some(there.collect::<NullBuffer>()).filter(|nulls| nulls.null_count() > 0)
}

fn ready<A: Array + 'static>(array: Result<A, ArrowError>) -> Result<ArrayRef, Misfit> {
    match array {
        Ok(array) => Ok(Arc::new(array)),
        Err(error) => Err(misfit(0, &error.to_string())),
    }
}

fn misfit(row: usize, found: &str) -> Misfit {
    const SHOWN: usize = 60;
    let more = if found.chars().count() > SHOWN {
        "..."
    } else {
        ""
    };
    let found: String = found.chars().take(SHOWN).collect();
    Misfit {
        row,
        path: String::new(),
        found: found + more,
        kind: None,
    }
}
