//! All names below what is read, also those that nobody reads.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// The files and symbolic links below these paths, whatever is chosen of them. What cannot be looked at is passed over.
pub(crate) fn below(paths: &[PathBuf]) -> impl Iterator<Item = DirEntry> {
    let walks = paths
        .iter()
        .map(|path: &PathBuf| WalkDir::new(Path::new(path)));
    let entries = walks.flat_map(IntoIterator::into_iter).flatten();
    entries.filter(|entry| !entry.file_type().is_dir())
}
