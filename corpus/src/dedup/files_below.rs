//! All names below the input, including those that are not read.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// Returns the files and symbolic links below these paths, whether selected or not. Entries that cannot be read are
/// skipped.
pub(crate) fn files_below(paths: &[PathBuf]) -> impl Iterator<Item = DirEntry> {
    let walks = paths
        .iter()
        .map(|path: &PathBuf| WalkDir::new(Path::new(path)));
    let entries = walks.flat_map(IntoIterator::into_iter).flatten();
    entries.filter(|entry| !entry.file_type().is_dir())
}
