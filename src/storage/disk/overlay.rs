//! A read-only file with an overlay of writes in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

use redb::StorageBackend;

use crate::parallel::lock;

const BLOCK: usize = 4 << 10;

/// Reads from a file and keeps writes in memory. It is not locked: its owner must keep writers away from the file.
#[derive(Debug)]
pub(super) struct Overlay<B> {
    inner: B,
    written: Mutex<OverlayWrites>,
}

#[derive(Debug)]
struct OverlayWrites {
    len: u64,
    /// The number of bytes of the file that are still visible.
    kept: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl<B: StorageBackend> Overlay<B> {
    pub(super) fn new(inner: B) -> io::Result<Overlay<B>> {
        let len = inner.len()?;
        let written = Mutex::new(OverlayWrites {
            len,
            kept: len,
            blocks: BTreeMap::new(),
        });
        Ok(Overlay { inner, written })
    }

    /// Fills `out` from the first `kept` bytes of the file, and with zeros past them.
    fn read_kept(&self, kept: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = usize::try_from(kept.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (file, zeros) = out.split_at_mut(there.min(out.len()));
        zeros.fill(0);
        if file.is_empty() {
            return Ok(());
        }
        self.inner.read(offset, file)
    }
}

/// The number of a block, and the offset in it.
fn place(offset: u64) -> (u64, usize) {
    let within = offset % BLOCK as u64;
    (offset / BLOCK as u64, usize::try_from(within).unwrap_or(0))
}

impl<B: StorageBackend> StorageBackend for Overlay<B> {
    fn len(&self) -> io::Result<u64> {
        Ok(lock(&self.written).len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let written = lock(&self.written);
        if offset + out.len() as u64 > written.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read_kept(written.kept, offset, out)?;
        let (first, mut within) = place(offset);
        let mut out = out;
        for block in first.. {
            let size = (BLOCK - within).min(out.len());
            let (piece, rest) = out.split_at_mut(size);
            if let Some(bytes) = written.blocks.get(&block) {
                piece.copy_from_slice(&bytes[within..within + size]);
            }
            if rest.is_empty() {
                break;
            }
            (out, within) = (rest, 0);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut written = lock(&self.written);
        let (last, within) = place(len);
        if len < written.len {
            // What is cut off reads as zeros if the file grows again.
            written.kept = written.kept.min(len);
            written.blocks.split_off(&(last + 1));
            if let Some(bytes) = written.blocks.get_mut(&last) {
                bytes[within..].fill(0);
            }
        }
        written.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut written = lock(&self.written);
        let (first, mut within) = place(offset);
        let mut data = data;
        for block in first.. {
            let size = (BLOCK - within).min(data.len());
            let (piece, rest) = data.split_at(size);
            let kept = written.kept;
            // A block that is written for the first time begins with the bytes of the file.
            let bytes = match written.blocks.entry(block) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    let mut bytes = vec![0; BLOCK];
                    self.read_kept(kept, block * BLOCK as u64, &mut bytes)?;
                    entry.insert(bytes)
                }
            };
            bytes[within..within + size].copy_from_slice(piece);
            if rest.is_empty() {
                break;
            }
            (data, within) = (rest, 0);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use redb::backends::{FileBackend, InMemoryBackend};

    use super::*;

    #[derive(Clone, Debug)]
    enum Change {
        Write(u64, u8, usize),
        SetLen(u64),
    }

    fn change() -> impl Strategy<Value = Change> {
        let end = 5 * BLOCK as u64;
        prop_oneof![
            (0..end, any::<u8>(), 1..2 * BLOCK)
                .prop_map(|(start, byte, len)| Change::Write(start, byte, len)),
            (0..end).prop_map(Change::SetLen),
        ]
    }

    fn all(backend: &impl StorageBackend) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(backend.len().unwrap()).unwrap()];
        backend.read(0, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn it_reads_as_a_file_that_was_written_to(
            len in 0..4 * BLOCK,
            changes in prop::collection::vec(change(), 0..8),
        ) {
            let held: Vec<u8> = (0..len).map(|n| u8::try_from(n % 251).unwrap()).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            std::io::Write::write_all(&mut file, &held).unwrap();
            let overlay = Overlay::new(FileBackend::new(file.reopen().unwrap()).unwrap()).unwrap();
            let memory = InMemoryBackend::new();
            memory.set_len(len as u64).unwrap();
            memory.write(0, &held).unwrap();
            for change in changes {
                for backend in [&overlay as &dyn StorageBackend, &memory] {
                    match change {
                        Change::SetLen(len) => backend.set_len(len).unwrap(),
                        Change::Write(start, byte, len) => {
                            let end = start + len as u64;
                            backend.set_len(end.max(backend.len().unwrap())).unwrap();
                            backend.write(start, &vec![byte; len]).unwrap();
                        }
                    }
                }
                prop_assert_eq!(all(&overlay), all(&memory));
            }
            prop_assert_eq!(std::fs::read(file.path()).unwrap(), held);
        }
    }
}
