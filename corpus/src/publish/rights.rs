//! The access rights of what an output replaces.

use std::fs::Metadata;
use std::io;
use std::path::Path;

/// Gives the output the owner, the group and the mode of what it replaces, as far as the process may.
///
/// A user who could not read the old output cannot read the new one: if the group cannot be kept, the new group gets
/// only the permissions of all other users.
///
/// # Errors
///
/// Those of the system.
#[cfg(unix)]
pub(super) fn keep(output: &Path, replaced: &Metadata) -> io::Result<()> {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let (owner, group) = (replaced.uid(), replaced.gid());
    // Only a privileged process can give a file away.
    let has_owner = chown(output, Some(owner), Some(group)).is_ok();
    let has_group = has_owner || chown(output, None, Some(group)).is_ok();
    let mut mode = replaced.permissions().mode() & 0o7777;
    if !has_owner {
        mode &= 0o777;
    }
    if !has_group {
        mode &= 0o707 | (mode & 0o7) << 3;
    }
    fs::set_permissions(output, Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn keep(output: &Path, replaced: &Metadata) -> io::Result<()> {
    std::fs::set_permissions(output, replaced.permissions())
}
