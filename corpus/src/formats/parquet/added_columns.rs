//! Columns that are added to those of a table.

use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

/// The cells of an added column. `None` is null.
#[derive(Debug)]
pub(crate) enum AddedCells {
    Bool(Vec<Option<bool>>),
    Number(Vec<Option<i64>>),
    Text(Vec<Option<String>>),
    Share(Vec<Option<f64>>),
}

impl AddedCells {
    /// Returns the field of the schema.
    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, converted) = match self {
            AddedCells::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE),
            AddedCells::Number(_) => (Physical::INT64, ConvertedType::NONE),
            AddedCells::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            AddedCells::Share(_) => (Physical::DOUBLE, ConvertedType::NONE),
        };
        let field = Type::primitive_type_builder(name, physical);
        let field = field.with_repetition(Repetition::OPTIONAL);
        field.with_converted_type(converted).build()
    }

    pub(crate) fn write(
        &self,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match self {
            AddedCells::Bool(cells) => write::<BoolType, _>(column, cells, |&cell| cell),
            AddedCells::Number(cells) => write::<Int64Type, _>(column, cells, |&cell| cell),
            AddedCells::Share(cells) => write::<DoubleType, _>(column, cells, |&cell| cell),
            AddedCells::Text(cells) => {
                let bytes = |cell: &String| ByteArray::from(cell.as_str());
                write::<ByteArrayType, _>(column, cells, bytes)
            }
        }
    }
}

fn write<T: DataType, C>(
    column: &mut SerializedColumnWriter<'_>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = cells.iter().flatten().map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
    let typed = column.typed::<T>();
    typed.write_batch(&values, Some(&levels), None)?;
    Ok(())
}

/// Returns the schema of a table with further columns.
pub(crate) fn schema(
    table: TypePtr,
    further: &[(String, AddedCells)],
) -> Result<TypePtr, ParquetError> {
    if further.is_empty() {
        return Ok(table);
    }
    let mut fields = table.get_fields().to_vec();
    for (name, cells) in further {
        fields.push(Arc::new(cells.field(name)?));
    }
    let whole = Type::group_type_builder(table.name()).with_fields(fields);
    Ok(Arc::new(whole.build()?))
}
