//! A column of a row group that is encoded outside its file.
//!
//! In a file, the columns of a row group follow one another, but rows arrive with all their columns. So the large
//! columns are encoded while rows arrive, and spliced in when the group ends.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::formats::parquet::budget::Budget;
use crate::formats::parquet::different_lengths;
use crate::formats::parquet::failure::{CopyFailure, failed};
use crate::formats::parquet::snappy::Snappy;
use crate::formats::parquet::triplets::{BatchPace, MaxLevels, Triplets, with_reader};

/// How a column is encoded.
pub(crate) struct ColumnEncoding<'a> {
    pub(crate) column: ColumnDescPtr,
    pub(crate) properties: WriterPropertiesPtr,
    /// Bytes to hold in memory before they move to an unnamed file in `folder`.
    pub(crate) memory: usize,
    /// The approximate size in bytes.
    pub(crate) bytes: usize,
    pub(crate) folder: &'a Path,
}

/// Limits on copying rows.
#[derive(Clone, Copy)]
pub(crate) struct CopyLimits<'a> {
    pub(crate) budget: &'a Budget,
    /// Called from time to time; whether to continue.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

/// The number of a row, and its new text.
pub(crate) type RowText = (usize, Vec<u8>);

/// Copies the kept rows of a column.
pub(crate) trait ColumnCopier {
    /// Takes as many rows as `kept` has, and copies those for which it is true. `texts` are written in place of those of
    /// these rows, which are counted from 0 and in order.
    ///
    /// # Errors
    ///
    /// The column is damaged, writing fails, or the copy is stopped.
    fn take(
        &mut self,
        kept: &[bool],
        texts: Vec<RowText>,
        bounds: CopyLimits<'_>,
    ) -> Result<(), CopyFailure>;

    /// Ends the column after all of its rows have been taken.
    ///
    /// # Errors
    ///
    /// The column has further rows, or writing fails.
    fn finish(self: Box<Self>) -> Result<Chunk, CopyFailure>;
}

/// Starts to copy what `reader` reads.
pub(crate) fn copying(reader: ColumnReader, coding: ColumnEncoding<'_>) -> Box<dyn ColumnCopier> {
    with_reader!(reader, reader, T => Box::new(ColumnCopy::<T>::begin(reader, coding)))
}

/// Reads a column of `rows` rows to its end to check that it is sound.
///
/// # Errors
///
/// The column is damaged, or the check is stopped.
pub(crate) fn check(
    (reader, column): (ColumnReader, ColumnDescPtr),
    rows: u64,
    bounds: CopyLimits<'_>,
) -> Result<(), CopyFailure> {
    with_reader!(reader, reader, T => {
        let mut column: ColumnRows<T> = ColumnRows::begin(reader, &column);
        let mut left = rows;
        while left > 0 {
            left -= column.read(left, bounds)? as u64;
        }
        column.end()
    })
}

/// Rows of a column, a few at a time.
struct ColumnRows<T: DataType> {
    reader: ColumnReaderImpl<T>,
    triplets: Triplets<T::T>,
    pace: BatchPace,
}

impl<T: DataType> ColumnRows<T>
where
    T::T: AsBytes,
{
    fn begin(reader: ColumnReaderImpl<T>, column: &ColumnDescPtr) -> ColumnRows<T> {
        ColumnRows {
            reader,
            triplets: Triplets::new(MaxLevels::of(column)),
            pace: BatchPace::default(),
        }
    }

    /// Reads the next rows, when `left` rows remain. Returns the number of rows read.
    fn read(&mut self, left: u64, bounds: CopyLimits<'_>) -> Result<usize, CopyFailure> {
        if !(bounds.goes_on)() {
            return Err(CopyFailure::Stopped);
        }
        let rows = self.pace.rows(left);
        let read = self
            .triplets
            .read(&mut self.reader, rows, bounds.budget)
            .map_err(CopyFailure::Read)?;
        let levels = self
            .triplets
            .definition
            .len()
            .max(self.triplets.values.len());
        self.pace.read(rows, read, levels);
        Ok(rows)
    }

    /// Checks that there are no further rows.
    fn end(&mut self) -> Result<(), CopyFailure> {
        let ended = self.triplets.end(&mut self.reader);
        ended.map_err(CopyFailure::Read)
    }
}

/// A column that is being copied into a chunk.
struct ColumnCopy<T: DataType> {
    rows: ColumnRows<T>,
    writer: ColumnWriterImpl<'static, T>,
    spool: ChunkSpool,
    /// The compression of its pages.
    compression: Compression,
}

impl<T: DataType> ColumnCopy<T>
where
    T::T: AsBytes,
{
    fn begin(reader: ColumnReaderImpl<T>, coding: ColumnEncoding<'_>) -> ColumnCopy<T> {
        let spool = ChunkSpool::new(&coding);
        let compression = coding.properties.compression(coding.column.path());
        let (snappy, properties) = Snappy::of(coding.column.path(), coding.properties);
        let pages = Box::new(ChunkPageWriter {
            sink: TrackedWrite::new(spool.clone()),
            snappy,
        });
        let rows = ColumnRows::begin(reader, &coding.column);
        let writer = get_column_writer(coding.column, properties, pages);
        ColumnCopy {
            rows,
            writer: get_typed_column_writer(writer),
            spool,
            compression,
        }
    }
}

impl<T: DataType> ColumnCopier for ColumnCopy<T>
where
    T::T: AsBytes,
{
    fn take(
        &mut self,
        mut kept: &[bool],
        texts: Vec<RowText>,
        bounds: CopyLimits<'_>,
    ) -> Result<(), CopyFailure> {
        let mut texts = texts.into_iter().peekable();
        let mut before = 0;
        while !kept.is_empty() {
            let rows = self.rows.read(kept.len() as u64, bounds)?;
            let (now, later) = kept.split_at(rows.min(kept.len()));
            kept = later;
            let triplets = &mut self.rows.triplets;
            while let Some((row, text)) = texts.next_if(|(row, _)| *row < before + rows) {
                if !triplets.set_text(row - before, text) {
                    return Err(CopyFailure::Read(different_lengths()));
                }
            }
            before += rows;
            if now.contains(&false) {
                triplets.retain(|row| now.get(row).is_some_and(|&kept| kept));
            }
            let highest = triplets.highest;
            let definition = (highest.definition > 0).then_some(&*triplets.definition);
            let repetition = (highest.repetition > 0).then_some(&*triplets.repetition);
            self.writer
                .write_batch(&triplets.values, definition, repetition)
                .map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Chunk, CopyFailure> {
        self.rows.end()?;
        let mut close = self.writer.close().map_err(failed)?;
        let metadata = close.metadata.into_builder();
        let metadata = metadata.set_compression(self.compression).build();
        close.metadata = metadata.map_err(failed)?;
        let bytes = self.spool.into_inner().map_err(CopyFailure::Written)?;
        Ok(Chunk { bytes, close })
    }
}

/// An encoded column.
pub(crate) struct Chunk {
    bytes: ChunkBytes,
    close: ColumnCloseResult,
}

impl Chunk {
    /// Splices the column in as the next column of a group.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn append_to<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        match self.bytes {
            ChunkBytes::Memory { bytes, .. } => {
                group.append_column(&Bytes::from(bytes), self.close)
            }
            ChunkBytes::Disk(file) => group.append_column(&file, self.close),
        }
    }
}

/// Bytes in memory, which move to an unnamed file when they exceed a limit. Clones share them.
#[derive(Clone)]
struct ChunkSpool(Arc<Mutex<ChunkBytes>>);

enum ChunkBytes {
    Memory {
        bytes: Vec<u8>,
        most: usize,
        folder: PathBuf,
    },
    Disk(File),
}

impl ChunkSpool {
    fn new(coding: &ColumnEncoding<'_>) -> ChunkSpool {
        ChunkSpool(Arc::new(Mutex::new(ChunkBytes::Memory {
            // A vector that grows copies its contents.
            bytes: Vec::with_capacity(coding.bytes.min(coding.memory)),
            most: coding.memory,
            folder: coding.folder.to_owned(),
        })))
    }

    /// Returns the bytes, which must have no other owner.
    fn into_inner(self) -> io::Result<ChunkBytes> {
        let spooled = Arc::into_inner(self.0);
        let spooled = spooled.ok_or_else(|| io::Error::other("a column is still being written"))?;
        Ok(spooled.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for ChunkSpool {
    fn write(&mut self, new: &[u8]) -> io::Result<usize> {
        let mut spooled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *spooled {
            ChunkBytes::Memory { bytes, most, .. } if bytes.len() + new.len() <= *most => {
                bytes.extend_from_slice(new);
                Ok(new.len())
            }
            ChunkBytes::Memory { bytes, folder, .. } => {
                let mut file = tempfile::tempfile_in(folder)?;
                file.write_all(bytes)?;
                let written = file.write(new)?;
                *spooled = ChunkBytes::Disk(file);
                Ok(written)
            }
            ChunkBytes::Disk(file) => file.write(new),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes pages into its own spool.
struct ChunkPageWriter {
    sink: TrackedWrite<ChunkSpool>,
    /// The compressor, unless the writer compresses the pages itself.
    snappy: Option<Snappy>,
}

impl PageWriter for ChunkPageWriter {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        let page = match &mut self.snappy {
            Some(snappy) => snappy.compress(&page)?,
            None => page,
        };
        SerializedPageWriter::new(&mut self.sink).write_page(page)
    }

    fn close(&mut self) -> Result<(), ParquetError> {
        self.sink.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::record::RowAccessor;
    use parquet::schema::parser::parse_message_type;

    use super::{ChunkBytes, ColumnEncoding, CopyLimits, copying};
    use crate::formats::parquet::table::ParquetTable;

    #[test]
    fn a_large_column_goes_to_disk_until_its_group_ends() {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            is_copied_by_way_of_the_disk(compression);
        }
    }

    fn is_copied_by_way_of_the_disk(compression: Compression) {
        let properties = WriterProperties::builder().set_compression(compression);
        let properties = Arc::new(properties.build());
        let schema = parse_message_type("message m { required binary text (UTF8); }").unwrap();
        let file = tempfile::tempfile().unwrap();
        let copy = file.try_clone().unwrap();
        let begin = |place| {
            SerializedFileWriter::new(place, Arc::new(schema.clone()), properties.clone()).unwrap()
        };
        let mut writer = begin(copy);
        let texts: Vec<ByteArray> = (0..9000)
            .map(|at| ByteArray::from(format!("{at} is the number of this row").into_bytes()))
            .collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();

        let table = ParquetTable::open(file).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let coding = ColumnEncoding {
            column: table.described(0),
            properties: properties.clone(),
            memory: 1 << 10,
            bytes: 1 << 9,
            folder: folder.path(),
        };
        let bounds = CopyLimits {
            budget: table.budget(),
            goes_on: &|| true,
        };
        let mut copied = copying(table.column(0, 0).unwrap(), coding);
        for kept in [vec![true; 4000], vec![false; 100], vec![true; 4900]] {
            copied.take(&kept, Vec::new(), bounds).unwrap();
        }
        let chunk = copied.finish().unwrap();
        assert!(matches!(chunk.bytes, ChunkBytes::Disk(_)));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);

        let again = tempfile::tempfile().unwrap();
        let mut writer = begin(again.try_clone().unwrap());
        let mut group = writer.next_row_group().unwrap();
        chunk.append_to(&mut group).unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let reader = SerializedFileReader::new(again).unwrap();
        let written = reader.metadata().row_group(0).column(0);
        assert_eq!(written.compression(), compression);
        let bytes = (written.compressed_size(), written.uncompressed_size());
        assert_eq!(bytes.0 < bytes.1, compression == Compression::SNAPPY);
        let rows = reader.get_row_iter(None).unwrap();
        let copies: Vec<ByteArray> = rows
            .map(|row| ByteArray::from(row.unwrap().get_string(0).unwrap().as_str()))
            .collect();
        assert_eq!(copies, [&texts[..4000], &texts[4100..]].concat());
    }
}
