//! A folder of files that is being written.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::dedup::encoder::{Encoder, Outlet};
use crate::dedup::error::{Error, Result, is_full};
use crate::dedup::mark::{DocumentMark, MarkColumns};
use crate::dedup::modes::{create_file, create_folder, create_folders};
use crate::dedup::record_writer::RecordWriter;
use crate::dedup::table_copier::TableCopier;
use crate::publish::durable::sync_tree;
use crate::publish::error::WithPath;
use crate::{Nth, OpenedFile, ReadFile, encoded_as, is_compressed, open_file};

/// The files so far.
pub(crate) struct OutputTree {
    root: PathBuf,
    /// For each argument, its number and the place of what is below it.
    bases: HashMap<PathBuf, (usize, PathBuf)>,
    /// A file of records that began, and had no document yet.
    pending: Option<OpenedFile>,
    /// The current file of records, unless it is a Parquet file.
    stream: Option<(RecordWriter, PathBuf)>,
    /// The Parquet files, once there is one.
    tables: Option<TableCopier>,
    /// The columns that all records receive.
    mark: Option<MarkColumns>,
}

impl OutputTree {
    /// Creates the folder `root`, which must not exist, for what is below `arguments`.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn new(
        root: &Path,
        arguments: &[PathBuf],
        mark: Option<&MarkColumns>,
    ) -> Result<OutputTree> {
        let one = match arguments {
            [folder] if folder.is_dir() => Some(&**folder),
            _ => None,
        };
        create_folder(root, one).of(root)?;
        let mut bases = HashMap::new();
        for (number, argument) in arguments.iter().enumerate() {
            let base = || match one {
                Some(_) => PathBuf::new(),
                None => base(argument),
            };
            let first = bases.entry(argument.clone());
            first.or_insert_with(|| (number, base()));
        }
        Ok(OutputTree {
            bases,
            pending: None,
            root: root.to_owned(),
            stream: None,
            tables: None,
            mark: mark.cloned(),
        })
    }

    /// Starts a file of records. If it has no header, it is created once it has a document: an empty file would look like
    /// a loss where its records could not be read.
    ///
    /// # Errors
    ///
    /// Those of the system; another file has its place.
    pub(crate) fn open(&mut self, opened: &OpenedFile) -> Result<()> {
        self.close()?;
        if opened.table.is_none() && opened.header.is_empty() {
            self.pending = Some(opened.clone());
            return Ok(());
        }
        self.begin(opened)
    }

    /// Passes over a document of the current file, which is dropped.
    ///
    /// # Errors
    ///
    /// Those of [`open`](OutputTree::open).
    pub(crate) fn pass(&mut self) -> Result<()> {
        let pending = self.pending.take();
        pending.map_or(Ok(()), |opened| self.begin(&opened))
    }

    /// Creates a file of records.
    fn begin(&mut self, opened: &OpenedFile) -> Result<()> {
        let (file, path) = self.create(&opened.source)?;
        if let Some(table) = &opened.table {
            if self.tables.is_none() {
                self.tables = Some(TableCopier::begin(self.mark.as_ref())?);
            }
            if let Some(tables) = &mut self.tables {
                tables.file(path.clone(), path)?;
                tables.open(&opened.source, table.clone())?;
            }
            return Ok(());
        }
        let mut stream = RecordWriter::new(Outlet::file(file), &path, opened.format).of(&path)?;
        stream.open(opened).of(&path)?;
        self.stream = Some((stream, path));
        Ok(())
    }

    /// Writes a record of the current file. A row of a table gets another text if there is one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn record(
        &mut self,
        record: &[u8],
        nth: Nth,
        mark: Option<&DocumentMark>,
        text: Option<&str>,
    ) -> Result<()> {
        self.pass()?;
        match (&mut self.stream, &mut self.tables) {
            (Some((stream, path)), _) => Ok(stream.write(record).of(path)?),
            (None, Some(tables)) => tables.keep(nth, mark, text),
            (None, None) => Err(Error::Defect {
                what: "a record came before its file",
            }),
        }
    }

    /// Copies a file. Returns whether it has grown since it was read, as logs do. In that case, the bytes are copied that it
    /// had then, because they are the text that was judged.
    ///
    /// # Errors
    ///
    /// Those of the system; another file has its place; the file has changed in another way.
    pub(crate) fn copy(&mut self, source: &Path, as_read: &ReadFile) -> Result<bool> {
        let size = as_read.size;
        let (mut copy, place) = self.create(source)?;
        let mut file = open_file(source).of(source)?;
        let copied = match io::copy(&mut (&mut file).take(size), &mut copy) {
            Err(error) if is_full(&error) => Err(error).of(&place)?,
            copied => copied.of(source)?,
        };
        let metadata = file.metadata().of(source)?;
        let is_longer = metadata.len() > size && !is_compressed(source);
        let has_grown = is_longer && as_read.hash == Some(hash_of_start(&place, size)?);
        // Files in /proc have more bytes than their size says.
        let has_more = size == 0 && !has_grown && file.read(&mut [0]).of(source)? > 0;
        let is_as_read = as_read.is(source, &metadata);
        if copied != size || has_more || !is_as_read && !has_grown {
            let path = source.to_owned();
            return Err(Error::Changed { path });
        }
        if let Some(time) = as_read.modified {
            copy.set_modified(time).of(&place)?;
        }
        Ok(has_grown)
    }

    /// Writes another text in place of that of the file `source`, in this encoding and compressed as the file is.
    ///
    /// # Errors
    ///
    /// Those of the system; another file has its place.
    pub(crate) fn write(&self, source: &Path, text: &str, encoding: &str) -> Result<()> {
        let (file, place) = self.create(source)?;
        let written = || {
            let mut encoder = Encoder::new(Outlet::file(file), &place, false)?;
            encoder.write(&encoded_as(text, encoding))?;
            encoder.finish()
        };
        Ok(written().of(&place)?)
    }

    /// Finishes the folder durably. Calls `wait` from time to time while that takes long.
    ///
    /// # Errors
    ///
    /// Those of the system and of `wait`.
    pub(crate) fn finish(mut self, wait: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.close()?;
        if let Some(tables) = self.tables.take() {
            tables.finish(wait)?;
        }
        Ok(sync_tree(&self.root)?)
    }

    fn close(&mut self) -> Result<()> {
        self.pending = None;
        if let Some((stream, path)) = self.stream.take() {
            stream.finish().of(&path)?;
        }
        Ok(())
    }

    /// Creates the file for the contents of `source`.
    fn create(&self, source: &Path) -> Result<(File, PathBuf)> {
        // The place is below the first argument that leads to the file. `../../c` is not below `..`.
        let above = source.ancestors().filter_map(|above| {
            let (number, base) = self.bases.get(above)?;
            let below = source.strip_prefix(above).ok()?;
            let is_below = !below.components().any(leads_out);
            is_below.then_some((number, base, below))
        });
        let first = above.min_by_key(|(number, ..)| *number);
        let place = first.map(|(_, base, below)| {
            // Joining an empty path would turn the name of a file into that of a folder.
            let is_itself = below.as_os_str().is_empty();
            if is_itself {
                base.clone()
            } else {
                base.join(below)
            }
        });
        let Some(place) = place.filter(|place| place.file_name().is_some()) else {
            let what = "a file came that no input leads to";
            return Err(Error::Defect { what });
        };
        let path = self.root.join(&place);
        if let Some(folder) = path.parent() {
            create_folders(folder, source.parent()).of(folder)?;
        }
        match create_file(&path, source) {
            Ok(file) => Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Error::SamePlace {
                source: source.to_owned(),
                place,
            }),
            Err(error) => Ok(Err(error).of(&path)?),
        }
    }
}

/// Returns the place of one of several arguments: its path as given, or only its last part if the path leads out of the
/// current folder.
fn base(argument: &Path) -> PathBuf {
    if argument.components().any(leads_out) {
        return argument.file_name().map(PathBuf::from).unwrap_or_default();
    }
    let parts = argument.components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// Whether a part of a path leads out of the folder that it counts from.
fn leads_out(part: Component<'_>) -> bool {
    !matches!(part, Component::Normal(_) | Component::CurDir)
}

/// The hash of the first bytes of a file.
fn hash_of_start(source: &Path, size: u64) -> Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    let start = open_file(source).of(source)?.take(size);
    hasher.update_reader(start).of(source)?;
    Ok(*hasher.finalize().as_bytes())
}
