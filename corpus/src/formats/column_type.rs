//! The types of columns, for readers that have typed tables.

/// The type of a column or field of a Parquet file, as far as the lines of JSON of its rows do not tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// Single values.
    Scalar(ScalarType),
    /// Lists of values of one type.
    List(Box<ColumnType>),
    /// Objects with any names, and values of one type.
    Map(Box<ColumnType>),
    /// Objects with these fields.
    Object(Vec<(String, ColumnType)>),
}

/// The type of single values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScalarType {
    /// True and false.
    Bool,
    /// Integers of this number of bits.
    Signed(u32),
    /// Integers from 0, of this number of bits.
    Unsigned(u32),
    /// Floating-point numbers of this number of bits. NaN and the infinities are strings in JSON.
    Float(u32),
    /// Numbers with at most this number of decimal digits, and with the second number of digits after the point.
    Decimal(u32, u32),
    /// Strings, also those of UUIDs.
    Text,
    /// Bytes, which are base64 in JSON. They have this length, if it is fixed.
    Bytes(Option<u32>),
    /// Days.
    Date,
    /// Times of day, with this number of decimal digits of a second: 3, 6 or 9.
    Time(u32),
    /// Moments, with this number of digits of a second, and whether they are in UTC.
    Timestamp(u32, bool),
}

impl ColumnType {
    /// Returns the type of the field to which a path leads. A name with dots of its own comes first.
    pub(crate) fn at<'t>(fields: &'t [(String, ColumnType)], path: &str) -> Option<&'t ColumnType> {
        let named = |name: &str| fields.iter().find(|(field, _)| field == name);
        if let Some((_, found)) = named(path) {
            return Some(found);
        }
        path.match_indices('.').find_map(|(dot, _)| {
            let (_, outer) = named(&path[..dot])?;
            match outer {
                ColumnType::Object(inner) => ColumnType::at(inner, &path[dot + 1..]),
                ColumnType::Map(value) => Some(value),
                ColumnType::Scalar(_) | ColumnType::List(_) => None,
            }
        })
    }
}
