//! The owner, group and permissions of a file that replaces another.

use std::fs::{self, DirBuilder, OpenOptions};
use std::path::Path;

/// Makes a new file accessible to this user only, until it resembles another.
#[cfg(unix)]
pub(super) fn keep_private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// A builder of folders that only this user can access, until they resemble others.
#[cfg(unix)]
pub(super) fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes a folder writable by its owner, if that is this user.
#[cfg(unix)]
pub(super) fn own_folder(path: &Path) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let folder = options.read(true).custom_flags(flags).open(path);
    // A failure here shows in the operation that follows.
    let own = |folder: fs::File| folder.set_permissions(fs::Permissions::from_mode(0o700));
    folder.and_then(own).unwrap_or_default();
}

/// Gives a file or folder the owner, group and permissions of what is at `like`, as far as this process may.
///
/// It never becomes accessible to users who had no access to `like`. If this process may not change the owner, its own
/// user can write to the copy.
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
        // The file has another group, which gets the permissions of others.
        mode = mode & !0o070 | (mode & 0o007) << 3;
    }
    // Some file systems do not support permissions.
    let permissions = fs::Permissions::from_mode(mode);
    file.set_permissions(permissions).unwrap_or_default();
}

/// On other systems, a file inherits the access rights of its folder.
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
