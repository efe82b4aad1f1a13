//! Claims folders, so that no other run moves files to or from them.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::Path;

use crate::dedup::error::{Error, Result};

/// While this exists, no other process can claim these folders, a folder in one of them, or one that contains one.
///
/// The folders themselves are locked, so nothing is left in them. Those that contain a claimed folder are locked in
/// common with other claims. A folder that this user cannot read, or whose file system has no locks for folders, is
/// not protected.
#[derive(Debug)]
pub(crate) struct FolderClaim {
    locked: Vec<File>,
}

impl FolderClaim {
    /// Claims folders, given their resolved paths.
    ///
    /// # Errors
    ///
    /// [`Error::Held`].
    pub(crate) fn of(folders: &[&Path]) -> Result<FolderClaim> {
        let mut claim = FolderClaim { locked: Vec::new() };
        for folder in folders {
            let holder = "another process is moving files in it or a folder in it";
            claim.locked.extend(lock(folder, File::try_lock, holder)?);
        }
        let around = folders.iter().flat_map(|folder| folder.ancestors().skip(1));
        let mut around: BTreeSet<&Path> = around.collect();
        // One of the folders may contain another one.
        around.retain(|folder| !folders.contains(folder));
        for folder in around {
            let holder = "another process is moving files in it";
            claim
                .locked
                .extend(lock(folder, File::try_lock_shared, holder)?);
        }
        Ok(claim)
    }
}

impl Drop for FolderClaim {
    fn drop(&mut self) {
        // A process that was started meanwhile may have the files open as well until it runs its program.
        for file in &self.locked {
            file.unlock().unwrap_or_default();
        }
    }
}

/// Locks a folder, if possible.
fn lock(
    folder: &Path,
    lock: fn(&File) -> std::result::Result<(), TryLockError>,
    holder: &str,
) -> Result<Option<File>> {
    let Ok(file) = File::open(folder) else {
        return Ok(None);
    };
    match lock(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Error::Held {
            path: folder.to_owned(),
            holder: holder.to_owned(),
        }),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_keeps_others_out_of_what_is_around_and_inside() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("a/b/c")).unwrap();
        std::fs::create_dir_all(path("a/beside")).unwrap();
        let claim = FolderClaim::of(&[&path("a/b")]).unwrap();
        for (refused, told) in [
            ("a", "/a: another process is moving files in it or"),
            ("a/b", "/a/b: another process is moving files in it"),
            ("a/b/c", "/a/b: another process is moving files in it;"),
        ] {
            let error = FolderClaim::of(&[&path(refused)]).unwrap_err().to_string();
            assert!(error.contains(told), "{refused}: {error}");
        }
        drop(FolderClaim::of(&[&path("a/beside")]).unwrap());
        drop(claim);
        // Files that come back may come from a folder in their own.
        let claim = FolderClaim::of(&[&path("a"), &path("a/b")]).unwrap();
        assert!(FolderClaim::of(&[&path("a/beside")]).is_err());
        drop(claim);
        drop(FolderClaim::of(&[&path("a/b/c")]).unwrap());
    }
}
