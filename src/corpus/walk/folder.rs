//! What is below a folder and is not its content: stores, the data of version control, and what jobs leave there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::storage;

/// What a file begins with that names the folder of git's data.
const GIT_LINK: &[u8] = b"gitdir: ";

/// Whether a folder is that of a store: the open one, in which it `is_inside`, or another. That is asked only of a folder
/// with an index: to resolve the path of each folder of a deep tree takes as long as its depth cubed.
pub(crate) fn is_store(folder: &Path, is_inside: impl FnOnce() -> bool) -> bool {
    // What cannot be looked at is a store by its names.
    let is_another = || has_column(folder) && storage::is_store(folder).unwrap_or(true);
    folder.join("index.redb").is_file() && (is_inside() || is_another())
}

/// Whether a folder has a file with the name of a column of contents, of any generation.
fn has_column(folder: &Path) -> bool {
    let is_column = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let generation = name
            .to_str()
            .and_then(|name| name.strip_prefix("contents."));
        generation.is_some_and(|generation| generation.parse::<u32>().is_ok())
    };
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_column))
}

/// Whether a file stands for a folder of version control that is elsewhere, as in a submodule or another
/// work tree of git.
pub(crate) fn is_git_link(file: &Path) -> bool {
    let starts = || -> io::Result<bool> {
        let mut start = [0; GIT_LINK.len()];
        File::open(file)?.read_exact(&mut start)?;
        Ok(start == GIT_LINK)
    };
    file.file_name() == Some(OsStr::new(".git")) && starts().unwrap_or(false)
}

/// Whether an entry is what Hadoop and Spark keep beside the files that they write: a marker, a checksum, a folder of
/// unfinished files or of a log.
pub(crate) fn is_of_job(path: &Path, is_folder: bool) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    if is_folder {
        return matches!(name, "_temporary" | "_delta_log" | "_spark_metadata");
    }
    let is_mark = name.starts_with("_committed_") || name.starts_with("_started_");
    let summed = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".crc"));
    // Somebody may call a text so, but hardly beside that very file.
    let is_sum = summed.is_some_and(|summed| path.with_file_name(summed).is_file());
    name == "_SUCCESS" || is_mark || is_sum
}

/// Whether a folder has the data of a version-control system. Names that could be those of other
/// folders need a file in it that speaks for them.
pub(crate) fn is_version_control(folder: &Path) -> bool {
    match folder.file_name().and_then(|name| name.to_str()) {
        Some(".git" | ".hg" | ".svn" | ".bzr" | ".jj") => true,
        Some("_darcs") => folder.join("format").is_file(),
        Some("CVS") => folder.join("Entries").is_file(),
        _ => false,
    }
}
