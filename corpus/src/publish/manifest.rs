//! The list in a folder of output of everything that dedupdb wrote there.
//!
//! It is a file called `.dedupdb-output` with lines of JSON. The first line has the number of the format,
//! `{"dedupdb_output":1,"writer":"dedupdb 0.1.0","files":2}`. Each of the others is a file, sorted by path:
//! `{"path":"a/b.txt","bytes":12,"blake3":"..."}`. A path that is not UTF-8 is in hexadecimal, as `path_hex`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use walkdir::{DirEntry, WalkDir};

use super::durable::DurableFile;
use super::error::{Error, Result, WithPath};
use super::hash::hash_of;
use rayon::prelude::*;

/// The name of the manifest in the folder.
pub(crate) const NAME: &str = ".dedupdb-output";

/// The number of the format.
const FORMAT: u64 = 1;

/// The first bytes of the manifest.
const START: &[u8] = b"{\"dedupdb_output\":";

/// The files of an output.
#[derive(Debug)]
struct Manifest(BTreeMap<PathBuf, WrittenState>);

/// The state of a file when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenState {
    bytes: u64,
    hash: String,
}

/// Files of an output whose lines in the manifest are known, by path.
pub(crate) type WrittenFiles = BTreeMap<PathBuf, WrittenState>;

/// A file of an output that is written sequentially and hashed at the same time.
#[derive(Debug)]
pub(crate) struct HashedFile {
    file: DurableFile,
    hasher: Box<blake3::Hasher>,
}

impl HashedFile {
    pub(crate) fn new(file: File) -> HashedFile {
        HashedFile {
            file: DurableFile::new(file),
            hasher: Box::default(),
        }
    }

    /// Finishes the file and makes it durable.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> io::Result<WrittenState> {
        self.file.finish()?;
        Ok(WrittenState::by(&self.hasher))
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether the file is the manifest of an output.
pub(crate) fn is_manifest(path: &Path) -> bool {
    let starts = || -> io::Result<bool> {
        let mut start = [0; START.len()];
        File::open(path)?.read_exact(&mut start)?;
        Ok(start == START)
    };
    path.file_name() == Some(OsStr::new(NAME)) && starts().unwrap_or(false)
}

/// Makes the folder `root` and everything in it durable, and writes a manifest of it. The `written` files already are
/// durable.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn seal(root: &Path, written: &WrittenFiles) -> Result<()> {
    let listed = entries(root)?
        .into_par_iter()
        .map(|entry| {
            let path = entry.path();
            let name = below(root, path).to_owned();
            if let Some(listed) = written.get(path) {
                return Ok(Some((name, listed.clone())));
            }
            File::open(path).and_then(|file| file.sync_all()).of(path)?;
            if entry.file_type().is_dir() {
                return Ok(None);
            }
            Ok(Some((name, WrittenState::of(path).of(path)?)))
        })
        .collect::<Vec<_>>();
    let listed: Vec<Option<(PathBuf, WrittenState)>> = listed.into_iter().collect::<Result<_>>()?;
    let path = root.join(NAME);
    let text = Manifest(listed.into_iter().flatten().collect()).to_text();
    let write = || -> io::Result<()> {
        let mut file = File::create_new(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if cfg!(unix) {
            File::open(root)?.sync_all()?;
        }
        Ok(())
    };
    write().of(&path)
}

/// Checks that everything in the folder `root` is as dedupdb wrote it. Missing files are ignored.
///
/// Returns the entries, each with the result of `before`, which is called before the entry is examined.
///
/// # Errors
///
/// Those of the system and of `before`, or one that names an entry that dedupdb did not write.
pub(crate) fn verify<T: Send>(
    root: &Path,
    before: impl Fn(&Path) -> Result<T> + Sync,
) -> Result<Vec<(PathBuf, T)>> {
    let manifest = Manifest::read(root)?;
    let folders: BTreeSet<&Path> = manifest
        .0
        .keys()
        .flat_map(|path| path.ancestors())
        .collect();
    let check = |entry: DirEntry| -> Result<(PathBuf, T)> {
        let path = entry.path();
        let known = before(path)?;
        let below = below(root, path);
        let kind = entry.file_type();
        let listed = manifest.0.get(below).filter(|_| kind.is_file());
        let is_ours = kind.is_dir() && (folders.contains(below) || below == Path::new(""))
            || kind.is_file() && below == Path::new(NAME);
        if listed.is_none() && !is_ours {
            let root = root.display();
            return Err(Error::foreign(
                path,
                format!(
                    "dedupdb did not write this into {root}; move it away, or write to another place"
                ),
            ));
        }
        if let Some(listed) = listed {
            let metadata = entry.metadata().map_err(io::Error::from).of(path)?;
            let is_same =
                metadata.len() == listed.bytes && WrittenState::of(path).of(path)? == *listed;
            if !is_same {
                return Err(Error::foreign(
                    path,
                    "this was changed since dedupdb wrote it; move it away, or write to another place",
                ));
            }
        }
        Ok((path.to_owned(), known))
    };
    // The reported error is that of the first entry, whatever the order of the threads.
    entries(root)?
        .into_par_iter()
        .map(check)
        .collect::<Vec<_>>()
        .into_iter()
        .collect()
}

/// The folder and everything in it, sorted by name.
fn entries(root: &Path) -> Result<Vec<DirEntry>> {
    let entries = WalkDir::new(root).sort_by_file_name().into_iter();
    entries.map(|entry| found(entry, root)).collect()
}

/// Converts an entry of a walk below `root`.
pub(super) fn found(entry: walkdir::Result<DirEntry>, root: &Path) -> Result<DirEntry> {
    entry.map_err(io::Error::from).of(root)
}

/// The path relative to `root`.
fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

impl WrittenState {
    fn of(path: &Path) -> io::Result<WrittenState> {
        Ok(WrittenState::by(&hash_of(path)?))
    }

    fn by(hasher: &blake3::Hasher) -> WrittenState {
        WrittenState {
            bytes: hasher.count(),
            hash: hasher.finalize().to_hex().to_string(),
        }
    }
}

impl Manifest {
    fn to_text(&self) -> String {
        let writer = concat!("dedupdb ", env!("CARGO_PKG_VERSION"));
        let mut text = format!(
            "{{\"dedupdb_output\":{FORMAT},\"writer\":\"{writer}\",\"files\":{}}}\n",
            self.0.len()
        );
        for (path, listed) in &self.0 {
            let (name, path) = match path.to_str() {
                Some(path) => ("path", path.to_owned()),
                None => ("path_hex", hex(path.as_os_str().as_encoded_bytes())),
            };
            let line = json!({ name: path, "bytes": listed.bytes, "blake3": listed.hash });
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{line}");
        }
        text
    }

    fn read(root: &Path) -> Result<Manifest> {
        let path = root.join(NAME);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if !is_file || !is_manifest(&path) {
            return Err(Error::foreign(
                root,
                format!(
                    "dedupdb did not write this folder (there is no {NAME} in it) and leaves it \
                     alone; write to another place, or remove it yourself"
                ),
            ));
        }
        let text = fs::read_to_string(&path).of(&path)?;
        let damaged = || Error::foreign(&path, "this is damaged; remove the folder yourself");
        let mut lines = text.lines().map(|line| {
            let object: serde_json::Result<Value> = serde_json::from_str(line);
            object.map_err(|_| damaged())
        });
        let head = lines.next().transpose()?.unwrap_or_default();
        if head["dedupdb_output"] != FORMAT {
            return Err(Error::foreign(
                &path,
                "another version of dedupdb wrote this; replace the folder with that version, or \
                 remove it yourself",
            ));
        }
        let mut files = BTreeMap::new();
        for line in lines {
            let line = line?;
            let (Some(file), Some(bytes), Some(hash)) = (
                listed_path(&line),
                line["bytes"].as_u64(),
                line["blake3"].as_str(),
            ) else {
                return Err(damaged());
            };
            let hash = hash.to_owned();
            files.insert(file, WrittenState { bytes, hash });
        }
        Ok(Manifest(files))
    }
}

/// The path on a line of a manifest.
fn listed_path(line: &Value) -> Option<PathBuf> {
    if let Some(path) = line["path"].as_str() {
        return Some(path.into());
    }
    path_of(unhex(line["path_hex"].as_str()?)?)
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems have paths that no bytes make"
)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_of(_: Vec<u8>) -> Option<PathBuf> {
    None
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let bytes = digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(root: &Path) -> Result<Vec<PathBuf>> {
        let there = verify(root, |_| Ok(()))?;
        Ok(there.into_iter().map(|(path, ())| path).collect())
    }

    #[test]
    fn what_changes_while_it_is_looked_at_was_something_else_before() {
        let folder = sealed();
        let file = folder.path().join("deep/er/a.txt");
        let change = |path: &Path| {
            if path == file {
                fs::write(path, "edited").of(path)?;
            }
            Ok(())
        };
        assert!(verify(folder.path(), change).is_err());
    }

    fn sealed() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("deep/er")).unwrap();
        fs::write(folder.path().join("deep/er/a.txt"), "one").unwrap();
        fs::write(folder.path().join("line\nbreak"), "two").unwrap();
        seal(folder.path(), &WrittenFiles::new()).unwrap();
        folder
    }

    #[test]
    fn what_was_written_is_known_again() {
        let folder = sealed();
        assert!(is_manifest(&folder.path().join(NAME)));
        let known = there(folder.path()).unwrap();
        assert_eq!(known.len(), 6, "{known:?}");
        // Missing files are ignored.
        fs::remove_dir_all(folder.path().join("deep")).unwrap();
        assert_eq!(there(folder.path()).unwrap().len(), 3);
    }

    #[test]
    fn what_others_put_there_or_changed_is_named() {
        let refused = |change: &dyn Fn(&Path), named: &str| {
            let folder = sealed();
            change(folder.path());
            let error = there(folder.path()).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        };
        refused(
            &|root| fs::write(root.join("mine"), "").unwrap(),
            "mine: dedupdb did not",
        );
        refused(
            &|root| fs::create_dir(root.join("mine")).unwrap(),
            "mine: dedupdb did not",
        );
        refused(
            &|root| fs::write(root.join("deep/er/a.txt"), "two").unwrap(),
            "a.txt: this was changed",
        );
        refused(
            &|root| fs::remove_file(root.join(NAME)).unwrap(),
            "there is no .dedupdb-output",
        );
        refused(
            &|root| fs::write(root.join(NAME), "{\"dedupdb_output\":2}\n").unwrap(),
            "another version",
        );
        refused(
            &|root| fs::write(root.join(NAME), "{\"dedupdb_output\":1}\n{\"path\":1}").unwrap(),
            "damaged",
        );
        #[cfg(unix)]
        refused(
            &|root| {
                fs::remove_file(root.join("deep/er/a.txt")).unwrap();
                std::os::unix::fs::symlink("../../line\nbreak", root.join("deep/er/a.txt"))
                    .unwrap();
            },
            "a.txt: dedupdb did not",
        );
    }

    #[cfg(unix)]
    #[test]
    fn names_of_any_bytes_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let name = path_of(vec![b'a', 0xff]).unwrap();
        fs::write(folder.path().join(&name), "one").unwrap();
        seal(folder.path(), &WrittenFiles::new()).unwrap();
        assert!(
            there(folder.path())
                .unwrap()
                .contains(&folder.path().join(name))
        );
    }
}
