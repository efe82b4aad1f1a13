//! What is at a path, and its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::in_file;
use super::plain;
use super::step;
use super::step::{Step, at};
use crate::error::{Error, Result};

/// What is at `path`, if there is anything.
pub(in crate::storage) fn metadata(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, Step::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        Ok(found) if found.is_symlink() => fs::metadata(path).map(Some),
        found => found.map(Some),
    })
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Whether there is a file at `path`, and no link to one.
pub(in crate::storage) fn is_plain_file(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_file()))
}

/// Whether there is a folder at `path`, and no link to one.
pub(in crate::storage) fn is_folder(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_dir()))
}

/// Whether nothing is at `path`, not even a link.
pub(in crate::storage) fn is_absent(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_none())
}

/// What is at `path`, which may be a link.
fn unfollowed(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, Step::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        found => found.map(Some),
    })
}

/// Whether there is a file at `path`.
///
/// # Errors
///
/// There is something else, such as a link.
pub(in crate::storage) fn is_file(path: &Path) -> Result<bool> {
    let is_there = unfollowed(path)?.is_some();
    in_file(path, plain::check(path))?;
    Ok(is_there)
}

/// Bytes that the file at `path` takes, without its holes.
pub(in crate::storage) fn size(path: &Path) -> Result<u64> {
    let metadata = at(path, Step::Look, || fs::metadata(path))?;
    Ok(metadata.len().min(occupied(&metadata)))
}

#[cfg(unix)]
fn occupied(metadata: &fs::Metadata) -> u64 {
    const BLOCK: u64 = 512;
    std::os::unix::fs::MetadataExt::blocks(metadata).saturating_mul(BLOCK)
}

#[cfg(not(unix))]
fn occupied(_: &fs::Metadata) -> u64 {
    u64::MAX
}

/// The paths of what is in a folder, in no order.
pub(in crate::storage) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    list_some(folder, usize::MAX)
}

/// Those of at most so many of them.
pub(in crate::storage) fn list_some(folder: &Path, most: usize) -> Result<Vec<PathBuf>> {
    at(folder, Step::Look, || {
        let entries = fs::read_dir(folder)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.take(most).collect()
    })
}

/// Renames a file or a folder, in place of a file that has the name `to`.
pub(in crate::storage) fn rename(from: &Path, to: &Path) -> Result<()> {
    let renamed = step(from, Step::RenameTo(to), || fs::rename(from, to));
    renamed.map_err(|source| Error::io(to, source))
}

/// Removes a file.
pub(in crate::storage) fn remove(path: &Path) -> Result<()> {
    at(path, Step::Remove, || fs::remove_file(path))
}
