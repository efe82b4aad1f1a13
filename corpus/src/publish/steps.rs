//! The steps that change names, any of which tests can refuse.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The file system as used for publishing.
#[derive(Debug, Default)]
pub(super) struct PublishSteps {
    #[cfg(test)]
    pub(super) plan: std::rc::Rc<plan::Plan>,
}

impl PublishSteps {
    /// Renames a file or folder of ours to a name that must be free.
    ///
    /// If the system supports neither this nor a second name for a file, whatever appears at this very moment is
    /// replaced.
    pub(super) fn rename_to_free(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        if renamed_at_once(from, to)? {
            return Ok(());
        }
        match link_to_free(from, to) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {}
            linked => return linked,
        }
        match fs::symlink_metadata(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
            Err(error) => Err(error),
        }
    }

    /// Renames a file over another one.
    pub(super) fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        fs::rename(from, to)
    }

    /// Makes the names in a folder durable, where the system can.
    pub(super) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step()?;
        if cfg!(unix) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Removes a file, a link or a folder with everything in it, if it exists.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        let removed = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    #[cfg_attr(
        not(test),
        expect(
            clippy::unused_self,
            clippy::unnecessary_wraps,
            reason = "a step is refused in tests only"
        )
    )]
    fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        self.plan.step()?;
        Ok(())
    }
}

/// Renames a file to a name that must be free, and never replaces anything.
///
/// # Errors
///
/// Those of the system, also if it supports neither this nor a second name for a file.
#[cfg(unix)]
pub(crate) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    if renamed_at_once(from, to)? {
        return Ok(());
    }
    link_to_free(from, to)
}

/// Renames a file or folder to a name that must be free, in one step.
///
/// Returns whether the system supports this. If not, nothing changes.
fn renamed_at_once(from: &Path, to: &Path) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        supported(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE))
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (from, to);
        Ok(false)
    }
}

/// Gives a file a name that must be free, and removes the old one. A kill in between leaves both names.
fn link_to_free(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from).inspect_err(|_| {
        // The file still has its old name, so removing the new one loses nothing.
        fs::remove_file(to).unwrap_or_default();
    })
}

/// Makes the names in a folder durable, where the system can.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    PublishSteps::default().sync_folder(folder)
}

/// Whether the system and the file system support the flags of a rename.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn supported(renamed: rustix::io::Result<()>) -> io::Result<bool> {
    use rustix::io::Errno;
    match renamed {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::link_to_free;

    #[test]
    fn a_second_name_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::write(&from, "from").unwrap();
        fs::write(&to, "somebody's").unwrap();
        let refused = link_to_free(&from, &to).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&from).unwrap(), b"from");
        assert_eq!(fs::read(&to).unwrap(), b"somebody's");
        fs::remove_file(&to).unwrap();
        link_to_free(&from, &to).unwrap();
        assert!(!from.exists());
        assert_eq!(fs::read(&to).unwrap(), b"from");
    }
}

#[cfg(test)]
pub(super) mod plan {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::ops::Range;

    /// The steps that fail.
    #[derive(Debug)]
    pub(in crate::publish) struct Plan {
        taken: Cell<usize>,
        refused: RefCell<Range<usize>>,
    }

    impl Default for Plan {
        fn default() -> Plan {
            Plan {
                taken: Cell::new(0),
                refused: RefCell::new(0..0),
            }
        }
    }

    impl Plan {
        /// Refuses these steps, counted from now on.
        pub(in crate::publish) fn refuse(&self, steps: Range<usize>) {
            self.taken.set(0);
            self.refused.replace(steps);
        }

        /// The number of steps since then.
        pub(in crate::publish) fn taken(&self) -> usize {
            self.taken.get()
        }

        pub(super) fn step(&self) -> io::Result<()> {
            let step = self.taken.replace(self.taken.get() + 1);
            if self.refused.borrow().contains(&step) {
                return Err(io::Error::other("refused"));
            }
            Ok(())
        }
    }
}
