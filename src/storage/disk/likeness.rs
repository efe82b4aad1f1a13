//! Owner, group and permissions of a file that stands for another.

use std::fs::{self, DirBuilder, OpenOptions};
use std::path::Path;

/// Lets nobody else look into a file that is made, until it is like another.
#[cfg(unix)]
pub(super) fn keep_private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// Makes folders into which nobody else looks, until they are like others.
#[cfg(unix)]
pub(super) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Lets the owner of a folder make and remove what is in it, if that is this user.
#[cfg(unix)]
pub(super) fn own_folder(path: &Path) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let folder = options.read(true).custom_flags(flags).open(path);
    // What does not succeed is told by what is done next.
    let own = |folder: fs::File| folder.set_permissions(fs::Permissions::from_mode(0o700));
    folder.and_then(own).unwrap_or_default();
}

/// Gives a file or folder the owner, group and permissions of what is at `like`, as far as this process
/// may. Whoever could not look into the one cannot look into the other.
///
/// What keeps another user from writing to his own does not keep this one from writing to the copy.
#[cfg(unix)]
pub(super) fn resemble(file: &fs::File, like: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (Ok(wanted), Ok(own)) = (fs::metadata(like), file.metadata()) else {
        return;
    };
    let mut mode = wanted.mode() & 0o777;
    if wanted.uid() != own.uid() {
        // Only a superuser may give a file away.
        if fchown(file, Some(wanted.uid()), None).is_err() {
            mode |= if own.is_dir() { 0o700 } else { 0o600 };
        }
    }
    if wanted.gid() != own.gid() && fchown(file, None, Some(wanted.gid())).is_err() {
        // It is another group, which gets what everybody gets.
        mode = mode & !0o070 | (mode & 0o007) << 3;
    }
    // Some file systems have no permissions.
    let permissions = fs::Permissions::from_mode(mode);
    file.set_permissions(permissions).unwrap_or_default();
}

/// Elsewhere a file is like the folder that it is made in.
#[cfg(not(unix))]
pub(super) fn keep_private(_: &mut OpenOptions) {}

#[cfg(not(unix))]
pub(super) fn private_folder() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(not(unix))]
pub(super) fn own_folder(_: &Path) {}

#[cfg(not(unix))]
pub(super) fn resemble(_: &fs::File, _: &Path) {}
