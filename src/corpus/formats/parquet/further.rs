//! The columns of a file that is written that its tables do not have.

use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use parquet::schema::types::{Type, TypePtr};

/// The cells of a column that the table does not have.
#[derive(Debug)]
pub(crate) enum Cells {
    Bool(Vec<bool>),
    Number(Vec<i64>),
    Text(Vec<String>),
    Share(Vec<f64>),
}

impl Cells {
    /// The field of the schema.
    fn field(&self, name: &str) -> Result<Type, ParquetError> {
        let (physical, converted) = match self {
            Cells::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE),
            Cells::Number(_) => (Physical::INT64, ConvertedType::NONE),
            Cells::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Cells::Share(_) => (Physical::DOUBLE, ConvertedType::NONE),
        };
        let field = Type::primitive_type_builder(name, physical);
        let field = field.with_repetition(Repetition::REQUIRED);
        field.with_converted_type(converted).build()
    }

    pub(crate) fn write(
        &self,
        column: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match self {
            Cells::Bool(cells) => column.typed::<BoolType>().write_batch(cells, None, None),
            Cells::Number(cells) => column.typed::<Int64Type>().write_batch(cells, None, None),
            Cells::Share(cells) => column.typed::<DoubleType>().write_batch(cells, None, None),
            Cells::Text(cells) => {
                let cells: Vec<ByteArray> = cells.iter().map(|it| it.as_str().into()).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&cells, None, None)
            }
        }?;
        Ok(())
    }
}

/// The schema of a table with further columns.
pub(crate) fn schema(table: TypePtr, further: &[(String, Cells)]) -> Result<TypePtr, ParquetError> {
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
