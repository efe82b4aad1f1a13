//! The list of moved files.
//!
//! Lines of JSON. The first has the number of the format, the number of files, their original folder and the one with the list,
//! `{"dedupdb_moved":1,"files":2,"from":"/home/notes","inode":7,"to":"/home/aside","writer":"dedupdb 0.1.0"}`, with the inode of
//! the original folder; each of the others is a file,
//! with the key of the document that it resembles, its size and its modification time,
//! `{"bytes":12,"exact_copy":false,"like":"a/a.txt","modified":1700000000000000000,"path":"a/b.txt","similarity":0.91}`;
//! the last has the hash of everything before it, `{"blake3":"..."}`.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::dedup::error::{Error, Result};
use crate::number::times;
use crate::publish::error::WithPath as _;

pub(crate) use crate::walk::folder::MANIFEST as NAME;
use crate::walk::folder::MANIFEST_START as START;

/// The number of the format.
const FORMAT: u64 = 1;

const NO_LIST: &str = "this is no list of moved files";

/// The moved files, and their original folder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MoveManifest {
    /// The resolved path of the original folder.
    pub(super) from: PathBuf,
    /// The number by which the file system knows that folder, wherever it is moved there.
    pub(super) inode: u64,
    /// The resolved path of the folder to which they were moved.
    pub(super) to: PathBuf,
    pub(super) files: Vec<ManifestEntry>,
}

/// A moved file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ManifestEntry {
    /// Its path relative to the original folder, and to the one to which it is moved.
    pub(super) path: PathBuf,
    /// The key of the document that it resembles.
    pub(super) like: String,
    pub(super) similarity: f64,
    /// Whether the two have the same text.
    pub(super) exact_copy: bool,
    pub(super) state: MovedFileState,
}

/// Distinguishes a file from others that take its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MovedFileState {
    bytes: u64,
    /// The modification time, in nanoseconds since 1970.
    modified: i64,
}

impl MovedFileState {
    pub(super) fn of(metadata: &Metadata) -> MovedFileState {
        let modified = metadata.modified().ok().and_then(times::nanoseconds);
        MovedFileState {
            bytes: metadata.len(),
            modified: modified.unwrap_or(i64::MAX),
        }
    }
}

impl MoveManifest {
    /// Returns the contents of the list's file. `None` if a path is not UTF-8.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let writer = concat!("dedupdb ", env!("CARGO_PKG_VERSION"));
        let first = json!({
            "dedupdb_moved": FORMAT,
            "writer": writer,
            "from": self.from.to_str()?,
            "inode": self.inode,
            "to": self.to.to_str()?,
            "files": self.files.len(),
        });
        let mut lines = format!("{first}\n");
        for file in &self.files {
            let path = file.path.to_str()?;
            let line = json!({
                "path": path,
                "like": file.like,
                "similarity": file.similarity,
                "exact_copy": file.exact_copy,
                "bytes": file.state.bytes,
                "modified": file.state.modified,
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        let hash = blake3::hash(lines.as_bytes()).to_hex();
        lines.push_str(&json!({ "blake3": hash.as_str() }).to_string());
        lines.push('\n');
        Some(lines.into_bytes())
    }

    /// Reads the list at `path`, which the caller named as `name`.
    ///
    /// # Errors
    ///
    /// It cannot be read, is not a list, or has been changed: [`Error::BadManifest`] says what is wrong.
    pub(super) fn read(path: &Path, name: &Path) -> Result<MoveManifest> {
        let bytes = bytes_of(path).of(name)?;
        let parsed = bytes.map_or_else(
            || Err(NO_LIST.to_owned()),
            |bytes| MoveManifest::parse(&bytes),
        );
        parsed.map_err(|reason| Error::BadManifest {
            path: name.to_owned(),
            reason,
        })
    }

    /// Returns the folder to which the files in `folder` go back. If that is not where they were moved to, the folder may have
    /// been moved or copied with the original folder: then the one that lies beside it as that did. Of a folder that was moved
    /// alone, that may be somebody else's, and so may what is now where the original folder was.
    ///
    /// # Errors
    ///
    /// The folder is a copy of one that still exists, without a copy of the original folder.
    pub(super) fn root(&self, folder: &Path) -> Result<PathBuf, String> {
        if folder == self.to {
            return Ok(self.from.clone());
        }
        let mut above = self.to.ancestors().zip(folder.ancestors());
        let beside = above.find_map(|(above, there)| {
            let way = self.from.strip_prefix(above).ok()?;
            Some(there.join(way))
        });
        let list = |folder: &Path| fs::read(folder.join(NAME)).ok();
        let is_copy = list(&self.to).is_some_and(|own| Some(own) == list(folder));
        let is_original =
            |folder: &Path| fs::metadata(folder).is_ok_and(|found| found.ino() == self.inode);
        let beside = beside.filter(|beside| {
            *beside != self.from && beside.is_dir() && (is_copy || !is_original(&self.from))
        });
        match beside {
            Some(beside) => Ok(beside),
            None if is_copy => Err(format!(
                "this is a copy of the list in {}; undo the move there",
                self.to.display()
            )),
            None => Ok(self.from.clone()),
        }
    }

    fn parse(bytes: &[u8]) -> Result<MoveManifest, String> {
        let none = || NO_LIST.to_owned();
        let text = std::str::from_utf8(bytes).map_err(|_| none())?;
        let mut lines = text.split_inclusive('\n');
        let first = lines
            .next()
            .and_then(|line| serde_json::from_str::<Value>(line).ok());
        let first = first
            .filter(|first| first["dedupdb_moved"].is_u64())
            .ok_or_else(none)?;
        if first["dedupdb_moved"] != FORMAT {
            return Err("it was written by a newer dedupdb; undo with that one".to_owned());
        }
        let from = first["from"].as_str().map(PathBuf::from);
        let from = from.filter(|from| from.is_absolute());
        let from = from.ok_or("line 1 has no folder that the files are from")?;
        let inode = first["inode"]
            .as_u64()
            .ok_or("line 1 has no number of that folder")?;
        let to = first["to"].as_str().map(PathBuf::from);
        let to = to.ok_or("line 1 has no folder that the files are in")?;
        let mut files = Vec::new();
        let mut hash = None;
        for (number, line) in (2..).zip(lines) {
            if hash.is_some() {
                return Err(format!("line {number} is behind the end"));
            }
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            match value["blake3"].as_str() {
                Some(found) => hash = Some((found.to_owned(), text.len() - line.len())),
                None => files.push(
                    ManifestEntry::of(&value)
                        .ok_or_else(|| format!("line {number} names no file below the folder"))?,
                ),
            }
        }
        let (hash, end) = hash.ok_or("its end is missing")?;
        if *hash != *blake3::hash(&bytes[..end]).to_hex() || first["files"] != files.len() {
            return Err(format!(
                "it was changed since it was written, so nothing is moved back; restore it, or move the files back to \
                 {} yourself",
                from.display()
            ));
        }
        Ok(MoveManifest {
            from,
            inode,
            to,
            files,
        })
    }
}

impl ManifestEntry {
    fn of(value: &Value) -> Option<ManifestEntry> {
        let path = Path::new(value["path"].as_str()?);
        let is_below = is_below(path);
        is_below.then_some(ManifestEntry {
            path: path.to_owned(),
            like: value["like"].as_str()?.to_owned(),
            similarity: value["similarity"].as_f64()?,
            exact_copy: value["exact_copy"].as_bool()?,
            state: MovedFileState {
                bytes: value["bytes"].as_u64()?,
                modified: value["modified"].as_i64()?,
            },
        })
    }
}

/// Returns the bytes of a regular file that begins like a list. Other files are not read, and pipes are not opened.
fn bytes_of(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?.take(metadata.len());
    let mut bytes = Vec::new();
    file.by_ref()
        .take(START.len() as u64)
        .read_to_end(&mut bytes)?;
    if bytes != START {
        return Ok(None);
    }
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Whether a path consists of normal names only.
pub(super) fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    parts.next().is_some()
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        // `components` ignores some parts, such as repeated separators.
        && path.components().collect::<PathBuf>().as_os_str() == path.as_os_str()
}

#[cfg(test)]
mod tests {
    use super::{ManifestEntry, MoveManifest, MovedFileState};

    fn manifest() -> MoveManifest {
        let file = |path: &str| ManifestEntry {
            path: path.into(),
            like: "a\n\"b\"".to_owned(),
            similarity: 0.912_345,
            exact_copy: false,
            state: MovedFileState {
                bytes: 12,
                modified: -1,
            },
        };
        MoveManifest {
            from: "/home/notes".into(),
            inode: 7,
            to: "/home/aside".into(),
            files: vec![file("a.txt"), file("b/c\nd.txt")],
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let bytes = manifest().to_bytes().unwrap();
        assert_eq!(MoveManifest::parse(&bytes), Ok(manifest()));
    }

    #[test]
    fn what_is_not_as_it_was_written_is_refused() {
        let bytes = manifest().to_bytes().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(MoveManifest::parse(&changed).is_err(), "byte {at}");
            // Every byte but the last line ending is needed.
            if at + 1 < bytes.len() {
                assert!(MoveManifest::parse(&bytes[..at]).is_err(), "cut at {at}");
            }
        }
        for (path, reason) in [
            ("../a.txt", "line 2 names no file below the folder"),
            ("/etc/passwd", "line 2 names no file below the folder"),
            ("b/../../a.txt", "line 2 names no file below the folder"),
            ("./a.txt", "line 2 names no file below the folder"),
            ("", "line 2 names no file below the folder"),
            (
                "z.txt",
                "it was changed since it was written, so nothing is moved back; restore it, or move the files back to \
                 /home/notes yourself",
            ),
        ] {
            let edited = text.replace("a.txt\",", &format!("{path}\","));
            assert_ne!(edited, text);
            assert_eq!(
                MoveManifest::parse(edited.as_bytes()),
                Err(reason.to_owned()),
                "{path}"
            );
        }
        let longer = format!("{text}{{}}\n");
        assert_eq!(
            MoveManifest::parse(longer.as_bytes()),
            Err("line 5 is behind the end".to_owned())
        );
        for none in ["", "{}", "[]", "a\tb\n", "\u{0}"] {
            let reason = "this is no list of moved files".to_owned();
            assert_eq!(MoveManifest::parse(none.as_bytes()), Err(reason));
        }
    }
}
