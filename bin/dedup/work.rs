//! The folder for what is temporary, and how what is whole takes its place.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::apart::parts;
use crate::dedup::target::Target;

/// A folder that is removed at the end. After a crash it stays, and the next run begins it anew.
#[derive(Debug)]
pub(crate) struct Work {
    folder: PathBuf,
    /// Where it is on its own.
    temporary: Option<TempDir>,
    /// Held as long as the folder is in use.
    _lock: Option<File>,
    was_publishing: bool,
}

/// Tells that files were about to take their places.
const PUBLISHING: &str = "publishing";

impl Work {
    /// Makes the folder, beside what is to be written.
    ///
    /// # Errors
    ///
    /// Those of the system, or another process writes the same.
    pub(crate) fn begin(target: &Target) -> Result<Work> {
        let Some(path) = &target.path else {
            let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
            return Ok(Work {
                folder: temporary.path().to_owned(),
                temporary: Some(temporary),
                _lock: None,
                was_publishing: false,
            });
        };
        let folder = beside(path)?;
        let lock = Work::lock(&folder, path)?;
        let was_publishing = folder.join(PUBLISHING).exists();
        let work = Work {
            folder,
            temporary: None,
            _lock: Some(lock),
            was_publishing,
        };
        for name in ["store", "output", "old", "texts", "records"] {
            let path = work.path(name);
            remove(&path).with_context(|| path.display().to_string())?;
        }
        Ok(work)
    }

    fn lock(folder: &Path, path: &Path) -> Result<File> {
        let name = || folder.display().to_string();
        fs::create_dir_all(folder).with_context(name)?;
        let lock = File::create(folder.join("lock")).with_context(name)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => bail!(
                "{}: another process is writing it; wait until it is done",
                path.display()
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(name),
        }
    }

    /// A file or folder in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether an earlier run was killed while its files took their places, so that some may be
    /// there already.
    pub(crate) fn was_publishing(&self) -> bool {
        self.was_publishing
    }

    /// Notes that files are about to take their places.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn publishing(&self) -> Result<()> {
        let path = self.path(PUBLISHING);
        let noted = File::create(&path).and_then(|file| file.sync_all());
        noted.with_context(|| path.display().to_string())?;
        sync_folder(&self.folder)
    }

    /// Moves `from` to `to`, in place of what is there.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn publish(&self, from: &Path, to: &Path) -> Result<()> {
        // A folder cannot take the place of another, or of a file, in one step.
        let old = self.path("old");
        if to.is_dir() || from.is_dir() && to.exists() {
            fs::rename(to, &old).with_context(|| to.display().to_string())?;
        }
        fs::rename(from, to).with_context(|| to.display().to_string())?;
        sync_folder(parts(to)?.0)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.temporary.is_none() {
            // What cannot be removed is removed by the next run.
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

/// The hidden name of what is not yet whole.
pub(crate) fn beside(path: &Path) -> Result<PathBuf> {
    let (folder, name) = parts(path)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".dedup");
    Ok(folder.join(hidden))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes the names in a folder durable, where the system can.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.with_context(|| folder.display().to_string())?;
    }
    Ok(())
}
