//! Types of fields: those that a file declares, and those that values of JSON show.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, TimeUnit};
use dedupdb_corpus::{ColumnType, ScalarType, json_fields};
use serde_json::value::RawValue;

/// Lists and objects in more others than this are given as JSON. Arrow libraries take types of 64 levels.
const DEPTH: usize = 32;

/// Objects with more different fields than this, such as those whose names are ids, are given as JSON.
const FIELDS: usize = 1000;

/// The longest bytes of a fixed length. Nulls take as much.
const FIXED_BYTES: i32 = 1 << 12;

/// The type of the values of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// There was no value: strings, and other values as their JSON.
    Unknown,
    /// All values as their JSON.
    Json,
    /// Integers from 0 in JSON, which fit a signed and an unsigned type.
    Natural,
    Leaf(DataType),
    List(Box<Kind>),
    /// Objects with any names.
    Map(Box<Kind>),
    Object(Vec<(String, Kind)>),
}

/// Two types that no type has the values of.
#[derive(Debug, PartialEq)]
pub(super) struct Conflict {
    /// What leads to the field in a value, such as `.date`.
    pub(super) path: String,
    pub(super) kinds: [DataType; 2],
}

impl Kind {
    /// The type of a value of JSON.
    pub(super) fn of_json(json: &str) -> Result<Kind, Conflict> {
        Kind::nested(json, 0)
    }

    fn nested(json: &str, depth: usize) -> Result<Kind, Conflict> {
        Ok(match json.as_bytes().first() {
            Some(b'"') => Kind::Leaf(DataType::Utf8),
            Some(b't' | b'f') => Kind::Leaf(DataType::Boolean),
            Some(b'[') if depth < DEPTH => {
                let elements = serde_json::from_str::<Vec<&RawValue>>(json).unwrap_or_default();
                let element = elements.iter().try_fold(Kind::Unknown, |kind, element| {
                    kind.wider(Kind::nested(element.get(), depth + 1)?)
                });
                Kind::List(Box::new(element.map_err(|conflict| conflict.below("[]"))?))
            }
            Some(b'{') if depth < DEPTH => {
                let mut object = Kind::Object(Vec::new());
                for (name, value) in json_fields(json).unwrap_or_default() {
                    let value = Kind::nested(value, depth + 1);
                    let value = value.map_err(|conflict| conflict.below(&format!(".{name}")))?;
                    object = object.wider(Kind::Object(vec![(name.into_owned(), value)]))?;
                }
                object
            }
            Some(b'[' | b'{') => Kind::Json,
            Some(b'n') | None => Kind::Unknown,
            Some(_)
                if json
                    .parse::<u64>()
                    .is_ok_and(|it| i64::try_from(it).is_ok()) =>
            {
                Kind::Natural
            }
            Some(_) if json.parse::<i64>().is_ok() => Kind::Leaf(DataType::Int64),
            Some(_) if json.parse::<u64>().is_ok() => Kind::Leaf(DataType::UInt64),
            Some(_) => Kind::Leaf(DataType::Float64),
        })
    }

    /// The type of a column of Parquet.
    pub(super) fn of_column(column: &ColumnType) -> Kind {
        match column {
            ColumnType::Scalar(scalar) => of_scalar(*scalar).map_or(Kind::Unknown, Kind::Leaf),
            ColumnType::List(element) => Kind::List(Box::new(Kind::of_column(element))),
            ColumnType::Map(value) => Kind::Map(Box::new(Kind::of_column(value))),
            ColumnType::Object(fields) => {
                let fields = fields.iter();
                Kind::Object(
                    fields
                        .map(|(name, field)| (name.clone(), Kind::of_column(field)))
                        .collect(),
                )
            }
            _ => Kind::Unknown,
        }
    }

    /// The type that has the values of both.
    pub(super) fn wider(self, other: Kind) -> Result<Kind, Conflict> {
        Ok(match (self, other) {
            (Kind::Unknown, kind) | (kind, Kind::Unknown) => kind,
            (Kind::Json, _) | (_, Kind::Json) => Kind::Json,
            (one, other) if one == other => one,
            (Kind::Natural, Kind::Leaf(kind)) | (Kind::Leaf(kind), Kind::Natural)
                if kind.is_integer() || kind.is_floating() =>
            {
                let is_unsigned = kind == DataType::UInt64;
                let one = if is_unsigned { &kind } else { &DataType::Int64 };
                Kind::Leaf(wider_number(one, &kind))
            }
            (Kind::Leaf(one), Kind::Leaf(other))
                if (one.is_integer() || one.is_floating())
                    && (other.is_integer() || other.is_floating()) =>
            {
                Kind::Leaf(wider_number(&one, &other))
            }
            (Kind::List(one), Kind::List(other)) => {
                let element = one.wider(*other);
                Kind::List(Box::new(element.map_err(|conflict| conflict.below("[]"))?))
            }
            (Kind::Map(one), Kind::Map(other)) => {
                let value = one.wider(*other);
                Kind::Map(Box::new(value.map_err(|conflict| conflict.below(".*"))?))
            }
            (Kind::Object(mut fields), Kind::Object(more)) => {
                for (name, kind) in more {
                    match fields.iter_mut().find(|(field, _)| *field == name) {
                        Some((_, field)) => {
                            let both = std::mem::replace(field, Kind::Unknown).wider(kind);
                            *field = both.map_err(|it| it.below(&format!(".{name}")))?;
                        }
                        None => fields.push((name, kind)),
                    }
                }
                if fields.len() > FIELDS {
                    Kind::Json
                } else {
                    Kind::Object(fields)
                }
            }
            (one, other) => {
                return Err(Conflict {
                    path: String::new(),
                    kinds: [one.data_type(), other.data_type()],
                });
            }
        })
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Kind::Unknown | Kind::Json => DataType::Utf8,
            Kind::Natural => DataType::Int64,
            Kind::Leaf(kind) => kind.clone(),
            Kind::List(element) => {
                DataType::List(Arc::new(Field::new("item", element.data_type(), true)))
            }
            Kind::Map(value) => {
                let key = Field::new("key", DataType::Utf8, false);
                let value = Field::new("value", value.data_type(), true);
                let entries = DataType::Struct(Fields::from(vec![key, value]));
                DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
            }
            Kind::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, kind)| Field::new(name, kind.data_type(), true));
                DataType::Struct(fields.collect())
            }
        }
    }
}

impl Conflict {
    fn below(self, outer: &str) -> Conflict {
        Conflict {
            path: format!("{outer}{}", self.path),
            ..self
        }
    }
}

/// The type of the numbers of two different types.
fn wider_number(one: &DataType, other: &DataType) -> DataType {
    let width = |kind: &DataType| kind.primitive_width().unwrap_or(0);
    let larger = if width(one) < width(other) {
        other
    } else {
        one
    };
    let same_sign = one.is_signed_integer() == other.is_signed_integer();
    match (one.is_floating(), other.is_floating()) {
        (true, true) => larger.clone(),
        (false, false) if same_sign => larger.clone(),
        (false, false) if ![one, other].contains(&&DataType::UInt64) => DataType::Int64,
        _ => DataType::Float64,
    }
}

/// The Arrow type of single values. `None` if there is none.
fn of_scalar(scalar: ScalarType) -> Option<DataType> {
    let unit = |places| match places {
        0..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    };
    Some(match scalar {
        ScalarType::Bool => DataType::Boolean,
        ScalarType::Signed(8) => DataType::Int8,
        ScalarType::Signed(16) => DataType::Int16,
        ScalarType::Signed(32) => DataType::Int32,
        ScalarType::Signed(_) => DataType::Int64,
        ScalarType::Unsigned(8) => DataType::UInt8,
        ScalarType::Unsigned(16) => DataType::UInt16,
        ScalarType::Unsigned(32) => DataType::UInt32,
        ScalarType::Unsigned(_) => DataType::UInt64,
        ScalarType::Float(16) => DataType::Float16,
        ScalarType::Float(32) => DataType::Float32,
        ScalarType::Float(_) => DataType::Float64,
        ScalarType::Decimal(digits, scale) => {
            let (digits, scale) = (u8::try_from(digits).ok()?, i8::try_from(scale).ok()?);
            match digits {
                1..=38 => DataType::Decimal128(digits, scale),
                39..=76 => DataType::Decimal256(digits, scale),
                _ => return None,
            }
        }
        ScalarType::Text => DataType::Utf8,
        ScalarType::Bytes(length) => {
            let length = length.and_then(|length| i32::try_from(length).ok());
            match length.filter(|length| *length <= FIXED_BYTES) {
                Some(length) => DataType::FixedSizeBinary(length),
                None => DataType::Binary,
            }
        }
        ScalarType::Date => DataType::Date32,
        ScalarType::Time(places @ 0..=3) => DataType::Time32(unit(places)),
        ScalarType::Time(places) => DataType::Time64(unit(places)),
        ScalarType::Timestamp(places, is_utc) => {
            DataType::Timestamp(unit(places), is_utc.then(|| Arc::from("UTC")))
        }
        _ => return None,
    })
}
