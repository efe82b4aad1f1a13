//! From the arguments to the files that they lead to.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::key::Key;
use crate::seen::{Again, Seen};
use crate::skip::{Reason, Skipped};

/// The argument that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// What an argument leads to.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// A file that can be read.
    File(PathBuf, Key),
    /// Standard input.
    Stdin,
    /// Something to be left out.
    Skipped(Skipped),
}

/// The files that the arguments lead to: one argument after the other, the content of a folder
/// sorted by name.
#[derive(Debug)]
pub(crate) struct Walk {
    arguments: std::vec::IntoIter<PathBuf>,
    current: Option<(Key, walkdir::IntoIter)>,
    seen: Seen,
    /// The folder of the open store, without symbolic links.
    store: Option<PathBuf>,
}

impl Walk {
    /// Goes through `arguments`, past the store in the folder `store`.
    pub(crate) fn new(arguments: Vec<PathBuf>, store: &Path) -> Walk {
        Walk {
            arguments: arguments.into_iter(),
            current: None,
            seen: Seen::default(),
            store: fs::canonicalize(store).ok(),
        }
    }

    /// Begins with the next argument, which may be answered at once.
    fn begin(&mut self, argument: &Path) -> Option<Found> {
        if argument == Path::new(STDIN) {
            return Some(Found::Stdin);
        }
        if let Err(error) = fs::symlink_metadata(argument) {
            let skipped = Skipped::unreadable(argument, &error);
            return Some(Found::Skipped(match error.kind() {
                io::ErrorKind::NotFound => Skipped {
                    reason: Reason::NotFound,
                    detail: "there is no such file or folder".to_owned(),
                    ..skipped
                },
                _ => skipped,
            }));
        }
        if self.is_inside_store(argument) {
            return Some(Found::Skipped(Skipped::file(Reason::Store, argument)));
        }
        let entries = WalkDir::new(argument)
            .follow_links(true)
            .sort_by_file_name()
            .into_iter();
        self.current = Some((Key::of(argument), entries));
        None
    }

    fn is_inside_store(&self, path: &Path) -> bool {
        let path = fs::canonicalize(path);
        self.store
            .as_ref()
            .is_some_and(|store| path.is_ok_and(|path| path.starts_with(store)))
    }

    /// Whether a folder is that of a store, the open one or another.
    fn is_store(&self, folder: &Path) -> bool {
        folder.join("index.redb").is_file() && (has_column(folder) || self.is_inside_store(folder))
    }

    /// What an entry is; nothing for a folder to be gone into.
    fn look(&mut self, entry: walkdir::Result<walkdir::DirEntry>) -> Option<Found> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Found::Skipped(skipped_entry(&error))),
        };
        let kind = entry.file_type();
        if kind.is_dir() {
            if !self.is_store(entry.path()) {
                return None;
            }
            if let Some((_, entries)) = &mut self.current {
                entries.skip_current_dir();
            }
            return Some(Found::Skipped(Skipped::file(Reason::Store, entry.path())));
        }
        if let Some(reason) = special(kind) {
            return Some(Found::Skipped(Skipped::file(reason, entry.path())));
        }
        let path = entry.into_path();
        let key = Key::of(&path);
        let Some(again) = self.seen.again(&key) else {
            return Some(Found::File(path, key));
        };
        Some(Found::Skipped(match again {
            Again::SameFile => Skipped::file(Reason::NamedTwice, &path),
            Again::SameKey => Skipped {
                detail: format!("another file has the same key, {}; rename one", key.text),
                ..Skipped::file(Reason::SameKey, &path)
            },
        }))
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let found = if let Some((_, entries)) = &mut self.current {
                let Some(entry) = entries.next() else {
                    if let Some((key, _)) = self.current.take() {
                        self.seen.finish(key);
                    }
                    continue;
                };
                self.look(entry)
            } else {
                let argument = self.arguments.next()?;
                self.begin(&argument)
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

/// Whether a folder holds the column of contents of a store, of any generation.
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

/// What cannot be read or gone into.
fn skipped_entry(error: &walkdir::Error) -> Skipped {
    let path = error.path().unwrap_or(Path::new(""));
    if error.loop_ancestor().is_some() {
        return Skipped::file(Reason::SymlinkLoop, path);
    }
    let Some(reason) = error.io_error() else {
        return Skipped::file(Reason::Unreadable, path);
    };
    let is_link = || fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if is_link() && reason.kind() == io::ErrorKind::NotFound {
        return Skipped::file(Reason::BrokenLink, path);
    }
    if is_link() && is_too_many_links(path) {
        return Skipped::file(Reason::SymlinkLoop, path);
    }
    Skipped::unreadable(path, reason)
}

/// Whether links lead from `path` only to one another.
fn is_too_many_links(path: &Path) -> bool {
    // The system's own limit is 40 on Linux and 32 on macOS.
    const LIMIT: usize = 64;
    let mut path = path.to_owned();
    for _ in 0..LIMIT {
        let Ok(target) = fs::read_link(&path) else {
            return false;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    true
}

/// Why a file of this kind is not read, if it is not a plain one.
#[cfg(unix)]
fn special(kind: FileType) -> Option<Reason> {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_file() {
        None
    } else if kind.is_fifo() {
        Some(Reason::Pipe)
    } else if kind.is_socket() {
        Some(Reason::Socket)
    } else {
        Some(Reason::Device)
    }
}

/// Why a file of this kind is not read, if it is not a plain one.
#[cfg(not(unix))]
fn special(kind: FileType) -> Option<Reason> {
    (!kind.is_file()).then_some(Reason::Device)
}
