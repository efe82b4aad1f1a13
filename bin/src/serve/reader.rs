//! Reads requests ahead on a thread of its own, so that a signal does not wait for them.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result};
use dedupdb::Progress;

use super::request::Request;
use crate::interrupt;
use crate::threads::NO_THREAD;

/// The number of bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// The bytes of requests that are answered together, at about.
const BATCH: usize = 4 << 20;

/// The batches that are read ahead.
const AHEAD: usize = 16;

/// The byte order mark that some programs write first.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The longest line in bytes.
const LONGEST: u64 = 256 << 20;

/// The requests of standard input, several at a time.
#[derive(Debug)]
pub(crate) struct RequestReader {
    read: Receiver<io::Result<Vec<Request>>>,
    /// An error that came after requests which are to be answered first.
    error: Option<io::Error>,
}

impl RequestReader {
    /// Starts to read.
    pub(crate) fn begin(input: impl Read + Send + 'static) -> Result<RequestReader> {
        let (sender, read) = sync_channel(AHEAD);
        let mut input = BufReader::with_capacity(BUFFER, input);
        thread::Builder::new()
            .name("requests".to_owned())
            .spawn(move || {
                // Nobody listens any more if the command has ended.
                if let Err(error) = read_all(&mut input, &sender) {
                    sender.send(Err(error)).unwrap_or_default();
                }
            })
            .context(NO_THREAD)?;
        Ok(RequestReader { read, error: None })
    }

    /// The requests that were read meanwhile, at least one. Waits for it, and returns `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`](dedupdb::Error::Stopped) once the user asked to stop, and the system's.
    pub(crate) fn next(&mut self, progress: &Progress) -> Result<Option<Vec<Request>>> {
        if let Some(error) = self.error.take() {
            return Err(error).context("standard input");
        }
        let Some(first) = interrupt::receive(&self.read, progress)? else {
            return Ok(None);
        };
        let mut batch = first.context("standard input")?;
        let mut bytes: usize = batch.iter().map(Request::size).sum();
        while bytes < BATCH {
            match self.read.try_recv() {
                Ok(Ok(more)) => {
                    bytes += more.iter().map(Request::size).sum::<usize>();
                    batch.extend(more);
                }
                Ok(Err(error)) => {
                    self.error = Some(error);
                    break;
                }
                Err(_) => break,
            }
        }
        Ok(Some(batch))
    }
}

/// Sends all requests, those together that are there at the same time.
fn read_all(
    input: &mut BufReader<impl Read>,
    sender: &SyncSender<io::Result<Vec<Request>>>,
) -> io::Result<()> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    if input.fill_buf()?.starts_with(MARK) {
        input.consume(MARK.len());
    }
    while let Some(request) = read(input)? {
        bytes += request.size();
        batch.push(request);
        let is_more_there = input.buffer().contains(&b'\n') && bytes < BATCH;
        if !is_more_there {
            bytes = 0;
            if sender.send(Ok(std::mem::take(&mut batch))).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Reads a line. The last one may have no end.
fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = Vec::new();
    if input.take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        let reason = format!(
            "not a request: the line is longer than {} MiB",
            LONGEST >> 20
        );
        return Ok(Some(Request::none(reason)));
    }
    Ok(Some(Request::parse(&line)))
}
