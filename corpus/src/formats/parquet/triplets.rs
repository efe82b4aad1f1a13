//! The values of a column with their levels, some rows at a time.
//!
//! A repetition level of 0 begins a row. A definition level below the highest one stands for a missing value.

use std::any::Any;
use std::io;

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{AsBytes, ByteArray, DataType};
use parquet::schema::types::ColumnDescriptor;

use crate::formats::parquet::budget::Budget;
use crate::formats::parquet::{different_lengths, explain};

/// The highest levels of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxLevels {
    pub(crate) definition: i16,
    pub(crate) repetition: i16,
}

impl MaxLevels {
    pub(crate) fn of(column: &ColumnDescriptor) -> MaxLevels {
        MaxLevels {
            definition: column.max_def_level(),
            repetition: column.max_rep_level(),
        }
    }
}

/// Some rows of a column. Levels that are always 0 are left empty.
#[derive(Debug)]
pub(crate) struct Triplets<V> {
    pub(crate) definition: Vec<i16>,
    pub(crate) repetition: Vec<i16>,
    pub(crate) values: Vec<V>,
    pub(crate) highest: MaxLevels,
}

impl<V> Triplets<V> {
    /// Returns an empty set of rows.
    pub(crate) fn new(highest: MaxLevels) -> Triplets<V> {
        Triplets {
            definition: Vec::new(),
            repetition: Vec::new(),
            values: Vec::new(),
            highest,
        }
    }

    /// Reads exactly the next `rows` rows, in place of the current ones. Returns their size in bytes.
    ///
    /// # Errors
    ///
    /// The column is damaged or has fewer rows, or they are out of all proportion to the file.
    pub(crate) fn read<T: DataType<T = V>>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        budget: &Budget,
    ) -> io::Result<u64>
    where
        V: AsBytes,
    {
        let (read, ..) = self.fill(reader, rows)?;
        if read != rows || !self.has(rows) {
            return Err(different_lengths());
        }
        let bytes = |value: &V| value.as_bytes().len() as u64;
        let bytes = self.values.iter().map(bytes).sum();
        budget.count(bytes)?;
        Ok(bytes)
    }

    /// Checks that the column has no further rows.
    ///
    /// # Errors
    ///
    /// The column has further rows, or is damaged.
    pub(crate) fn end<T: DataType<T = V>>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
    ) -> io::Result<()> {
        match self.fill(reader, 1)? {
            (0, 0, 0) => Ok(()),
            _ => Err(different_lengths()),
        }
    }

    /// Reads at most the next `rows` rows, in place of the current ones. Returns the number of rows, values and levels.
    fn fill<T: DataType<T = V>>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
    ) -> io::Result<(usize, usize, usize)> {
        self.definition.clear();
        self.repetition.clear();
        self.values.clear();
        let (definition, repetition) = (&mut self.definition, &mut self.repetition);
        let read = reader.read_records(rows, Some(definition), Some(repetition), &mut self.values);
        read.map_err(|error| explain(&error))
    }

    /// Whether there are `rows` rows, with a value for each definition level that stands for one.
    fn has(&self, rows: usize) -> bool {
        let MaxLevels {
            definition: most,
            repetition: deepest,
        } = self.highest;
        if most == 0 {
            return self.values.len() == rows;
        }
        let begun = if deepest == 0 {
            self.definition.len()
        } else {
            let is_row = self.repetition.first().is_none_or(|&level| level == 0);
            if !is_row || self.repetition.len() != self.definition.len() {
                return false;
            }
            self.repetition.iter().filter(|&&level| level == 0).count()
        };
        let values = self.definition.iter().filter(|&&level| level == most);
        let are_within =
            |levels: &[i16], most| levels.iter().all(|level| (0..=most).contains(level));
        begun == rows
            && values.count() == self.values.len()
            && are_within(&self.definition, most)
            && are_within(&self.repetition, deepest)
    }

    /// Puts another text in place of the value of a row, in a column of texts without lists. Returns whether there is one.
    pub(crate) fn set_text(&mut self, row: usize, text: Vec<u8>) -> bool
    where
        V: 'static,
    {
        let value = if self.highest.definition == 0 {
            row
        } else {
            let before = self.definition.iter().take(row);
            before
                .filter(|level| **level == self.highest.definition)
                .count()
        };
        let value = self
            .values
            .get_mut(value)
            .map(|value| value as &mut dyn Any);
        let value = value.and_then(|value| value.downcast_mut::<ByteArray>());
        value.map(|value| *value = ByteArray::from(text)).is_some()
    }

    /// Keeps the rows for which `kept` returns true.
    pub(crate) fn retain(&mut self, mut kept: impl FnMut(usize) -> bool) {
        if self.highest.definition == 0 {
            let mut row = 0;
            self.values.retain(|_| {
                row += 1;
                kept(row - 1)
            });
            return;
        }
        let (mut row, mut keeps) = (0, false);
        let (mut levels, mut values, mut value) = (0, 0, 0);
        for at in 0..self.definition.len() {
            if self.repetition.get(at).is_none_or(|&level| level == 0) {
                keeps = kept(row);
                row += 1;
            }
            let has_value = self.definition[at] == self.highest.definition;
            if keeps {
                self.definition[levels] = self.definition[at];
                if let Some(&level) = self.repetition.get(at) {
                    self.repetition[levels] = level;
                }
                levels += 1;
                if has_value {
                    self.values.swap(values, value);
                    values += 1;
                }
            }
            value += usize::from(has_value);
        }
        self.definition.truncate(levels);
        if self.highest.repetition > 0 {
            self.repetition.truncate(levels);
        }
        self.values.truncate(values);
    }
}

/// The number of rows to read together so that they have about the wanted size.
#[derive(Debug)]
pub(crate) struct BatchPace {
    rows: usize,
}

/// The maximum number of rows to read together.
const MOST_ROWS: u64 = 8192;

/// The number of bytes that the rows read together should have, judging by earlier rows.
const BYTES: u64 = 4 << 20;

/// Bytes of a value of fixed size and its levels.
const FIXED_BYTES: u64 = 8;

impl Default for BatchPace {
    fn default() -> BatchPace {
        BatchPace { rows: 32 }
    }
}

impl BatchPace {
    /// Returns the number of rows to read next when `left` rows are left.
    pub(crate) fn rows(&self, left: u64) -> usize {
        usize::try_from(left).map_or(self.rows, |left| left.min(self.rows))
    }

    /// Records that `rows` rows were read, with `bytes` bytes and `levels` levels or values.
    pub(crate) fn read(&mut self, rows: usize, bytes: u64, levels: usize) {
        let bytes = bytes + FIXED_BYTES * levels as u64;
        let each = bytes / (rows as u64).max(1);
        let fitting = (BYTES / each.max(1)).clamp(1, MOST_ROWS);
        // Later rows may differ, so the number grows slowly.
        let most = (self.rows as u64).saturating_mul(4);
        self.rows = usize::try_from(fitting.min(most)).unwrap_or(1);
    }
}

/// Evaluates an expression that is generic over the type of a column's values.
macro_rules! with_reader {
    ($reader:expr, $typed:ident, $type:ident => $body:expr) => {{
        use parquet::data_type;
        match $reader {
            ColumnReader::BoolColumnReader($typed) => {
                type $type = data_type::BoolType;
                $body
            }
            ColumnReader::Int32ColumnReader($typed) => {
                type $type = data_type::Int32Type;
                $body
            }
            ColumnReader::Int64ColumnReader($typed) => {
                type $type = data_type::Int64Type;
                $body
            }
            ColumnReader::Int96ColumnReader($typed) => {
                type $type = data_type::Int96Type;
                $body
            }
            ColumnReader::FloatColumnReader($typed) => {
                type $type = data_type::FloatType;
                $body
            }
            ColumnReader::DoubleColumnReader($typed) => {
                type $type = data_type::DoubleType;
                $body
            }
            ColumnReader::ByteArrayColumnReader($typed) => {
                type $type = data_type::ByteArrayType;
                $body
            }
            ColumnReader::FixedLenByteArrayColumnReader($typed) => {
                type $type = data_type::FixedLenByteArrayType;
                $body
            }
        }
    }};
}

pub(crate) use with_reader;

#[cfg(test)]
mod tests {
    use super::{MaxLevels, Triplets};

    #[test]
    fn rows_go_with_all_their_values() {
        // [[1, 2], null, [], [3, null], [4]]
        let highest = MaxLevels {
            definition: 3,
            repetition: 1,
        };
        let mut triplets = Triplets {
            definition: vec![3, 3, 0, 1, 3, 2, 3],
            repetition: vec![0, 1, 0, 0, 0, 1, 0],
            values: vec![1, 2, 3, 4],
            highest,
        };
        triplets.retain(|row| row != 1 && row != 3);
        assert_eq!(triplets.definition, [3, 3, 1, 3]);
        assert_eq!(triplets.repetition, [0, 1, 0, 0]);
        assert_eq!(triplets.values, [1, 2, 4]);
    }

    #[test]
    fn columns_without_levels_and_with_missing_values_keep_their_rows() {
        let levels = |definition| MaxLevels {
            definition,
            repetition: 0,
        };
        let mut required = Triplets {
            values: vec!['a', 'b', 'c'],
            ..Triplets::new(levels(0))
        };
        required.retain(|row| row == 2);
        assert_eq!(required.values, ['c']);
        let mut optional = Triplets {
            definition: vec![1, 0, 1, 1],
            values: vec!['a', 'b', 'c'],
            ..Triplets::new(levels(1))
        };
        optional.retain(|row| row != 0);
        assert_eq!(optional.definition, [0, 1, 1]);
        assert_eq!(optional.values, ['b', 'c']);
    }
}
