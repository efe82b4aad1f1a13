//! Recognizes what is below a folder but not its content: stores, data of version control, files that jobs leave
//! there, and files that were put aside.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::publish::work::is_work;

/// The name of the list of files that are put aside.
pub(crate) const MANIFEST: &str = ".dedupdb-moved";

/// The start of that list.
pub(crate) const MANIFEST_START: &[u8; 17] = b"{\"dedupdb_moved\":";

/// The start of a file that names the folder of git's data.
const GIT_LINK: &[u8; 8] = b"gitdir: ";

/// Whether a folder is a store: the open one, which contains it if `is_inside` says so, or another one. Only a folder
/// with an index is checked further: resolving the path of each folder of a deep tree takes time cubic in its depth.
pub(crate) fn is_store(folder: &Path, is_inside: impl FnOnce() -> bool) -> bool {
    // A folder that cannot be examined counts as a store because of its file names.
    let is_another = || has_column(folder) && dedupdb::Store::exists(folder).unwrap_or(true);
    folder.join("index.redb").is_file() && (is_inside() || is_another())
}

/// Whether a folder has a file named like a column of contents, of any generation.
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

/// Whether a file stands for a folder of version control elsewhere, as in a submodule or another work tree of git.
pub(crate) fn is_git_link(file: &Path) -> bool {
    file.file_name() == Some(OsStr::new(".git")) && starts_with(file, GIT_LINK)
}

/// Whether Hadoop, Spark or a `dedup` wrote an entry beside their output: a marker, a checksum, a folder of unfinished
/// files or of a log.
pub(crate) fn is_of_job(path: &Path, is_folder: bool) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    if is_folder {
        let is_spark = matches!(name, "_temporary" | "_delta_log" | "_spark_metadata");
        return is_spark || is_work(path);
    }
    let is_mark = name.starts_with("_committed_") || name.starts_with("_started_");
    let summed = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".crc"));
    // A text may have such a name, but hardly beside that very file.
    let is_sum = summed.is_some_and(|summed| path.with_file_name(summed).is_file());
    name == "_SUCCESS" || is_mark || is_sum
}

/// Whether a folder has the data of a version-control system. Names that other folders may have require a typical file
/// inside.
pub(crate) fn is_version_control(folder: &Path) -> bool {
    match folder.file_name().and_then(|name| name.to_str()) {
        Some(".git" | ".hg" | ".svn" | ".bzr" | ".jj") => true,
        Some("_darcs") => folder.join("format").is_file(),
        Some("CVS") => folder.join("Entries").is_file(),
        _ => is_bare_git(folder),
    }
}

/// Whether a folder is what `.git` is elsewhere, as on a server.
fn is_bare_git(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
        && ["objects", "refs"]
            .iter()
            .all(|it| folder.join(it).is_dir())
}

/// Whether `move` made a folder of files that are put aside, or whether this is the list of them.
pub(crate) fn is_aside(path: &Path, is_folder: bool) -> bool {
    if is_folder {
        return is_aside(&path.join(MANIFEST), false);
    }
    path.file_name() == Some(OsStr::new(MANIFEST)) && starts_with(path, MANIFEST_START)
}

/// Returns the files that the list in a folder names. `None` if the folder has no list, or a damaged one.
pub(crate) fn listed_aside(folder: &Path) -> Option<HashSet<PathBuf>> {
    let list = fs::read_to_string(folder.join(MANIFEST)).ok()?;
    let lines = list.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().ok()?;
    // The first line is about all files, and the last one ends the list.
    lines.first()?.get("dedupdb_moved")?;
    lines.last()?.get("blake3")?;
    let paths = lines.iter().filter_map(|line| line["path"].as_str());
    Some(paths.map(|path| folder.join(path)).collect())
}

/// Whether a file begins with these bytes.
pub(crate) fn starts_with<const BYTES: usize>(file: &Path, bytes: &[u8; BYTES]) -> bool {
    let mut start = [0; BYTES];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *bytes
}
