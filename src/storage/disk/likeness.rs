//! Owner, group and permissions of a file that stands for another.

use std::fs::{self, OpenOptions};
use std::path::Path;

/// Lets nobody else look into a file that is made, until it is like another.
#[cfg(unix)]
pub(super) fn keep_private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// Gives a file or folder the owner, group and permissions of what is at `like`, as far as this process
/// may. Whoever could not look into the one cannot look into the other.
#[cfg(unix)]
pub(super) fn resemble(file: &fs::File, like: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (Ok(wanted), Ok(own)) = (fs::metadata(like), file.metadata()) else {
        return;
    };
    let mut mode = wanted.mode() & 0o777;
    if wanted.uid() != own.uid() {
        // Only a superuser may give a file away.
        fchown(file, Some(wanted.uid()), None).unwrap_or_default();
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
pub(super) fn resemble(_: &fs::File, _: &Path) {}
