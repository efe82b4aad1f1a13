//! Programs that convert files to text.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ignore::gitignore::Gitignore;

use crate::glob::{Glob, of_any_case};
use crate::source::feed::open_file;
use std::time::Instant;

/// The default time limit for a file.
const TIME: Duration = Duration::from_secs(60);

/// The interval for checking whether a program has ended.
const TICK: Duration = Duration::from_millis(5);

/// How long to wait, at the end of a run, for programs that are being ended.
const END: Duration = Duration::from_secs(2);

/// The number of bytes of a program's error output to keep.
const SAID: u64 = 2000;

/// A program that extracts the text of files, such as PDF. It receives the file's path as its argument and the file as
/// its standard input. Its standard output is the document.
///
/// If it finds no text in a file, such as a scan, the file is skipped and reported. The program has a
/// [time limit](Converter::time_limit), and its output is bounded like any text. If the limit is reached or the run is
/// stopped, its process group is killed.
#[derive(Clone, Debug)]
pub struct Converter {
    program: PathBuf,
    globs: Vec<Glob>,
    /// All patterns together; `None` if there are none.
    only: Option<Gitignore>,
    time: Duration,
    running: Arc<RunningPrograms>,
}

/// The running programs of all clones of a converter.
#[derive(Debug, Default)]
struct RunningPrograms {
    is_stopped: AtomicBool,
    count: AtomicUsize,
}

/// Ends the running programs when it is dropped.
#[derive(Debug)]
pub(crate) struct ConverterGuard(Arc<RunningPrograms>);

impl Drop for ConverterGuard {
    fn drop(&mut self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        let since = Instant::now();
        while self.0.count.load(Ordering::Acquire) > 0 && since.elapsed() < END {
            thread::sleep(TICK);
        }
    }
}

/// Counts a running program until it is dropped.
struct RunningCount<'a>(&'a RunningPrograms);

impl Drop for RunningCount<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Release);
    }
}

impl Converter {
    /// Runs `program` for every file, with a time limit of a minute per file.
    pub fn new(program: impl Into<PathBuf>) -> Converter {
        Converter {
            program: program.into(),
            globs: Vec::new(),
            only: None,
            time: TIME,
            running: Arc::default(),
        }
    }

    /// Uses the program only for files whose paths match this pattern or another one of these, ignoring case: `*.pdf`
    /// matches `SCAN.PDF` as well.
    #[must_use]
    pub fn only(mut self, glob: Glob) -> Converter {
        self.globs.push(glob);
        self.only = of_any_case(&self.globs);
        self
    }

    /// Sets the time limit for a file.
    #[must_use]
    pub fn time_limit(self, time: Duration) -> Converter {
        Converter { time, ..self }
    }

    /// Returns the converter for a run with its own programs, which are ended when the guard is dropped.
    pub(crate) fn begin(&self) -> (Converter, ConverterGuard) {
        let running = Arc::<RunningPrograms>::default();
        let begun = Converter {
            running: running.clone(),
            ..self.clone()
        };
        (begun, ConverterGuard(running))
    }

    /// Whether the program is used for the file at `path`.
    pub(crate) fn fits(&self, path: &Path) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|globs| globs.matched(path, false).is_ignore())
    }

    /// Returns the text of a file, or its first `limit` + 1 bytes if it is larger.
    ///
    /// # Errors
    ///
    /// The program cannot be started, does not end in time, finds no text, or reports a failure.
    pub(crate) fn convert(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = open_file(path)?;
        self.running.count.fetch_add(1, Ordering::Acquire);
        let _counted = RunningCount(&self.running);
        let named = |what: &str| io::Error::other(format!("{}: {what}", self.program.display()));
        if self.running.is_stopped.load(Ordering::Relaxed) {
            return Err(named("stopped"));
        }
        let mut command = Command::new(&self.program);
        // A path that begins with a dash would be taken for an option.
        let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
        let below = is_option.then(|| Path::new(".").join(path));
        command
            .arg(below.as_deref().unwrap_or(path))
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        apart(&mut command);
        let mut child = command.spawn().map_err(|error| named(&error.to_string()))?;
        let ended = self.watch(&mut child, limit);
        let ended = ended.map_err(|error| named(&error.to_string()));
        if ended.is_err() {
            // This also ends the processes that it started.
            end(&mut child);
        }
        let ConverterOutput {
            status,
            text,
            stderr: said,
        } = ended?;
        let is_whole = text.len() as u64 <= limit;
        if is_whole && status.success() && text.trim_ascii().is_empty() {
            // Empty scans would be copies of one another.
            return Err(named("it found no text"));
        }
        if !is_whole || status.success() {
            return Ok(text);
        }
        let said = String::from_utf8_lossy(&said);
        let said: Vec<&str> = said.split_whitespace().collect();
        let colon = if said.is_empty() { "" } else { ": " };
        Err(named(&format!("{status}{colon}{}", said.join(" "))))
    }

    /// Waits for the program to end, and returns its output.
    fn watch(&self, child: &mut Child, limit: u64) -> io::Result<ConverterOutput> {
        let since = Instant::now();
        let text = read(child.stdout.take(), limit.saturating_add(1), false)?;
        let said = read(child.stderr.take(), SAID, true)?;
        let wait = |receiver: &Receiver<Vec<u8>>| -> io::Result<Vec<u8>> {
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(bytes) => return Ok(bytes),
                    Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                    Err(RecvTimeoutError::Timeout) => self.check(since)?,
                }
            }
        };
        let text = wait(&text)?;
        if text.len() as u64 > limit {
            end(child);
        }
        let said = wait(&said)?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ConverterOutput {
                    status,
                    text,
                    stderr: said,
                });
            }
            self.check(since)?;
            thread::sleep(TICK);
        }
    }

    /// Fails if the time limit is reached or the run is stopped.
    fn check(&self, since: Instant) -> io::Result<()> {
        if self.running.is_stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other("stopped"));
        }
        if since.elapsed() < self.time {
            return Ok(());
        }
        let seconds = self.time.as_secs_f64();
        Err(io::Error::other(format!(
            "it did not end within {seconds} s"
        )))
    }
}

/// The result of a program that ended.
struct ConverterOutput {
    status: ExitStatus,
    text: Vec<u8>,
    stderr: Vec<u8>,
}

/// Reads on a separate thread, to the end or up to `most` bytes. If `drains`, further bytes are read and discarded, so
/// that the writer does not block.
fn read(
    from: Option<impl Read + Send + 'static>,
    most: u64,
    drains: bool,
) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    let run = move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            let read = from.by_ref().take(most).read_to_end(&mut bytes);
            if read.is_ok() && drains {
                drop(io::copy(&mut from, &mut io::sink()));
            }
        }
        // If this fails, the receiver is gone.
        drop(sender.send(bytes));
    };
    thread::Builder::new()
        .name("converter".to_owned())
        .spawn(run)?;
    Ok(receiver)
}

/// Gives the program its own process group.
#[cfg(unix)]
fn apart(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}

/// Kills a program with its whole process group. Either the program has not been waited for, or other processes of its
/// group may be left.
#[cfg(unix)]
fn end(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait());
}

#[cfg(not(unix))]
fn end(child: &mut Child) {
    // It may have ended by itself.
    drop(child.kill());
    drop(child.wait());
}
