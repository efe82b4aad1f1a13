//! Input that is read on a separate thread, so that a signal does not wait for it.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result};

use dedupdb::Progress;

use crate::interrupt;
use crate::threads::NO_THREAD;

/// The number of bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// Input that was read.
#[derive(Debug)]
pub(crate) struct PipedInput {
    chunks: Receiver<io::Result<Vec<u8>>>,
    progress: Progress,
    chunk: Vec<u8>,
    /// The number of bytes taken from the chunk.
    taken: usize,
}

impl PipedInput {
    /// Starts to read.
    pub(crate) fn begin(
        input: impl Read + Send + 'static,
        progress: Progress,
    ) -> Result<PipedInput> {
        let (sender, chunks) = sync_channel(1);
        thread::Builder::new()
            .name("reading".to_owned())
            .spawn(move || read(input, &sender))
            .context(NO_THREAD)?;
        Ok(PipedInput {
            chunks,
            progress,
            chunk: Vec::new(),
            taken: 0,
        })
    }
}

/// Sends all chunks, for as long as the receiver exists. The last chunk is empty.
fn read(mut input: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match input.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_over = !matches!(read, Ok(1..));
        let read = read.map(|length| {
            chunk.truncate(length);
            chunk
        });
        if sender.send(read).is_err() || is_over {
            return;
        }
    }
}

impl Read for PipedInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for PipedInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.chunk.len() {
            let next = interrupt::receive(&self.chunks, &self.progress);
            self.chunk = next.map_err(io::Error::other)?.unwrap_or(Ok(Vec::new()))?;
            self.taken = 0;
        }
        Ok(&self.chunk[self.taken..])
    }

    fn consume(&mut self, bytes: usize) {
        self.taken += bytes;
    }
}
