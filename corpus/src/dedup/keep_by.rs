//! Orders by the values of fields: of several similar documents, the first in this order is kept.

use std::str::FromStr;

use crate::dedup::error::{Error, Result};
use crate::dedup::rank_key::{push_position, push_ranked};
use crate::formats::table::columns::short;

/// An order of documents by the values of a field: of several similar ones, the first in this order is kept.
///
/// Numbers are compared as numbers, exactly and whatever the number of their digits, also those in quotes and those of CSV;
/// dates and times of ISO 8601 as moments, in UTC unless they name another offset; `false` is below `true`; other values are
/// compared as texts, by their first 1,024 bytes. Values of different kinds come in this sequence, whether the largest or the
/// smallest comes first. Documents without a value come last: the field is missing, null, empty, NaN or infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepBy {
    field: String,
    direction: RankDirection,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RankDirection {
    LargestFirst,
    SmallestFirst,
    /// The values with these keys first, in this order, and then all others.
    Preferred(Vec<Vec<u8>>),
}

impl KeepBy {
    /// Keeps the document with the largest value of a field. Dots lead into nested fields, as in
    /// [`Options::text_field`](crate::Options::text_field).
    pub fn largest(field: impl Into<String>) -> KeepBy {
        KeepBy {
            field: field.into(),
            direction: RankDirection::LargestFirst,
        }
    }

    /// Keeps the document with the smallest value of a field.
    pub fn smallest(field: impl Into<String>) -> KeepBy {
        KeepBy {
            direction: RankDirection::SmallestFirst,
            ..KeepBy::largest(field)
        }
    }

    /// Keeps a document with the first of these values of a field, or else with the second, and so on. All others are equal to
    /// each other. Values are equal that have the same place in an order: `1`, `1.0` and `"1"`, or `2024-01-01` and its
    /// first moment.
    pub fn preferred<V: Into<String>>(
        field: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> KeepBy {
        let keys = values.into_iter().map(|value| {
            let mut key = Vec::new();
            push_ranked(Some(&value.into()), false, &mut key);
            key
        });
        KeepBy {
            direction: RankDirection::Preferred(keys.collect()),
            ..KeepBy::largest(field)
        }
    }

    /// Returns the field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Adds what sorts a value to a key. Returns whether there is a value.
    fn push(&self, value: Option<&str>, key: &mut Vec<u8>) -> bool {
        match &self.direction {
            RankDirection::LargestFirst => push_ranked(value, true, key),
            RankDirection::SmallestFirst => push_ranked(value, false, key),
            RankDirection::Preferred(values) => push_position(value, values, key),
        }
    }
}

impl FromStr for KeepBy {
    type Err = Error;

    /// Reads `FIELD` for the largest value and `-FIELD` for the smallest.
    fn from_str(text: &str) -> Result<KeepBy, Error> {
        let smallest = text.strip_prefix('-');
        let field = smallest.unwrap_or(text);
        if field.is_empty() || field.starts_with('-') {
            let reason =
                format!("{text:?} names no field; give one, or -FIELD to keep the smallest value");
            return Err(Error::KeepBy { reason });
        }
        Ok(match smallest {
            Some(field) => KeepBy::smallest(field),
            None => KeepBy::largest(field),
        })
    }
}

/// What sorts a document by its fields.
#[derive(Debug, Default)]
pub(crate) struct FieldKey {
    bytes: Vec<u8>,
    /// Whether it has a value, for each field.
    has: Vec<bool>,
}

/// Ranks documents by the values of their fields.
///
/// ```
/// use dedupdb_corpus::dedup::{FieldRanks, KeepBy};
///
/// let mut ranks = FieldRanks::new([KeepBy::largest("score"), KeepBy::smallest("date")]);
/// for [score, date] in [["9.5", "2024-02-29"], ["10", "2024-01-01"], ["", "2020-01-01"], ["10", "2023-01-01"]] {
///     ranks.push(&[Some(score.to_owned()), Some(date.to_owned())]);
/// }
/// let mut rows = [0, 1, 2, 3];
/// ranks.sort(&mut rows);
/// assert_eq!(rows, [3, 1, 0, 2]);
/// assert_eq!(ranks.without().collect::<Vec<_>>(), [("score", 1), ("date", 0)]);
/// ```
#[derive(Debug)]
pub struct FieldRanks {
    orders: Vec<KeepBy>,
    /// The keys of all documents, one after another.
    keys: Vec<u8>,
    /// Where the key of each document ends.
    ends: Vec<usize>,
    /// The number of documents without a value, for each field.
    without: Vec<u64>,
}

impl FieldRanks {
    /// Returns a ranking without documents. The first order decides, and the next one between equal documents.
    pub fn new(orders: impl IntoIterator<Item = KeepBy>) -> FieldRanks {
        let orders: Vec<KeepBy> = orders.into_iter().collect();
        FieldRanks {
            without: vec![0; orders.len()],
            orders,
            keys: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Returns the fields, one for each order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.orders.iter().map(KeepBy::field)
    }

    /// Ranks the next document by the values of its fields, as texts.
    pub fn push(&mut self, values: &[Option<String>]) {
        self.push_key(&self.key(values));
    }

    /// Sorts documents, by their numbers from 0, into the order in which they are kept. Equal ones keep their order.
    pub fn sort(&self, documents: &mut [usize]) {
        documents.sort_by_key(|&document| self.of(document));
    }

    /// Returns how many documents are without a value, for each field.
    pub fn without(&self) -> impl Iterator<Item = (&str, u64)> {
        self.fields().zip(self.without.iter().copied())
    }

    /// Checks that at least one document has each field. `names` are fields that documents have.
    ///
    /// # Errors
    ///
    /// [`Error::KeepBy`].
    pub fn check(&self, names: &[String]) -> Result<(), Error> {
        const SHOWN: usize = 20;
        let documents = self.ends.len() as u64;
        let mut without = self.without();
        let Some((field, _)) = without.find(|(_, without)| documents > 0 && *without == documents)
        else {
            return Ok(());
        };
        let shown: Vec<String> = names.iter().take(SHOWN).map(|name| short(name)).collect();
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let reason = if shown.is_empty() {
            format!("no document has a value of {field:?}, because these documents have no fields")
        } else {
            let shown = shown.join(", ");
            format!("no document has a value of {field:?}; the first one has {shown}{more}")
        };
        Err(Error::KeepBy { reason })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.orders.is_empty()
    }

    /// Returns what sorts a document with these values of its fields.
    pub(crate) fn key(&self, values: &[Option<String>]) -> FieldKey {
        let mut key = FieldKey::default();
        for (at, order) in self.orders.iter().enumerate() {
            let value = values.get(at).and_then(Option::as_deref);
            key.has.push(order.push(value, &mut key.bytes));
        }
        key
    }

    /// Ranks the next document by its key.
    pub(crate) fn push_key(&mut self, key: &FieldKey) {
        self.keys.extend_from_slice(&key.bytes);
        self.ends.push(self.keys.len());
        for (without, has) in self.without.iter_mut().zip(&key.has) {
            *without += u64::from(!has);
        }
    }

    /// Returns what sorts a document, by its number.
    pub(crate) fn of(&self, document: usize) -> &[u8] {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(0);
        let start = document.checked_sub(1).map_or(0, end);
        self.keys.get(start..end(document)).unwrap_or_default()
    }
}
