//! The steps that the disk is made of, where tests can stand in.

use std::fs;
use std::io;
use std::path::Path;

#[cfg(all(test, unix))]
use super::watch::step;
use crate::error::{Error, Result};

/// One thing that the system is asked to do with a path.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(all(test, unix)),
    expect(dead_code, reason = "only tests look at it")
)]
pub(super) enum Step<'a> {
    /// Look for, list or open.
    Look,
    /// Read or map so many bytes from one on.
    Read(u64, u64),
    /// Open a file, which is made if it is not there.
    Make,
    MakeFolder,
    Write(&'a fs::File, u64, &'a [u8]),
    /// Fill a file that is empty from another.
    Copy(&'a fs::File),
    SetLen(&'a fs::File, u64),
    /// Map a file, whose bytes may change at any time from then on.
    Map,
    /// Make what a file holds durable; of one that is mapped there is no handle.
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
    _: Step<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    work()
}

/// Does a step that makes something durable.
#[cfg(not(all(test, unix)))]
pub(super) fn sync(_: &Path, _: Step<'_>, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    work()
}

/// Does a step with what is at `path`.
pub(super) fn at<T>(
    path: &Path,
    what: Step<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> Result<T> {
    step(path, what, work).map_err(|source| Error::io(path, source))
}
