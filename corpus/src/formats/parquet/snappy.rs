//! Compression of pages with Snappy.
//!
//! The library's writer allocates a vector for each page, fills it with zeros, and copies it twice. That costs a third
//! of the time that Snappy itself takes. Here, all pages are compressed into the same memory.

use std::mem::take;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, Page};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::ColumnPath;
use snap::raw::{Encoder, max_compress_len};

/// The maximum number of bytes of memory to keep for the next page. Few pages are larger, and many columns may be
/// written at once.
const KEPT: usize = 4 << 20;

/// Compresses pages that arrive uncompressed.
pub(crate) struct Snappy {
    encoder: Encoder,
    /// The memory in which pages are compressed. A page that is still in use keeps it.
    memory: Bytes,
}

impl Snappy {
    /// Returns the compressor for a column, if the column is compressed with Snappy, and the properties of a writer
    /// that leaves compression to it.
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
    /// The page has four gigabytes or more.
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
            // Such a page has a flag that says that it is not compressed.
            Page::DataPageV2 { .. } => {}
        }
        Ok(CompressedPage::new(compressed, page.uncompressed_size()))
    }
}
