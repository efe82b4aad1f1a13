//! Replaces a copy by another name of a file, in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::How;
use super::twins::{Stamp, Twin};

/// The system allows this many bytes of names of extended attributes, and of each value.
#[cfg(target_os = "linux")]
const MOST_ATTRIBUTES: usize = 1 << 16;

/// The prefix of a link's name until the link replaces a copy.
const PREFIX: &str = ".dedupdb-link-";

/// The copy was replaced, or would be.
#[derive(Debug)]
pub(super) struct Replaced;

/// Why a copy is not replaced.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) is_failure: bool,
    is_full: bool,
}

impl Refusal {
    fn choice(why: &str) -> Refusal {
        Refusal {
            why: why.to_owned(),
            is_failure: false,
            is_full: false,
        }
    }

    /// Whether the original can have no further name.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal {
            is_full: error.kind() == io::ErrorKind::TooManyLinks,
            why: error.to_string(),
            is_failure: true,
        }
    }
}

/// Why a copy cannot share the bytes of its original.
fn of_reflink(error: io::Error) -> Refusal {
    if error.kind() != io::ErrorKind::Unsupported {
        return error.into();
    }
    Refusal {
        why: "this file system has no reflinks".to_owned(),
        is_failure: true,
        is_full: false,
    }
}

/// Whether a file is named like a link that a killed run left: the number of a process follows, and a number.
pub(super) fn leftover(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let numbers = name.and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Replaces one name of `copy` by a link to `original`, or by a file that shares its bytes.
pub(super) fn replace(
    original: &Twin,
    copy: &Twin,
    name: &Path,
    how: How,
    pretend: bool,
) -> Result<Replaced, Refusal> {
    const CHANGED: &str = "one of both changed meanwhile";
    if !original.stamp.is_on_same_device(&copy.stamp) {
        return Err(Refusal::choice("it is on another file system"));
    }
    if how == How::HardLink && original.stamp.mode != copy.stamp.mode {
        return Err(Refusal::choice("its mode is another one"));
    }
    if original.stamp.owner != copy.stamp.owner {
        return Err(Refusal::choice("its owner is another one"));
    }
    let (first, second) = (open(original.name())?, open(name)?);
    let is_unchanged = || -> io::Result<bool> {
        let found = [first.metadata()?, second.metadata()?].map(|it| Stamp::of(&it));
        let named = [
            fs::symlink_metadata(original.name())?,
            fs::symlink_metadata(name)?,
        ];
        let named = named.map(|it| Stamp::of(&it));
        let expected = [original.stamp, copy.stamp];
        Ok(found == expected && named == expected)
    };
    if !is_unchanged()? || !is_same(&first, &second)? {
        return Err(Refusal::choice(CHANGED));
    }
    let (kept, lost) = (attributes(&first)?, attributes(&second)?);
    let has_them = match how {
        How::HardLink => kept == lost,
        How::Reflink => lost.is_empty(),
    };
    if !has_them {
        return Err(Refusal::choice(
            "its extended attributes (such as an access list) would be lost",
        ));
    }
    if pretend {
        return Ok(Replaced);
    }
    let fresh = Fresh::beside(name);
    match how {
        How::HardLink => {
            fs::hard_link(original.name(), &fresh.0)?;
            let linked = Stamp::of(&fs::symlink_metadata(&fresh.0)?);
            if !linked.is_same_file(&original.stamp) {
                return Err(Refusal::choice(CHANGED));
            }
        }
        How::Reflink => reflink(&first, &second, &fresh.0).map_err(of_reflink)?,
    }
    if !is_unchanged()? {
        return Err(Refusal::choice(CHANGED));
    }
    fs::rename(&fresh.0, name)?;
    Ok(Replaced)
}

/// A name that is removed unless it replaces a copy.
struct Fresh(PathBuf);

impl Fresh {
    /// Returns a name in the folder of `path` that no other process uses.
    fn beside(path: &Path) -> Fresh {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}-{number}", std::process::id());
        Fresh(path.with_file_name(name))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // After the rename, this name no longer exists.
        drop(fs::remove_file(&self.0));
    }
}

/// Returns the extended attributes of a file, except for those that the system gives to every file.
#[cfg(target_os = "linux")]
fn attributes(file: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    use rustix::fs::{fgetxattr, flistxattr};
    const OF_SYSTEM: &[u8] = b"security.selinux";
    let mut names = vec![0; MOST_ATTRIBUTES];
    let length = match flistxattr(file, &mut names[..]) {
        Err(error) if error == rustix::io::Errno::NOTSUP => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut found = Vec::new();
    for name in names[..length].split(|&byte| byte == 0) {
        if name.is_empty() || name == OF_SYSTEM {
            continue;
        }
        let mut value = vec![0; MOST_ATTRIBUTES];
        let length = fgetxattr(file, name, &mut value[..])?;
        value.truncate(length);
        found.push((name.to_owned(), value));
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn attributes(_: &File) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    Ok(Vec::new())
}

/// Opens a file that is not a symbolic link.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}

/// Whether both files have the same bytes from their current positions to their ends.
fn is_same(mut first: &File, mut second: &File) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; 1 << 18], vec![0; 1 << 18]);
    loop {
        let read = first.read(&mut left)?;
        if read == 0 {
            return Ok(second.read(&mut right)? == 0);
        }
        match second.read_exact(&mut right[..read]) {
            Ok(()) if left[..read] == right[..read] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Creates a file that shares the bytes of `original` and has the mode and the modification time of `copy`.
#[cfg(target_os = "linux")]
fn reflink(original: &File, copy: &File, fresh: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = copy.metadata()?;
    let mut options = OpenOptions::new();
    let mode = metadata.permissions().mode() & 0o7777;
    let file = options
        .write(true)
        .create_new(true)
        .mode(mode & 0o700)
        .open(fresh)?;
    rustix::fs::ioctl_ficlone(&file, original)?;
    file.set_permissions(metadata.permissions())?;
    file.set_modified(metadata.modified()?)?;
    file.sync_all()
}

#[cfg(not(target_os = "linux"))]
fn reflink(_: &File, _: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
