//! Pages that are compressed with Snappy.
//!
//! The library's own writer makes a vector for each page, fills it with zeros, and copies it twice. That costs a third of
//! the time that Snappy itself takes. Here all pages are compressed into the same memory.

use std::mem::take;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::ColumnPath;
use snap::raw::{Encoder, max_compress_len};

/// Bytes of memory that are kept for the next page at most. Few pages are larger, and many columns may be written at once.
const KEPT: usize = 4 << 20;

/// Compresses pages that come as they are.
pub(crate) struct Snappy {
    encoder: Encoder,
    /// Where pages are compressed. A page that is still in use keeps it.
    memory: Bytes,
}

impl Snappy {
    /// What compresses the pages of a column, if they are compressed with Snappy, and the properties of a writer that
    /// leaves it to that.
    pub(crate) fn of(
        column: &ColumnPath,
        properties: WriterPropertiesPtr,
    ) -> (Option<Snappy>, WriterPropertiesPtr) {
        if properties.compression(column) != Compression::SNAPPY {
            return (None, properties);
        }
        let properties = Arc::unwrap_or_clone(properties).into_builder();
        let properties =
            properties.set_column_compression(column.clone(), Compression::UNCOMPRESSED);
        let snappy = Snappy {
            encoder: Encoder::new(),
            memory: Bytes::new(),
        };
        (Some(snappy), Arc::new(properties.build()))
    }

    /// Compresses a page.
    ///
    /// # Errors
    ///
    /// It has four gigabytes or more.
    pub(crate) fn compress(
        &mut self,
        page: &CompressedPage,
    ) -> Result<CompressedPage, ParquetError> {
        let mut compressed = page.compressed_page().clone();
        match &mut compressed {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                let mut memory = take(&mut self.memory).try_into_mut().unwrap_or_default();
                let most = max_compress_len(buf.len());
                if memory.len() < most {
                    memory.resize(most, 0);
                }
                let bytes = self.encoder.compress(buf, &mut memory)?;
                let memory = memory.freeze();
                *buf = memory.slice(..bytes);
                if memory.len() <= KEPT {
                    self.memory = memory;
                }
            }
            // It says of itself that it is not compressed.
            Page::DataPageV2 { .. } => {}
        }
        Ok(CompressedPage::new(compressed, page.uncompressed_size()))
    }
}
