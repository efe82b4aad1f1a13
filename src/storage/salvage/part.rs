//! The readable part of a column.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::worn::WornFile;
use super::wreck::if_sound;
use crate::error::Result;
use crate::schema::Schema;
use crate::storage::columns::{BLOCK_BYTES, ColumnSpec, sum};
use crate::storage::disk::{self, File};
use crate::storage::format::{ColumnKind, HEADER_BYTES, Header};
use crate::storage::index::Meta;

/// The rows of a column, as far as they exist.
#[derive(Debug)]
pub(super) struct SalvagedColumn {
    file: WornFile,
    /// The number of data bytes.
    pub(super) len: u64,
    /// The row size in bytes, according to the header.
    pub(super) row_bytes: Option<u32>,
    /// For each block, whether its checksum matches the one in the index.
    sound: Vec<bool>,
}

impl SalvagedColumn {
    /// Finds the column of a kind that the index names.
    ///
    /// If the index names none, this is the column of the oldest generation, because a newer one may be unfinished. If
    /// the index is damaged, the column has all the rows of its file, because the index may be that of an earlier commit.
    pub(super) fn find(
        folder: &Path,
        kind: ColumnKind,
        meta: Option<&Meta>,
        schema: Option<&Schema>,
        is_whole: bool,
    ) -> Result<Option<SalvagedColumn>> {
        let no_schema = Schema::default();
        let schema = schema.unwrap_or(&no_schema);
        let spec = meta.and_then(|meta| ColumnSpec::of(kind, meta, schema).ok());
        let path = match &spec {
            Some(spec) => Some(spec.path(folder)),
            None => oldest(folder, kind)?,
        };
        let file = path.map(|path| File::open(&path)).transpose();
        let Some(file) = if_sound(file)?.flatten() else {
            return Ok(None);
        };
        let len = file.len()?;
        let file = WornFile::new(file, len);
        let mut start = Vec::new();
        file.read(0..HEADER_BYTES as u64, &mut start)?;
        Header::refuse_other(file.path(), &start)?;
        let header = Header::decode(&start);
        // An intact header reveals a file from another store. The schema is not verified.
        let is_foreign = |header: &Header| {
            let row_bytes = header.row_bytes;
            let expected = spec.map_or(*header, |spec| spec.header);
            header.kind != kind
                || Header {
                    row_bytes,
                    ..expected
                } != *header
        };
        let Some(bytes) = len.checked_sub(HEADER_BYTES as u64) else {
            return Ok(None);
        };
        if header.as_ref().is_some_and(is_foreign) {
            return Ok(None);
        }
        let row_bytes = header.map(|header| header.row_bytes);
        // The index says how long the column is, if it can be believed. A row size in the header is better than the one
        // of the schema.
        let committed = match (meta, row_bytes) {
            _ if !is_whole => bytes,
            (Some(meta), Some(row_bytes)) if row_bytes > 0 => {
                meta.contents.saturating_mul(row_bytes.into())
            }
            _ => spec.map_or(bytes, |spec| spec.len),
        };
        let len = bytes.min(committed);
        Ok(Some(SalvagedColumn {
            file: file.with_len(HEADER_BYTES as u64 + len),
            len,
            row_bytes,
            sound: Vec::new(),
        }))
    }

    pub(super) fn file(&self) -> &WornFile {
        &self.file
    }

    /// Reads each block and records whether `is_sum` accepts its checksum.
    pub(super) fn compare_sums(&mut self, is_sum: impl Fn(u64, u64) -> Result<bool>) -> Result<()> {
        for block in 0..self.len.div_ceil(BLOCK_BYTES) {
            let start = block * BLOCK_BYTES;
            let bytes = self.read(start..self.len.min(start + BLOCK_BYTES))?;
            self.sound.push(match bytes {
                Some(bytes) => is_sum(block, sum(&bytes))?,
                None => false,
            });
        }
        Ok(())
    }

    /// The bytes in `range`, and whether the checksums of their blocks match.
    ///
    /// Returns `None` if a byte is missing or cannot be read.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<Option<(Vec<u8>, bool)>> {
        let mut blocks = range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES);
        let is_sound = |block: u64| {
            let block = usize::try_from(block).ok();
            block.and_then(|block| self.sound.get(block)) == Some(&true)
        };
        let is_sound = blocks.all(is_sound);
        Ok(self.read(range)?.map(|bytes| (bytes, is_sound)))
    }

    /// Row `index` of a column with rows of `row_bytes` bytes, as [`SalvagedColumn::bytes`] returns it.
    pub(super) fn row(&self, index: u32, row_bytes: usize) -> Result<Option<(Vec<u8>, bool)>> {
        let start = u64::from(index) * row_bytes as u64;
        self.bytes(start..start + row_bytes as u64)
    }

    fn read(&self, range: Range<u64>) -> Result<Option<Vec<u8>>> {
        if range.start > range.end || range.end > self.len {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let header = HEADER_BYTES as u64;
        let is_read = self
            .file
            .read(header + range.start..header + range.end, &mut bytes)?;
        Ok(is_read.then_some(bytes))
    }
}

/// The file of a kind with the lowest generation.
fn oldest(folder: &Path, kind: ColumnKind) -> Result<Option<PathBuf>> {
    let name = kind.file_name(0);
    let stem = name.trim_end_matches('0');
    let files = if_sound(disk::list(folder))?.unwrap_or_default();
    let generations = files.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(stem)?.parse::<u32>().ok()
    });
    let oldest = generations.min();
    Ok(oldest.map(|generation| folder.join(kind.file_name(generation))))
}
