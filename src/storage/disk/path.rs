//! Operations on paths and names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file::in_file;
use super::plain;
use super::step;
use super::step::{DiskStep, at};
use crate::error::{Error, Result};

/// The metadata of what is at `path`, if anything.
pub(in crate::storage) fn metadata(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, DiskStep::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        Ok(found) if found.is_symlink() => fs::metadata(path).map(Some),
        found => found.map(Some),
    })
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Whether `path` is a file and not a link to one.
pub(in crate::storage) fn is_plain_file(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_file()))
}

/// Whether `path` is a folder and not a link to one.
pub(in crate::storage) fn is_folder(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_some_and(|found| found.is_dir()))
}

/// Whether nothing exists at `path`, not even a link.
pub(in crate::storage) fn is_absent(path: &Path) -> Result<bool> {
    Ok(unfollowed(path)?.is_none())
}

/// The metadata of what is at `path`, without following a link.
fn unfollowed(path: &Path) -> Result<Option<fs::Metadata>> {
    at(path, DiskStep::Look, || match fs::symlink_metadata(path) {
        Err(error) if is_absence(&error) => Ok(None),
        found => found.map(Some),
    })
}

/// Whether `path` is a file.
///
/// # Errors
///
/// An error if it is something else, such as a link.
pub(in crate::storage) fn is_file(path: &Path) -> Result<bool> {
    let is_there = unfollowed(path)?.is_some();
    in_file(path, plain::check(path))?;
    Ok(is_there)
}

/// Whether the file at `path` has no other name, such as in a copy that was made with hard links.
pub(in crate::storage) fn is_sole(path: &Path) -> Result<bool> {
    Ok(metadata(path)?.is_none_or(|file| plain::is_sole(&file)))
}

/// The error about a file that a writer would change under its other names, too.
pub(in crate::storage) fn has_other_name(path: &Path) -> Error {
    let reason = "this file has another name, too (a hard link), and writing would change it there; copy the store without \
                  links or with `dedupdb backup`, and use that copy";
    Error::io(path, io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The disk space in bytes of the file at `path`, without its holes.
pub(in crate::storage) fn size(path: &Path) -> Result<u64> {
    let metadata = at(path, DiskStep::Look, || fs::metadata(path))?;
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

/// The paths of the entries of a folder, in arbitrary order.
pub(in crate::storage) fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    list_some(folder, usize::MAX)
}

/// The paths of at most `most` of the entries.
pub(in crate::storage) fn list_some(folder: &Path, most: usize) -> Result<Vec<PathBuf>> {
    at(folder, DiskStep::Look, || {
        let entries = fs::read_dir(folder)?;
        let paths = entries.map(|entry| Ok(entry?.path()));
        paths.take(most).collect()
    })
}

/// Renames a file or a folder, replacing a file that has the name `to`.
pub(in crate::storage) fn rename(from: &Path, to: &Path) -> Result<()> {
    let renamed = step(from, DiskStep::RenameTo(to), || fs::rename(from, to));
    renamed.map_err(|source| Error::io(to, source))
}

/// Removes a file.
pub(in crate::storage) fn remove(path: &Path) -> Result<()> {
    at(path, DiskStep::Remove, || fs::remove_file(path))
}
