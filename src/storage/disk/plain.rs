//! Opening a store's files, which are plain files: whatever else has such a name is refused.
//!
//! A store may come from somebody else. A link in it would lead what is written out of its folder, and
//! a pipe would keep its reader waiting.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the file at `path`, which is no link.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<fs::File> {
    check(path)?;
    // What became a link since then is not followed either.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW);
    options.open(path)
}

/// Refuses what is there and is no plain file.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let what = if found.is_file() {
        return Ok(());
    } else if found.is_symlink() {
        "this is a symbolic link"
    } else if found.is_dir() {
        "this is a folder"
    } else {
        "this is a pipe, a socket or a device"
    };
    let reason = format!("{what}, and a store has plain files only; put the file itself here");
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Refuses a file that has another name, too, for it may be somebody else's.
#[cfg(unix)]
pub(super) fn check_sole(file: &fs::File) -> io::Result<()> {
    if std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) <= 1 {
        return Ok(());
    }
    let reason = "this file has another name, too, and may be somebody's; move it away";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Files are told from their other names on Unix only.
#[cfg(not(unix))]
pub(super) fn check_sole(_: &fs::File) -> io::Result<()> {
    Ok(())
}
