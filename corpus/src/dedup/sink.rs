//! The destination of kept documents.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::dedup::encoder::Outlet;
use crate::dedup::error::{Error, Result, Unfit};
use crate::dedup::mark::{DocumentMark, MarkColumns, has_fields, width};
use crate::dedup::record_writer::RecordWriter;
use crate::dedup::settings::{Destination, PathTerminator};
use crate::dedup::spool::FileSpool;
use crate::dedup::table_copier::TableCopier;
use crate::dedup::target::{OutputForm, OutputTarget};
use crate::dedup::tree::OutputTree;
use crate::publish::error::WithPath;
use crate::publish::escape;
use crate::{Format, Nth, OpenedFile, Origin, ReadFile, TextPlace, format_of_output};

/// The output that is being written.
pub(crate) struct OutputSink {
    kind: SinkKind,
    /// The name of the output file; `None` if it is a stream.
    name: Option<PathBuf>,
    /// The columns that all records receive.
    mark: Option<MarkColumns>,
    /// The format of the current records.
    format: Format,
    /// Where they have their text.
    text: TextPlace,
    /// The minimum number of cells of the current rows, if they have marks.
    wide: usize,
    /// The number of files that grew after they were read.
    grown: u64,
    /// The number of records that have nulls for marks.
    unmarked: u64,
}

enum SinkKind {
    Nothing,
    Records(RecordWriter),
    /// Rows of tables.
    Rows(TableCopier),
    Folder(Box<OutputTree>),
    List {
        list: BufWriter<Outlet>,
        ending: PathTerminator,
        /// What the list names.
        files: FileSpool,
        /// Where the list goes once it is certain.
        to: Option<DeferredList>,
    },
}

/// A list that waits in a file until all files are known to be as they were read.
pub(crate) struct DeferredList {
    stream: Box<dyn Write + Send>,
    file: PathBuf,
}

impl DeferredList {
    /// Writes the list to its stream.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn write(mut self) -> Result<()> {
        let mut list = File::open(&self.file).of(&self.file)?;
        let copied = io::copy(&mut list, &mut self.stream);
        written(copied.and_then(|_| self.stream.flush()), None)
    }
}

impl OutputSink {
    /// Starts to write `target` at `path`, or to its stream.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn new(
        target: &OutputTarget,
        to: Destination,
        path: &Path,
        inputs: &[PathBuf],
        mark: Option<&MarkColumns>,
    ) -> Result<OutputSink> {
        let name = target.path.clone();
        let of = |kind, name| OutputSink {
            kind,
            name,
            mark: mark.cloned(),
            format: Format::Text,
            text: TextPlace::None,
            wide: 0,
            grown: 0,
            unmarked: 0,
        };
        // A list for a stream waits in a file until all files in it are known to be unchanged.
        let mut later = None;
        let place = match to {
            Destination::Nowhere => return Ok(of(SinkKind::Nothing, name)),
            Destination::Path(_) if target.form == OutputForm::Folder => {
                return Ok(of(
                    SinkKind::Folder(Box::new(OutputTree::new(path, inputs, mark)?)),
                    name,
                ));
            }
            Destination::Path(_) => Outlet::file(File::create_new(path).of(path)?),
            Destination::Stream(stream) if matches!(target.form, OutputForm::List(_)) => {
                later = Some(DeferredList {
                    stream,
                    file: path.to_owned(),
                });
                Outlet::file(File::create_new(path).of(path)?)
            }
            Destination::Stream(stream) => Outlet::Stream(stream),
        };
        let kind = if let OutputForm::List(ending) = target.form {
            SinkKind::List {
                list: BufWriter::new(place),
                ending,
                files: FileSpool::begin(path.parent().unwrap_or(Path::new(".")))?,
                to: later,
            }
        } else {
            let named = name.as_deref().unwrap_or(Path::new(""));
            if target.is_of_tables {
                let mut tables = TableCopier::begin(mark)?;
                tables.file(path.to_owned(), named.to_owned())?;
                return Ok(of(SinkKind::Rows(tables), name));
            }
            let stream = RecordWriter::new(place, named, format_of_output(named));
            SinkKind::Records(written(stream, name.as_deref())?)
        };
        Ok(of(kind, name))
    }

    /// Starts a file of records.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn open(&mut self, opened: &OpenedFile) -> Result<()> {
        self.format = opened.format;
        self.text = opened.text.clone();
        let marked;
        let opened = match &self.mark {
            Some(columns) => {
                self.wide = match &opened.header[..] {
                    [] => 0,
                    header => width(opened.format, header),
                };
                marked = OpenedFile {
                    header: columns.header(opened.format, &opened.header),
                    ..opened.clone()
                };
                &marked
            }
            None => opened,
        };
        match &mut self.kind {
            SinkKind::Records(stream) => written(stream.open(opened), self.name.as_deref()),
            SinkKind::Folder(tree) => tree.open(opened),
            SinkKind::Rows(tables) => match &opened.table {
                Some(table) => tables.open(&opened.source, table.clone()),
                None => Err(Error::Defect {
                    what: "a file without columns came where rows are written",
                }),
            },
            SinkKind::List { .. } | SinkKind::Nothing => Ok(()),
        }
    }

    /// Writes a record that is not a document, with nulls for marks, if all records have marks and this one can have
    /// them.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn keep_unread(&mut self, record: &[u8], nth: Nth) -> Result<()> {
        if self.mark.is_none() || !has_fields(self.format, record, self.wide) {
            return Ok(());
        }
        self.unmarked += 1;
        self.record(record, nth, None, None)
    }

    /// Writes a document, with its mark if all documents have one, and with another text if it gets one.
    ///
    /// # Errors
    ///
    /// Those of the system; the document does not fit.
    pub(crate) fn keep(
        &mut self,
        origin: &Origin,
        mark: Option<&DocumentMark>,
        text: Option<&str>,
    ) -> Result<()> {
        match (origin.record, text) {
            (Some(nth), Some(text)) if !origin.verbatim.is_empty() => {
                let record = &origin.verbatim;
                let changed = self
                    .text
                    .with_text(self.format, record, text, origin.encoding);
                let changed = changed.ok_or_else(|| Error::Unfit {
                    place: origin.place(),
                    unfit: Unfit::NoText,
                })?;
                self.record(&changed, nth, mark, Some(text))
            }
            (Some(nth), text) => self.record(&origin.verbatim, nth, mark, text),
            (None, Some(text)) => self.text_file(origin, text),
            (None, None) => self.file(&origin.source, origin.read),
        }
    }

    fn record(
        &mut self,
        record: &[u8],
        nth: Nth,
        mark: Option<&DocumentMark>,
        text: Option<&str>,
    ) -> Result<()> {
        let marked = match &self.mark {
            Some(columns) if !record.is_empty() => {
                Some(columns.record(self.format, record, mark, self.wide))
            }
            _ => None,
        };
        let record = marked.as_deref().unwrap_or(record);
        match &mut self.kind {
            SinkKind::Nothing => Ok(()),
            SinkKind::Records(stream) => written(stream.write(record), self.name.as_deref()),
            SinkKind::Rows(tables) => tables.keep(nth, mark, text),
            SinkKind::Folder(tree) => tree.record(record, nth, mark, text),
            SinkKind::List { .. } => Err(Error::Defect {
                what: "a record came where a list is written",
            }),
        }
    }

    fn text_file(&mut self, origin: &Origin, text: &str) -> Result<()> {
        match &self.kind {
            SinkKind::Nothing => Ok(()),
            SinkKind::Folder(tree) => tree.write(&origin.source, text, origin.encoding),
            SinkKind::List { .. } | SinkKind::Records(_) | SinkKind::Rows(_) => {
                Err(Error::Defect {
                    what: "another text came where no files are written",
                })
            }
        }
    }

    fn file(&mut self, path: &Path, file: Option<ReadFile>) -> Result<()> {
        // Streams are never written as files.
        let known = file.ok_or(Error::Defect {
            what: "a stream came where files are written",
        });
        match &mut self.kind {
            SinkKind::Nothing => Ok(()),
            SinkKind::Folder(tree) => {
                self.grown += u64::from(tree.copy(path, &known?)?);
                Ok(())
            }
            SinkKind::List {
                list,
                ending,
                files,
                ..
            } => {
                files.add(path, &known?)?;
                written(put(list, path, *ending), self.name.as_deref())
            }
            SinkKind::Records(_) | SinkKind::Rows(_) => Err(Error::Defect {
                what: "a file came where records are written",
            }),
        }
    }

    /// Passes over a document that is dropped.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn pass(&mut self) -> Result<()> {
        match &mut self.kind {
            SinkKind::Folder(tree) => tree.pass(),
            _ => Ok(()),
        }
    }

    /// Returns the number of records that were written with nulls for marks.
    pub(crate) fn unmarked(&self) -> u64 {
        self.unmarked
    }

    /// Returns the number of files that were copied as they were read, and have grown since.
    pub(crate) fn grown(&self) -> u64 {
        self.grown
    }

    /// Finishes the output durably, and returns a list that is to be written to a stream. Calls `wait` from time to time
    /// while that takes long.
    ///
    /// # Errors
    ///
    /// Those of the system and of `wait`; a file that a list names has changed since it was read.
    pub(crate) fn finish(
        self,
        wait: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<DeferredList>> {
        let finished = match self.kind {
            SinkKind::Nothing => Ok(()),
            SinkKind::Records(stream) => stream.finish(),
            SinkKind::Folder(tree) => return tree.finish(wait).map(|()| None),
            SinkKind::Rows(tables) => return tables.finish(wait).map(|()| None),
            SinkKind::List {
                list, files, to, ..
            } => {
                let finished = match list.into_inner() {
                    Ok(outlet) => outlet.finish(),
                    Err(error) => Err(error.into_error()),
                };
                written(finished, self.name.as_deref())?;
                return files.check(wait).map(|()| to);
            }
        };
        written(finished, self.name.as_deref()).map(|()| None)
    }
}

/// Writes the path of a file.
fn put(list: &mut BufWriter<Outlet>, path: &Path, ending: PathTerminator) -> io::Result<()> {
    let name = path.as_os_str().as_encoded_bytes();
    if ending == PathTerminator::Nul {
        list.write_all(name)?;
        return list.write_all(b"\0");
    }
    // Bytes that are not UTF-8 stay as they are.
    for chunk in name.utf8_chunks() {
        list.write_all(escape(chunk.valid()).as_bytes())?;
        list.write_all(chunk.invalid())?;
    }
    list.write_all(b"\n")
}

/// Adds the name of the output to an error.
fn written<T>(written: io::Result<T>, name: Option<&Path>) -> Result<T> {
    match name {
        Some(name) => Ok(written.of(name)?),
        None => written.map_err(Error::stream),
    }
}
