//! Opening a store's files, which must be plain files.
//!
//! A store may come from another user. Following a link in it could write outside of its folder, and opening a pipe
//! could block the reader.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the file at `path`, which must not be a link.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<fs::File> {
    check(path)?;
    open_unfollowed(path, options)
}

/// Opens the file at `path`, without following a link that has replaced it since the check.
fn open_unfollowed(path: &Path, options: &mut OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW);
    options.open(path)
}

/// Refuses anything at `path` that is not a plain file.
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

/// Refuses a file that also has another name, since it may belong to someone else.
pub(super) fn check_sole(file: &fs::File) -> io::Result<()> {
    if is_sole(&file.metadata()?) {
        return Ok(());
    }
    let reason = "this file has another name, too, and may be somebody's; move it away";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Whether a file has no other name.
#[cfg(unix)]
pub(super) fn is_sole(file: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) <= 1
}

/// Other names of a file are detected on Unix only.
#[cfg(not(unix))]
pub(super) fn is_sole(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_a_link_after_the_look_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "somebody's").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        assert!(open_unfollowed(&file, options).is_ok());
        assert!(open_unfollowed(&link, options).is_err());
    }
}
