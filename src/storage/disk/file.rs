//! An open file, and the operations on it.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::likeness::{keep_private, resemble};
use super::map::SharedWords;
use super::unsynced_folder::is_fleeting;
use super::{DiskStep, at, plain, step, sync};
use crate::error::{Error, Result};

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    pub(super) inner: fs::File,
    path: Arc<Path>,
}

/// The access rights of a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAccess<'a> {
    /// The default of the system.
    Usual,
    /// Access by this user only.
    Oneself,
    /// The access rights of the file at a path.
    Of(&'a Path),
}

impl File {
    /// Opens a file for reading.
    pub(crate) fn open(path: &Path) -> Result<File> {
        in_file(path, File::open_as(path, OpenOptions::new().read(true)))
    }

    /// Opens a file for reading and writing.
    pub(crate) fn open_writable(path: &Path) -> Result<File> {
        let mut options = OpenOptions::new();
        in_file(path, File::open_as(path, options.read(true).write(true)))
    }

    /// Creates a file, which must not exist.
    pub(crate) fn create(path: &Path) -> Result<File> {
        in_file(path, File::create_as(path, FileAccess::Usual))
    }

    /// Creates a file, which must not exist, that only this user can access.
    pub(crate) fn create_private(path: &Path) -> Result<File> {
        in_file(path, File::create_as(path, FileAccess::Oneself))
    }

    /// Creates a file, which must not exist, with the access rights of the one at `like`.
    pub(crate) fn create_like(path: &Path, like: &Path) -> Result<File> {
        in_file(path, File::create_as(path, FileAccess::Of(like)))
    }

    pub(super) fn open_as(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let inner = step(path, DiskStep::Look, || plain::open(path, options))?;
        let path = path.into();
        Ok(File { inner, path })
    }

    pub(super) fn create_as(path: &Path, users: FileAccess<'_>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let inner = step(path, DiskStep::Make, || {
            if users != FileAccess::Usual {
                keep_private(&mut options);
            }
            let file = options.open(path)?;
            if let FileAccess::Of(like) = users {
                resemble(&file, like);
            }
            Ok(file)
        })?;
        let path = path.into();
        Ok(File { inner, path })
    }

    /// Opens a file for reading and writing, creating it if it does not exist.
    ///
    /// An existing file must not have another name.
    pub(super) fn make(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let inner = step(path, DiskStep::Make, || {
            let file = plain::open(path, &mut options)?;
            plain::check_sole(&file)?;
            Ok(file)
        })?;
        let path = path.into();
        Ok(File { inner, path })
    }

    pub(super) fn is_empty(&self) -> io::Result<bool> {
        let metadata = step(&self.path, DiskStep::Look, || self.inner.metadata())?;
        Ok(metadata.len() == 0)
    }

    pub(super) fn into_inner(self) -> fs::File {
        self.inner
    }

    /// The path by which the file was opened.
    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// The size of the file in bytes.
    pub(crate) fn len(&self) -> Result<u64> {
        let metadata = at(&self.path, DiskStep::Look, || self.inner.metadata())?;
        Ok(metadata.len())
    }

    /// The first `bytes` bytes of the file, or all if there are fewer.
    pub(crate) fn start(&self, bytes: usize) -> Result<Vec<u8>> {
        at(&self.path, DiskStep::Read(0, bytes as u64), || {
            let mut start = Vec::with_capacity(bytes);
            let mut file = &self.inner;
            file.seek(SeekFrom::Start(0))?;
            file.take(bytes as u64).read_to_end(&mut start)?;
            Ok(start)
        })
    }

    /// Fills `bytes` with those from byte `start` on, and returns whether the device could read them.
    pub(crate) fn read(&self, start: u64, bytes: &mut [u8]) -> Result<bool> {
        match self.try_read(start, bytes) {
            Err(error) if is_of_device(&error) => Ok(false),
            read => in_file(&self.path, read).map(|()| true),
        }
    }

    fn try_read(&self, start: u64, bytes: &mut [u8]) -> io::Result<()> {
        let what = DiskStep::Read(start, bytes.len() as u64);
        step(&self.path, what, || {
            let mut file = &self.inner;
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(bytes)
        })
    }

    /// Reads the first `len` bytes by ordinary calls.
    ///
    /// With a map, the system would kill the process at the first byte that the device cannot read.
    pub(crate) fn read_through(&self, len: u64) -> Result<()> {
        const AT_ONCE: usize = 1 << 20;
        let mut bytes = vec![0; AT_ONCE];
        for start in (0..len).step_by(AT_ONCE) {
            let size = usize::try_from(len - start).unwrap_or(AT_ONCE);
            let piece = &mut bytes[..size.min(AT_ONCE)];
            let end = start + piece.len() as u64;
            match self.try_read(start, piece) {
                Err(error) if is_of_device(&error) => {
                    let reason =
                        format!("the disk cannot read all of its bytes {start} to {end}: {error}");
                    return Err(Error::damaged(&self.path, reason));
                }
                read => in_file(&self.path, read)?,
            }
        }
        Ok(())
    }

    /// Writes `bytes` at byte `start`.
    pub(crate) fn write(&self, start: u64, bytes: &[u8]) -> Result<()> {
        at(
            &self.path,
            DiskStep::Write(&self.inner, start, bytes),
            || write_at(&self.inner, start, bytes),
        )
    }

    /// Copies the first `len` bytes of the file at `from` to this file, which must be empty.
    pub(crate) fn copy(&self, from: &Path, len: u64) -> Result<()> {
        let from = File::open(from)?;
        // With `io::copy`, the system can copy from file to file.
        at(&self.path, DiskStep::Copy(&self.inner), || {
            let mut target = &self.inner;
            io::copy(&mut from.inner.take(len), &mut target)
        })?;
        Ok(())
    }

    /// Truncates the file, or extends it with zeros.
    pub(crate) fn set_len(&self, len: u64) -> Result<()> {
        let what = DiskStep::SetLen(&self.inner, len);
        at(&self.path, what, || self.inner.set_len(len))
    }

    /// Makes the bytes of the file durable.
    pub(crate) fn sync(&self) -> Result<()> {
        if is_fleeting(&self.path) {
            return Ok(());
        }
        let what = DiskStep::Sync(Some(&self.inner));
        in_file(
            &self.path,
            sync(&self.path, what, || self.inner.sync_data()),
        )
    }

    /// Maps the whole file as words.
    pub(crate) fn words(&self, writable: bool) -> Result<SharedWords> {
        let what = if writable {
            DiskStep::Map
        } else {
            DiskStep::Look
        };
        at(&self.path, what, || SharedWords::new(&self.inner, writable))
    }
}

/// Makes some of the words mapped from the file at `path` durable.
pub(crate) fn sync_words(path: &Path, words: &SharedWords, some: &Range<usize>) -> Result<()> {
    if is_fleeting(path) {
        return Ok(());
    }
    in_file(path, sync(path, DiskStep::Sync(None), || words.sync(some)))
}

/// Whether a device reports that it cannot read, in which case a retry is of no use.
fn is_of_device(error: &io::Error) -> bool {
    // Windows: CRC error, sector not found, read fault, I/O device error. Unix: EIO.
    let codes: &[i32] = if cfg!(windows) {
        &[23, 27, 30, 1117]
    } else {
        &[5]
    };
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code))
}

pub(super) fn in_file<T>(path: &Path, done: io::Result<T>) -> Result<T> {
    done.map_err(|source| Error::io(path, source))
}

/// Writes all of `bytes` at `start`, independently of concurrent writes.
#[cfg(unix)]
fn write_at(file: &fs::File, start: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, start)
}

/// Writes all of `bytes` at `start`, independently of concurrent writes.
#[cfg(windows)]
fn write_at(file: &fs::File, mut start: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, start)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                start += written as u64;
                bytes = &bytes[written..];
            }
        }
    }
    Ok(())
}
