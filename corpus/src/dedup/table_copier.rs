//! Rows of Parquet files, written on a separate thread.
//!
//! Rows are identified by their numbers alone. The columns of kept rows are copied from the table as it was read, while
//! further rows are judged.

use std::fs::File;
use std::io::{self, Write};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::dedup::encoder::{Encoder, Outlet};
use crate::dedup::error::{Error, Result};
use crate::dedup::mark::{DocumentMark, MarkColumns};
use crate::publish::error::WithPath;
use crate::{
    AddedCells, CopyFailure, FilteredTable, Nth, ParquetTable, RowText, TableOrigin, TableSource,
};

/// The approximate number of rows to send to the thread at a time.
const ROWS: usize = 256;

/// How long to wait for the thread between two calls of `wait`.
const TICK: Duration = Duration::from_millis(20);

/// The rows still to be copied, and the thread that copies them. If this is dropped, it leaves unfinished files.
pub(crate) struct TableCopier {
    /// `None` once all jobs are sent.
    jobs: Option<Sender<CopyJob>>,
    /// Receives the result of the thread. The thread is not joined: after it has sent its result, its allocator still
    /// returns memory, which need not be waited for.
    ended: Receiver<Result<()>>,
    is_stopped: Arc<AtomicBool>,
    /// Whether rows get further columns.
    is_marking: bool,
    reading: Option<TableCursor>,
}

/// A message to the thread.
enum CopyJob {
    /// A file at this path begins, which becomes the file of this name.
    File(PathBuf, PathBuf),
    /// Rows of this table follow.
    Table(PathBuf, Arc<TableSource>),
    /// Which of the next rows of a group are kept, and the texts of those that are changed.
    Rows(usize, Vec<bool>, Vec<RowText>),
    /// A group ends, and its kept rows have these marks, or nulls.
    EndGroup(usize, Vec<Option<DocumentMark>>),
}

/// How far a table has been judged.
struct TableCursor {
    table: Arc<TableSource>,
    group: usize,
    /// The number of rows before those that were not sent yet.
    before: u64,
    /// The number of rows before the next group.
    end: u64,
    kept: Vec<bool>,
    texts: Vec<RowText>,
    marks: Vec<Option<DocumentMark>>,
}

impl TableCopier {
    /// Starts without files. With `mark`, rows get the columns of their marks.
    ///
    /// # Errors
    ///
    /// The system allows no further thread.
    pub(crate) fn begin(mark: Option<&MarkColumns>) -> Result<TableCopier> {
        let (sender, jobs) = channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let flag = is_stopped.clone();
        let thread = thread::Builder::new().name("tables".to_owned());
        let columns = mark.cloned();
        let (ending, ended) = channel();
        let started = thread.spawn(move || {
            // If this fails, the receiver is gone and needs no result.
            drop(ending.send(CopyThread::new(flag, columns).run(&jobs)));
        });
        started.map_err(crate::Error::thread)?;
        Ok(TableCopier {
            jobs: Some(sender),
            ended,
            is_stopped,
            is_marking: mark.is_some(),
            reading: None,
        })
    }

    /// Starts the file at `path`, which exists and is empty, and becomes the file `name`.
    ///
    /// # Errors
    ///
    /// Those of earlier files.
    pub(crate) fn file(&mut self, path: PathBuf, name: PathBuf) -> Result<()> {
        self.close()?;
        self.tell(CopyJob::File(path, name))
    }

    /// Starts a table whose rows follow.
    ///
    /// # Errors
    ///
    /// Those of earlier tables.
    pub(crate) fn open(&mut self, source: &Path, table: Arc<TableSource>) -> Result<()> {
        self.close()?;
        self.tell(CopyJob::Table(source.to_owned(), table.clone()))?;
        self.reading = Some(TableCursor {
            group: 0,
            before: 0,
            end: table.groups.first().copied().unwrap_or(0),
            table,
            kept: Vec::new(),
            texts: Vec::new(),
            marks: Vec::new(),
        });
        Ok(())
    }

    /// Keeps a row of the table, with its mark or nulls if rows get further columns, and with another text if it gets one.
    ///
    /// # Errors
    ///
    /// Those of earlier groups.
    pub(crate) fn keep(
        &mut self,
        nth: Nth,
        mark: Option<&DocumentMark>,
        text: Option<&str>,
    ) -> Result<()> {
        let defect = || Error::Defect {
            what: "a row came that its table does not have",
        };
        loop {
            let reading = self.reading.as_mut().ok_or_else(defect)?;
            // The row is in a later group, so the present one ends, maybe without a kept row.
            if nth.number() > reading.end {
                let group = reading.group + 1;
                let rows = *reading.table.groups.get(group).ok_or_else(defect)?;
                self.end_group()?;
                let reading = self.reading.as_mut().ok_or_else(defect)?;
                reading.group = group;
                reading.before = reading.end;
                reading.end += rows;
                continue;
            }
            let at = nth.number().checked_sub(reading.before + 1);
            let at = at.and_then(|at| usize::try_from(at).ok());
            let at = at.ok_or_else(defect)?;
            // Rows that are skipped here are dropped.
            reading.kept.resize(at + 1, false);
            reading.kept[at] = true;
            reading
                .texts
                .extend(text.map(|text| (at, text.as_bytes().to_vec())));
            if self.is_marking {
                reading.marks.push(mark.cloned());
            }
            return if at + 1 < ROWS {
                Ok(())
            } else {
                self.tell_rows()
            };
        }
    }

    /// Finishes all files durably, and calls `wait` from time to time meanwhile.
    ///
    /// # Errors
    ///
    /// A table cannot be read again; those of the system and of `wait`.
    pub(crate) fn finish(mut self, wait: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.close()?;
        self.jobs = None;
        loop {
            match self.ended.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) => wait()?,
                Ok(written) => return written,
                Err(RecvTimeoutError::Disconnected) => return self.result(),
            }
        }
    }

    fn close(&mut self) -> Result<()> {
        self.end_group()?;
        self.reading = None;
        Ok(())
    }

    /// Sends the remaining rows of the group, and its end.
    fn end_group(&mut self) -> Result<()> {
        self.tell_rows()?;
        let Some(reading) = &mut self.reading else {
            return Ok(());
        };
        let job = CopyJob::EndGroup(reading.group, take(&mut reading.marks));
        self.tell(job)
    }

    fn tell_rows(&mut self) -> Result<()> {
        let Some(reading) = self.reading.as_mut().filter(|it| !it.kept.is_empty()) else {
            return Ok(());
        };
        let kept = take(&mut reading.kept);
        reading.before += kept.len() as u64;
        let job = CopyJob::Rows(reading.group, kept, take(&mut reading.texts));
        self.tell(job)
    }

    fn tell(&mut self, job: CopyJob) -> Result<()> {
        let told = self
            .jobs
            .as_ref()
            .is_some_and(|jobs| jobs.send(job).is_ok());
        if told {
            Ok(())
        } else {
            self.result().map(drop)
        }
    }

    /// Waits for the result of the thread.
    fn result(&self) -> Result<()> {
        self.ended.recv().unwrap_or(Err(Error::Defect {
            what: "the thread that writes tables panicked",
        }))
    }
}

impl Drop for TableCopier {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.jobs = None;
        // The result is dropped: nothing can report an error here.
        drop(self.result());
    }
}

/// The state of the thread.
struct CopyThread {
    is_stopped: Arc<AtomicBool>,
    /// The columns that rows get.
    columns: Option<MarkColumns>,
    /// The current output file, and its path.
    file: Option<(OutputTable, PathBuf)>,
    /// The current table, the index of its text column, and its path.
    table: Option<(ParquetTable, usize, PathBuf)>,
}

/// A file before and after its first table, which determines the schema.
enum OutputTable {
    Begun(Box<EncoderWriter>),
    Rows(Box<FilteredTable<EncoderWriter>>),
}

impl CopyThread {
    fn new(is_stopped: Arc<AtomicBool>, columns: Option<MarkColumns>) -> CopyThread {
        CopyThread {
            is_stopped,
            columns,
            file: None,
            table: None,
        }
    }

    fn run(mut self, jobs: &Receiver<CopyJob>) -> Result<()> {
        for job in jobs {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            match job {
                CopyJob::File(path, name) => {
                    self.end_file()?;
                    let file = File::options().write(true).open(&path).of(&path)?;
                    let encoder = Encoder::new(Outlet::file(file), &name, false).of(&path)?;
                    let encoded = Box::new(EncoderWriter(encoder));
                    self.file = Some((OutputTable::Begun(encoded), path));
                }
                CopyJob::Table(path, source) => self.begin_table(path, &source)?,
                CopyJob::Rows(group, kept, texts) => {
                    self.copy(group, |rows, origin, text| {
                        rows.take(origin, &kept, text, texts)
                    })?;
                }
                CopyJob::EndGroup(group, marks) => {
                    let further = self
                        .columns
                        .as_ref()
                        .map_or_else(Vec::new, |_| cells(&marks));
                    self.copy(group, |rows, origin, _| rows.end_group(origin, &further))?;
                }
            }
        }
        self.end_file()?;
        Ok(())
    }

    fn begin_table(&mut self, path: PathBuf, source: &TableSource) -> Result<()> {
        let table = match source.open() {
            Ok(Some(table)) => table,
            Ok(None) => return Err(Error::Changed { path }),
            Err(error) => return Err(Error::input(path, error)),
        };
        // The first table of a file decides its schema.
        if let Some((writing, output)) = self.file.take() {
            let rows = match writing {
                OutputTable::Begun(encoded) => {
                    let further = self.columns.as_ref().map_or_else(Vec::new, further);
                    let folder = output.parent().unwrap_or(Path::new("")).to_owned();
                    Box::new(FilteredTable::begin(*encoded, folder, &table, &further).of(&output)?)
                }
                OutputTable::Rows(rows) => rows,
            };
            self.file = Some((OutputTable::Rows(rows), output));
        }
        self.table = Some((table, source.text, path));
        Ok(())
    }

    /// Works on a group of the table, with the index of its text column.
    fn copy(
        &mut self,
        group: usize,
        work: impl FnOnce(
            &mut FilteredTable<EncoderWriter>,
            TableOrigin<'_>,
            usize,
        ) -> Result<(), CopyFailure>,
    ) -> Result<()> {
        let (Some((OutputTable::Rows(rows), output)), Some((table, text, path))) =
            (&mut self.file, &self.table)
        else {
            let what = "rows came before their table";
            return Err(Error::Defect { what });
        };
        let goes_on = || !self.is_stopped.load(Ordering::Relaxed);
        let origin = TableOrigin {
            table,
            group,
            goes_on: &goes_on,
        };
        // The Parquet library may panic if levels and values are damaged. The state that it worked on is not used
        // again.
        let worked = catch_unwind(AssertUnwindSafe(|| work(rows, origin, *text)));
        match worked.unwrap_or_else(|_| Err(undecodable(group))) {
            Ok(()) => Ok(()),
            Err(CopyFailure::Read(error)) => Err(Error::input(path.clone(), error)),
            Err(CopyFailure::Written(error)) => Ok(Err(error).of(output)?),
            Err(CopyFailure::Stopped) => Err(Error::Stopped),
        }
    }

    fn end_file(&mut self) -> Result<()> {
        match self.file.take() {
            None => Ok(()),
            Some((OutputTable::Rows(rows), path)) => {
                let finished = rows.finish().and_then(|encoded| encoded.0.finish());
                Ok(finished.of(&path)?)
            }
            Some((OutputTable::Begun(_), _)) => Err(Error::NoTable),
        }
    }
}

/// Returns the failure of a group whose columns cannot be decoded.
fn undecodable(group: usize) -> CopyFailure {
    CopyFailure::Read(io::Error::other(format!(
        "its row group {} is damaged: its columns cannot be decoded; download or write it again",
        group + 1
    )))
}

/// Returns the columns of marks, without cells.
fn further(columns: &MarkColumns) -> Vec<(String, AddedCells)> {
    columns.names().iter().cloned().zip(cells(&[])).collect()
}

/// Returns the cells of marks, column by column.
fn cells(marks: &[Option<DocumentMark>]) -> Vec<AddedCells> {
    fn column<T>(
        marks: &[Option<DocumentMark>],
        cell: impl Fn(&DocumentMark) -> T,
    ) -> Vec<Option<T>> {
        let marks = marks.iter().map(Option::as_ref);
        marks.map(|mark| mark.map(&cell)).collect()
    }
    vec![
        AddedCells::Bool(column(marks, |mark| mark.is_kept)),
        AddedCells::Number(column(marks, |mark| mark.number.cast_signed())),
        AddedCells::Text(column(marks, |mark| mark.key.clone())),
        AddedCells::Share(column(marks, |mark| mark.share)),
    ]
}

/// An encoder as a writer of bytes.
struct EncoderWriter(Encoder);

impl Write for EncoderWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
