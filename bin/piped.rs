//! Input that a signal is not kept waiting for: it is read on a thread of its own.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result};

use crate::interrupt::Interrupt;
use crate::threads::NO_THREAD;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// What was read.
#[derive(Debug)]
pub(crate) struct Piped {
    chunks: Receiver<io::Result<Vec<u8>>>,
    interrupt: Interrupt,
    chunk: Vec<u8>,
    /// Bytes of the chunk that were taken.
    taken: usize,
}

impl Piped {
    /// Begins to read.
    pub(crate) fn begin(input: impl Read + Send + 'static, interrupt: Interrupt) -> Result<Piped> {
        let (sender, chunks) = sync_channel(1);
        thread::Builder::new()
            .name("reading".to_owned())
            .spawn(move || read(input, &sender))
            .context(NO_THREAD)?;
        Ok(Piped {
            chunks,
            interrupt,
            chunk: Vec::new(),
            taken: 0,
        })
    }
}

/// Hands over all chunks, the last of which is empty, as long as somebody takes them.
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

impl Read for Piped {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(bytes)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Piped {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.chunk.len() {
            let next = self.interrupt.receive(&self.chunks);
            self.chunk = next.map_err(io::Error::other)?.unwrap_or(Ok(Vec::new()))?;
            self.taken = 0;
        }
        Ok(&self.chunk[self.taken..])
    }

    fn consume(&mut self, bytes: usize) {
        self.taken += bytes;
    }
}
