//! The steps of disk access, which tests can intercept.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(all(test, unix))]
use super::watch::step;
use crate::error::{Error, Result};

/// One request to the system that concerns a path.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(test, unix)),
    expect(dead_code, reason = "only tests look at it")
)]
pub(super) enum DiskStep<'a> {
    /// Look up, list or open.
    Look,
    /// Read or map the bytes from an offset on, given as offset and length.
    Read(u64, u64),
    /// Open a file, creating it if it does not exist.
    Make,
    MakeFolder,
    Write(&'a fs::File, u64, &'a [u8]),
    /// Fill an empty file from another.
    Copy(&'a fs::File),
    SetLen(&'a fs::File, u64),
    /// Map a file, whose bytes may change at any time from then on.
    Map,
    /// Make the contents of a file durable. A mapped file has no handle.
    Sync(Option<&'a fs::File>),
    /// Make the names in a folder durable.
    SyncFolder,
    RenameTo(&'a Path),
    Remove,
    RemoveFolder,
}

/// Does a step.
#[cfg(not(all(test, unix)))]
pub(super) fn step<T>(
    _: &Path,
    _: DiskStep<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    work()
}

/// Does a step that makes something durable.
#[cfg(not(all(test, unix)))]
pub(super) fn sync(
    _: &Path,
    _: DiskStep<'_>,
    work: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    work()
}

/// Does a step that concerns `path`.
pub(super) fn at<T>(
    path: &Path,
    what: DiskStep<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> Result<T> {
    step(path, what, work).map_err(|source| Error::io(path, source))
}
