//! A lock between processes in the form of a file.

use std::fs::TryLockError;
use std::io;
use std::path::Path;

use super::process::Process;
use super::{DiskStep, File, at, in_file, remove};
use crate::error::{Error, Result};

/// A lock that is held until it is dropped or its process ends.
///
/// The file is then deleted, unless the process was killed. The child of a fork does not release the lock.
#[derive(Debug)]
pub(in crate::storage) struct FileLock {
    file: File,
    process: Process,
}

impl FileLock {
    /// Takes the lock whose file is at `path`, or returns `None` if it is held.
    ///
    /// # Errors
    ///
    /// [`Error::Occupied`] if the file is not empty, and thus not a lock.
    pub(in crate::storage) fn take(path: &Path) -> Result<Option<FileLock>> {
        loop {
            let file = in_file(path, File::make(path))?;
            if !in_file(path, file.is_empty())? {
                let path = path.to_owned();
                return Err(Error::Occupied { path });
            }
            if !at(path, DiskStep::Look, || file.try_lock())? {
                return Ok(None);
            }
            // The previous holder may have removed the file after it was opened here.
            if at(path, DiskStep::Look, || file.is_at(path))? {
                let process = Process::current();
                return Ok(Some(FileLock { file, process }));
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.process.is_current() {
            remove(self.file.path()).unwrap_or_default();
        }
    }
}

impl File {
    /// Locks the file, unless another process holds it. Always succeeds where locks are unsupported.
    fn try_lock(&self) -> io::Result<bool> {
        match self.inner.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(true)
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether `path` still names this file.
    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let own = self.inner.metadata()?;
        match std::fs::symlink_metadata(path) {
            Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// On these systems, an open file keeps its name.
    #[cfg(not(unix))]
    fn is_at(&self, _: &Path) -> io::Result<bool> {
        Ok(true)
    }
}
