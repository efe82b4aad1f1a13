//! Folders whose files are deleted after use, so that nothing in them has to be durable.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

static FOLDERS: RwLock<Vec<Arc<Path>>> = RwLock::new(Vec::new());

/// Turns off syncing in a folder while it exists.
#[derive(Debug)]
pub(crate) struct UnsyncedFolder(Arc<Path>);

impl UnsyncedFolder {
    /// Turns off syncing in `folder`, an absolute path.
    pub(crate) fn new(folder: &Path) -> UnsyncedFolder {
        let folder: Arc<Path> = folder.into();
        let mut folders = FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
        folders.push(folder.clone());
        UnsyncedFolder(folder)
    }
}

impl Drop for UnsyncedFolder {
    fn drop(&mut self) {
        let mut folders = FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = folders.iter().position(|it| Arc::ptr_eq(it, &self.0)) {
            folders.swap_remove(at);
        }
    }
}

/// Whether `path` is such a folder or inside of one.
pub(super) fn is_fleeting(path: &Path) -> bool {
    let folders = FOLDERS.read().unwrap_or_else(PoisonError::into_inner);
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{UnsyncedFolder, is_fleeting};

    #[test]
    fn a_folder_is_fleeting_as_long_as_someone_says_so() {
        let (folder, file) = (Path::new("/none/fleeting"), Path::new("/none/fleeting/a/b"));
        let (first, second) = (UnsyncedFolder::new(folder), UnsyncedFolder::new(folder));
        assert!(is_fleeting(folder) && is_fleeting(file));
        assert!(!is_fleeting(Path::new("/none/fleeting.too")) && !is_fleeting(Path::new("/none")));
        drop(first);
        assert!(is_fleeting(file));
        drop(second);
        assert!(!is_fleeting(file));
    }
}
