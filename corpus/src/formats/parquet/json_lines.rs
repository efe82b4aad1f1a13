//! Rows with all their columns, as lines of JSON.

use std::io;

use encoding_rs::Encoding;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::SchemaDescriptor;

use crate::formats::id::IdType;
use crate::formats::parquet::budget::Budget;
use crate::formats::parquet::explain;
use crate::formats::parquet::nodes::{LeafCursor, SchemaTree};
use crate::formats::parquet::pages::ColumnPages;
use crate::formats::parquet::triplets::{MaxLevels, Triplets, with_reader};
use crate::formats::parquet::values::Scalar;
use crate::options::Options;

/// The columns of a file.
pub(crate) struct JsonLines {
    tree: SchemaTree,
    budget: Budget,
    /// The columns of the row group that is being read. `None` for one that is not wanted.
    columns: Vec<(Option<ColumnReader>, MaxLevels)>,
}

impl JsonLines {
    /// Returns the columns of a file of `size` bytes, or `only` those of some fields. The columns of texts and keys, by their
    /// numbers, are in the encoding `given`.
    pub(crate) fn new(
        schema: &SchemaDescriptor,
        documents: (&[usize], Option<(usize, IdType)>),
        given: Option<&'static Encoding>,
        only: Option<&[String]>,
        size: u64,
    ) -> JsonLines {
        JsonLines {
            tree: SchemaTree::of(schema, documents, given, only),
            budget: Budget::new(size),
            columns: Vec::new(),
        }
    }

    /// Returns the columns of a file that are wanted as lines, if any.
    pub(crate) fn wanted(
        schema: &SchemaDescriptor,
        documents: (&[usize], Option<(usize, IdType)>),
        options: &Options,
        size: u64,
    ) -> Option<JsonLines> {
        let given = options.given_encoding();
        if let Some(wanted) = &options.fields {
            let names = schema.root_schema().get_fields().iter();
            let names: Vec<String> = names.map(|field| field.name().to_owned()).collect();
            let only = wanted.of_table(&names, options);
            // A field that is the key has its own type.
            return Some(JsonLines::new(
                schema,
                (&[], None),
                given,
                Some(&only),
                size,
            ));
        }
        let only = options.tables_apart.then_some(&*options.ranked_fields);
        let is_wanted = options.verbatim && only.is_none_or(|fields| !fields.is_empty());
        is_wanted.then(|| JsonLines::new(schema, documents, given, only, size))
    }

    /// Whether a column, by its number, is read.
    pub(crate) fn has_column(&self, column: usize) -> bool {
        self.tree.has_column(column)
    }

    /// Starts a row group.
    ///
    /// # Errors
    ///
    /// The group is damaged.
    pub(crate) fn begin(&mut self, group: &dyn RowGroupReader) -> io::Result<()> {
        let schema = group.metadata().schema_descr_ptr();
        let column = |at| {
            let column = schema.column(at);
            let levels = MaxLevels::of(&column);
            if !self.tree.has_column(at) {
                return Ok((None, levels));
            }
            let pages = group.get_column_page_reader(at)?;
            let pages = ColumnPages::within(pages, &column, self.budget.clone());
            let reader = get_column_reader(column, Box::new(pages));
            Ok((Some(reader), levels))
        };
        let columns: Result<Vec<_>, _> = (0..schema.num_columns()).map(column).collect();
        self.columns = columns.map_err(|error| explain(&error))?;
        Ok(())
    }

    /// Returns the next `rows` rows of the group.
    ///
    /// # Errors
    ///
    /// The group is damaged.
    pub(crate) fn read(&mut self, rows: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut leaves = Vec::with_capacity(self.columns.len());
        for (reader, levels) in &mut self.columns {
            let Some(reader) = reader else {
                leaves.push(LeafCursor::new(Triplets::new(*levels)));
                continue;
            };
            let triplets = with_reader!(reader, reader, T => {
                let mut triplets = Triplets::new(*levels);
                triplets.read::<T>(reader, rows, &self.budget)?;
                Triplets {
                    values: triplets.values.into_iter().map(Scalar::from).collect(),
                    definition: triplets.definition,
                    repetition: triplets.repetition,
                    highest: triplets.highest,
                }
            });
            leaves.push(LeafCursor::new(triplets));
        }
        let line = |_| self.tree.line(&mut leaves);
        (0..rows).map(line).collect()
    }
}
