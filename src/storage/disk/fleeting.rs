//! Folders whose files are deleted when they were used, so that nothing in them has to be durable.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

static FOLDERS: RwLock<Vec<Arc<Path>>> = RwLock::new(Vec::new());

/// While this is there, nothing in its folder is made durable.
#[derive(Debug)]
pub(crate) struct Fleeting(Arc<Path>);

impl Fleeting {
    /// Begins with a folder, by its whole path.
    pub(crate) fn new(folder: &Path) -> Fleeting {
        let folder: Arc<Path> = folder.into();
        let mut folders = FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
        folders.push(folder.clone());
        Fleeting(folder)
    }
}

impl Drop for Fleeting {
    fn drop(&mut self) {
        let mut folders = FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = folders.iter().position(|it| Arc::ptr_eq(it, &self.0)) {
            folders.swap_remove(at);
        }
    }
}

/// Whether what is at a path is such a folder or in one.
pub(super) fn is_fleeting(path: &Path) -> bool {
    let folders = FOLDERS.read().unwrap_or_else(PoisonError::into_inner);
    folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Fleeting, is_fleeting};

    #[test]
    fn a_folder_is_fleeting_as_long_as_someone_says_so() {
        let (folder, file) = (Path::new("/none/fleeting"), Path::new("/none/fleeting/a/b"));
        let (first, second) = (Fleeting::new(folder), Fleeting::new(folder));
        assert!(is_fleeting(folder) && is_fleeting(file));
        assert!(!is_fleeting(Path::new("/none/fleeting.too")) && !is_fleeting(Path::new("/none")));
        drop(first);
        assert!(is_fleeting(file));
        drop(second);
        assert!(!is_fleeting(file));
    }
}
