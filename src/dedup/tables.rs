//! Rows of files of columns, written on a thread of their own.
//!
//! Rows are known by their numbers alone. The columns of those that are kept are copied from the table as it was
//! read, while further rows are judged.

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

use crate::corpus::{self, Cells, Failure, Filtered, Nth, Table, TableOrigin, TableSource};
use crate::dedup::encoder::{Encoder, Outlet};
use crate::dedup::error::{Error, Result};
use crate::dedup::mark::{Columns, Mark};
use crate::publish::error::Of;
use crate::publish::manifest::Written;

/// Rows that the thread is told of together, about.
const ROWS: usize = 256;

/// How long to wait for the thread before the rest is looked after.
const TICK: Duration = Duration::from_millis(20);

/// What is still to be copied, and by whom. Dropped, it leaves unfinished files.
pub(crate) struct Tables {
    /// Nothing once all is said.
    jobs: Option<Sender<Job>>,
    /// What the thread ends with. The thread is not joined: when it has told that, its allocator still gives memory back,
    /// and nobody needs to wait for it.
    ended: Receiver<Result<Written>>,
    is_stopped: Arc<AtomicBool>,
    /// Whether rows get columns.
    is_marking: bool,
    reading: Option<Reading>,
}

/// What the thread is told.
enum Job {
    /// A file at this path begins, which becomes the one of this name.
    File(PathBuf, PathBuf),
    /// Rows of this table come next.
    Table(PathBuf, Arc<TableSource>),
    /// Which ones of the next rows of a group are kept.
    Rows(usize, Vec<bool>),
    /// A group ends, whose rows that are kept have these marks, or nulls.
    EndGroup(usize, Vec<Option<Mark>>),
}

/// How far a table was judged.
struct Reading {
    table: Arc<TableSource>,
    group: usize,
    /// Rows before those that the thread was not told of.
    before: u64,
    /// Rows before the next group.
    end: u64,
    kept: Vec<bool>,
    marks: Vec<Option<Mark>>,
}

impl Tables {
    /// Begins with nothing. Rows get the columns of their marks, if there are any; files are written as `outlet` does.
    ///
    /// # Errors
    ///
    /// The system allows no further thread.
    pub(crate) fn begin(mark: Option<&Columns>, outlet: fn(File) -> Outlet) -> Result<Tables> {
        let (sender, jobs) = channel();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let flag = is_stopped.clone();
        let thread = thread::Builder::new().name("tables".to_owned());
        let columns = mark.cloned();
        let (ending, ended) = channel();
        let started = thread.spawn(move || {
            // Whoever no longer listens does not need it.
            drop(ending.send(Copier::new(flag, columns, outlet).run(&jobs)));
        });
        started.map_err(corpus::Error::thread)?;
        Ok(Tables {
            jobs: Some(sender),
            ended,
            is_stopped,
            is_marking: mark.is_some(),
            reading: None,
        })
    }

    /// Begins the file at `path`, which exists and is empty and becomes the one called `name`.
    ///
    /// # Errors
    ///
    /// Those of the files before it.
    pub(crate) fn file(&mut self, path: PathBuf, name: PathBuf) -> Result<()> {
        self.close()?;
        self.tell(Job::File(path, name))
    }

    /// Takes note of a table whose rows come next.
    ///
    /// # Errors
    ///
    /// Those of the tables before it.
    pub(crate) fn open(&mut self, source: &Path, table: Arc<TableSource>) -> Result<()> {
        self.close()?;
        self.tell(Job::Table(source.to_owned(), table.clone()))?;
        self.reading = Some(Reading {
            group: 0,
            before: 0,
            end: table.groups.first().copied().unwrap_or(0),
            table,
            kept: Vec::new(),
            marks: Vec::new(),
        });
        Ok(())
    }

    /// Keeps a row of the table, with its mark or nulls if rows get columns.
    ///
    /// # Errors
    ///
    /// Those of the groups before it.
    pub(crate) fn keep(&mut self, nth: Nth, mark: Option<&Mark>) -> Result<()> {
        let defect = || Error::Defect {
            what: "a row came that its table does not have",
        };
        loop {
            let reading = self.reading.as_mut().ok_or_else(defect)?;
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
            reading.kept.resize(at + 1, false);
            reading.kept[at] = true;
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

    /// Ends all files, durably, and calls `wait` from time to time meanwhile. Says what a manifest is to list.
    ///
    /// # Errors
    ///
    /// What was read cannot be read again, those of the system, or those of `wait`.
    pub(crate) fn finish(mut self, wait: &mut dyn FnMut() -> Result<()>) -> Result<Written> {
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

    /// Tells of the rows of the group that are not told yet, and that it ends.
    fn end_group(&mut self) -> Result<()> {
        self.tell_rows()?;
        let Some(reading) = &mut self.reading else {
            return Ok(());
        };
        let job = Job::EndGroup(reading.group, take(&mut reading.marks));
        self.tell(job)
    }

    fn tell_rows(&mut self) -> Result<()> {
        let Some(reading) = self.reading.as_mut().filter(|it| !it.kept.is_empty()) else {
            return Ok(());
        };
        let kept = take(&mut reading.kept);
        reading.before += kept.len() as u64;
        let job = Job::Rows(reading.group, kept);
        self.tell(job)
    }

    fn tell(&mut self, job: Job) -> Result<()> {
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

    /// Waits for what the thread ends with.
    fn result(&self) -> Result<Written> {
        self.ended.recv().unwrap_or(Err(Error::Defect {
            what: "the thread that writes tables panicked",
        }))
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.jobs = None;
        // Nobody is left to be told when it failed.
        drop(self.result());
    }
}

/// What the thread does.
struct Copier {
    is_stopped: Arc<AtomicBool>,
    /// The columns that rows get.
    columns: Option<Columns>,
    outlet: fn(File) -> Outlet,
    /// The files that are done.
    written: Written,
    /// The file that is being written, and its path.
    file: Option<(Writing, PathBuf)>,
    /// The table that is being read, and its path.
    table: Option<(Table, PathBuf)>,
}

/// A file before and after its first table, which tells the schema.
enum Writing {
    Begun(Box<Encoded>),
    Rows(Box<Filtered<Encoded>>),
}

impl Copier {
    fn new(
        is_stopped: Arc<AtomicBool>,
        columns: Option<Columns>,
        outlet: fn(File) -> Outlet,
    ) -> Copier {
        Copier {
            is_stopped,
            columns,
            outlet,
            written: Written::new(),
            file: None,
            table: None,
        }
    }

    fn run(mut self, jobs: &Receiver<Job>) -> Result<Written> {
        for job in jobs {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            match job {
                Job::File(path, name) => {
                    self.end_file()?;
                    let file = File::options().write(true).open(&path).of(&path)?;
                    let encoder = Encoder::new((self.outlet)(file), &name, false).of(&path)?;
                    let encoded = Box::new(Encoded(encoder));
                    self.file = Some((Writing::Begun(encoded), path));
                }
                Job::Table(path, source) => self.begin_table(path, &source)?,
                Job::Rows(group, kept) => {
                    self.copy(group, |rows, origin| rows.take(origin, &kept))?;
                }
                Job::EndGroup(group, marks) => {
                    let further = self
                        .columns
                        .as_ref()
                        .map_or_else(Vec::new, |_| cells(&marks));
                    self.copy(group, |rows, origin| rows.end_group(origin, &further))?;
                }
            }
        }
        self.end_file()?;
        Ok(self.written)
    }

    fn begin_table(&mut self, path: PathBuf, source: &TableSource) -> Result<()> {
        let table = match source.open() {
            Ok(Some(table)) => table,
            Ok(None) => return Err(Error::Changed { path }),
            Err(source) => return Err(Error::input(path, source)),
        };
        if let Some((writing, output)) = self.file.take() {
            let rows = match writing {
                Writing::Begun(encoded) => {
                    let further = self.columns.as_ref().map_or_else(Vec::new, further);
                    let folder = output.parent().unwrap_or(Path::new("")).to_owned();
                    Box::new(Filtered::begin(*encoded, folder, &table, &further).of(&output)?)
                }
                Writing::Rows(rows) => rows,
            };
            self.file = Some((Writing::Rows(rows), output));
        }
        self.table = Some((table, path));
        Ok(())
    }

    /// Works on a group of the table.
    fn copy(
        &mut self,
        group: usize,
        work: impl FnOnce(&mut Filtered<Encoded>, TableOrigin<'_>) -> Result<(), Failure>,
    ) -> Result<()> {
        let (Some((Writing::Rows(rows), output)), Some((table, path))) =
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
        // The library that reads Parquet may panic where levels and values are damaged. What it was in is not used again.
        let worked = catch_unwind(AssertUnwindSafe(|| work(rows, origin)));
        match worked.unwrap_or_else(|_| Err(undecodable(group))) {
            Ok(()) => Ok(()),
            Err(Failure::Read(error)) => Err(Error::input(path.clone(), error)),
            Err(Failure::Written(error)) => Ok(Err(error).of(output)?),
            Err(Failure::Stopped) => Err(Error::Stopped),
        }
    }

    fn end_file(&mut self) -> Result<()> {
        match self.file.take() {
            None => Ok(()),
            Some((Writing::Rows(rows), path)) => {
                let finished = rows.finish().and_then(|encoded| encoded.0.finish());
                let listed = finished.of(&path)?;
                self.written.extend(listed.map(|listed| (path, listed)));
                Ok(())
            }
            Some((Writing::Begun(_), _)) => Err(Error::NoTable),
        }
    }
}

/// A group whose columns cannot be decoded.
fn undecodable(group: usize) -> Failure {
    Failure::Read(io::Error::other(format!(
        "its row group {} is damaged: its columns cannot be decoded; fetch it again, or write it anew",
        group + 1
    )))
}

/// The columns of marks.
fn further(columns: &Columns) -> Vec<(String, Cells)> {
    columns.names().iter().cloned().zip(cells(&[])).collect()
}

/// What marks say, column by column.
fn cells(marks: &[Option<Mark>]) -> Vec<Cells> {
    fn column<T>(marks: &[Option<Mark>], cell: impl Fn(&Mark) -> T) -> Vec<Option<T>> {
        let marks = marks.iter().map(Option::as_ref);
        marks.map(|mark| mark.map(&cell)).collect()
    }
    vec![
        Cells::Bool(column(marks, |mark| mark.is_kept)),
        Cells::Number(column(marks, |mark| mark.cluster.cast_signed())),
        Cells::Text(column(marks, |mark| mark.representative.clone())),
        Cells::Share(column(marks, |mark| mark.similarity)),
    ]
}

/// Bytes on their way into a file.
struct Encoded(Encoder);

impl Write for Encoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
