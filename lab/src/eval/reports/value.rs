//! The figures of a report.

use std::fmt;

/// Figures, each with its name.
pub type FigureRow = Vec<(&'static str, Value)>;

/// A figure of an experiment, not rounded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// No figure, such as the mean of an empty set.
    Unknown,
    /// Yes or no.
    Flag(bool),
    /// A count.
    Whole(u64),
    /// A measure, finite.
    Real(f64),
    /// A name.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unknown => Ok(()),
            Value::Flag(flag) => flag.fmt(f),
            Value::Whole(number) => number.fmt(f),
            // With its decimal point, which distinguishes it from a count.
            Value::Real(number) => write!(f, "{number:?}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Whole(number.into())
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Value {
        Value::Whole(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Value {
        Value::Whole(number as u64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        if number.is_finite() {
            Value::Real(number)
        } else {
            Value::Unknown
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Unknown, Into::into)
    }
}
