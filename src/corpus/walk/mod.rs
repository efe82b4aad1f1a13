//! From the arguments to the files that they lead to.

mod folder;
pub(crate) mod identity;
pub(crate) mod key;
mod seen;

use std::collections::{HashSet, VecDeque};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::corpus::options::Options;
use crate::corpus::skipped::{Reason, Skipped};
use crate::corpus::walk::folder::{is_git_link, is_store, is_version_control};
use crate::corpus::walk::key::Key;
use crate::corpus::walk::seen::{Again, Seen};
use crate::publish::manifest::is_manifest;

/// The argument that stands for standard input.
pub const STDIN: &str = "-";

/// What an argument leads to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A file that can be read.
    File(PathBuf, Key),
    /// A pipe that an argument names; it can be read once.
    Pipe(PathBuf),
    /// Standard input.
    Stdin,
    /// Something to be left out.
    Skipped(Skipped),
}

/// The files that the arguments lead to: one argument after the other, the content of a folder
/// sorted by name.
///
/// Symbolic links below an argument are passed over, or followed once everything else was met: so a
/// file comes under its own name, if that is below an argument, before it comes by a link.
#[derive(Debug)]
pub struct Walk {
    arguments: std::vec::IntoIter<PathBuf>,
    /// What is to be followed at the end, in the order in which it was met.
    links: VecDeque<PathBuf>,
    current: Option<Below>,
    seen: Seen,
    /// Folders that were begun to be gone through, without symbolic links. None is begun twice, so
    /// links that lead in a circle come to an end.
    roots: HashSet<PathBuf>,
    /// The folder of the open store, without symbolic links.
    store: Option<PathBuf>,
    follows: bool,
}

/// A folder that is gone through.
#[derive(Debug)]
struct Below {
    /// The key of an argument; nothing of a folder that a link led to.
    argument: Option<Key>,
    entries: walkdir::IntoIter,
}

impl Walk {
    /// Goes through `arguments`, past the store in the folder `store`; along symbolic links if the
    /// `options` say so.
    ///
    /// An argument that is reached by a symbolic link is followed in any case. It comes last if what
    /// it leads to is below another argument.
    pub fn new(arguments: Vec<PathBuf>, store: &Path, options: &Options) -> Walk {
        let is_real = |argument: &&PathBuf| *argument != Path::new(STDIN) && !is_by_link(argument);
        let real = arguments.iter().filter(is_real);
        let real: HashSet<PathBuf> = real.flat_map(fs::canonicalize).collect();
        let is_late = |argument: &PathBuf| {
            is_by_link(argument)
                && fs::canonicalize(argument).is_ok_and(|path| covers(&real, &path))
        };
        let (late, arguments): (Vec<PathBuf>, Vec<PathBuf>) =
            arguments.into_iter().partition(is_late);
        Walk {
            arguments: arguments.into_iter(),
            links: late.into(),
            current: None,
            seen: Seen::default(),
            roots: HashSet::new(),
            store: fs::canonicalize(store).ok(),
            follows: options.follow,
        }
    }

    /// Begins with the next argument, which may be answered at once.
    fn begin(&mut self, argument: &Path) -> Option<Found> {
        if argument == Path::new(STDIN) {
            return Some(Found::Stdin);
        }
        let kind = match fs::metadata(argument) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return Some(Found::Skipped(skipped_argument(argument, &error))),
        };
        let is_inside = self.is_inside_store(argument);
        if is_inside || kind.is_dir() && is_store(argument, is_inside) {
            return Some(Found::Skipped(Skipped {
                detail: "this is a dedupdb store, whose files are no documents".to_owned(),
                ..Skipped::file(Reason::StoreNamed, argument)
            }));
        }
        if special(kind) == Some(Reason::Pipe) {
            return Some(Found::Pipe(argument.to_owned()));
        }
        let is_link = is_by_link(argument);
        let key = (!is_link).then(|| Key::of(argument));
        self.enter(argument, kind, key)
    }

    /// Follows a symbolic link.
    fn follow(&mut self, link: &Path) -> Option<Found> {
        match fs::metadata(link) {
            Ok(_) if self.is_inside_store(link) => {
                Some(Found::Skipped(Skipped::file(Reason::Store, link)))
            }
            Ok(metadata) => self.enter(link, metadata.file_type(), None),
            Err(error) => Some(Found::Skipped(skipped_link(link, &error))),
        }
    }

    /// Begins to go through a folder, or says what another file is.
    fn enter(&mut self, path: &Path, kind: FileType, argument: Option<Key>) -> Option<Found> {
        if !kind.is_dir() {
            let found = self.file(path, kind, argument.is_none());
            if let Some(argument) = argument {
                self.seen.finish(argument);
            }
            return Some(found);
        }
        if is_store(path, self.is_inside_store(path)) {
            return Some(Found::Skipped(Skipped::file(Reason::Store, path)));
        }
        if let Ok(root) = fs::canonicalize(path) {
            if argument.is_none() && covers(&self.roots, &root) {
                return Some(Found::Skipped(Skipped::other_name(path, Some(&root))));
            }
            self.roots.insert(root);
        }
        let entries = WalkDir::new(path).min_depth(1).sort_by_file_name();
        self.current = Some(Below {
            argument,
            entries: entries.into_iter(),
        });
        None
    }

    fn is_inside_store(&self, path: &Path) -> bool {
        let path = fs::canonicalize(path);
        self.store
            .as_ref()
            .is_some_and(|store| path.is_ok_and(|path| path.starts_with(store)))
    }

    /// What an entry is; nothing for a folder to be gone into, and for a link to be followed later.
    fn look(&mut self, entry: walkdir::Result<DirEntry>) -> Option<Found> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Found::Skipped(skipped_entry(&error))),
        };
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.is_symlink() {
            if self.follows {
                self.links.push_back(entry.into_path());
                return None;
            }
            return Some(Found::Skipped(Skipped::file(Reason::Link, path)));
        }
        if kind.is_file() && is_git_link(path) {
            return Some(Found::Skipped(Skipped::file(Reason::VersionControl, path)));
        }
        if !kind.is_dir() {
            let is_by_link = self.current.as_ref().is_none_or(|at| at.argument.is_none());
            return Some(self.file(path, kind, is_by_link));
        }
        let reason = if is_version_control(path) {
            Reason::VersionControl
        } else if is_store(path, self.is_inside_store(path)) {
            Reason::Store
        } else {
            return None;
        };
        if let Some(at) = &mut self.current {
            at.entries.skip_current_dir();
        }
        Some(Found::Skipped(Skipped::file(reason, path)))
    }

    /// What a file is that is no folder and no link.
    fn file(&mut self, path: &Path, kind: FileType, is_by_link: bool) -> Found {
        if let Some(reason) = special(kind) {
            return Found::Skipped(Skipped::file(reason, path));
        }
        if is_manifest(path) {
            return Found::Skipped(Skipped::file(Reason::Manifest, path));
        }
        let key = Key::of(path);
        let Some(again) = self.seen.again(&key, is_by_link) else {
            return Found::File(path.to_owned(), key);
        };
        Found::Skipped(match again {
            Again::SameFile => Skipped::file(Reason::NamedTwice, path),
            Again::SameKey => Skipped {
                detail: format!("another file has the same key, {}; rename one", key.text),
                ..Skipped::file(Reason::SameKey, path)
            },
        })
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let found = if let Some(at) = &mut self.current {
                let Some(entry) = at.entries.next() else {
                    if let Some(Below {
                        argument: Some(key),
                        ..
                    }) = self.current.take()
                    {
                        self.seen.finish(key);
                    }
                    continue;
                };
                self.look(entry)
            } else if let Some(argument) = self.arguments.next() {
                self.begin(&argument)
            } else {
                let link = self.links.pop_front()?;
                self.follow(&link)
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

/// Whether an argument is a pipe, which can be read once.
pub fn is_pipe(argument: &Path) -> bool {
    fs::metadata(argument).is_ok_and(|meta| special(meta.file_type()) == Some(Reason::Pipe))
}

/// Whether an argument has no name that tells its text from another's: standard input, and what a
/// shell puts in the place of `<(...)`.
pub fn is_nameless(argument: &Path) -> bool {
    let shells = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    argument == Path::new(STDIN) || argument.parent().is_some_and(|at| shells.contains(&at))
}

/// Whether one of `folders`, which have no symbolic links, is `path` or above it.
fn covers(folders: &HashSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|above| folders.contains(above))
}

/// Whether some part of a path is a symbolic link.
fn is_by_link(path: &Path) -> bool {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    path.ancestors().any(is_link)
}

/// Why an argument cannot be read.
fn skipped_argument(argument: &Path, error: &io::Error) -> Skipped {
    let skipped = Skipped::unreadable(argument, error);
    let detail = match error.kind() {
        io::ErrorKind::NotFound if argument.is_symlink() => "a symbolic link to nothing",
        io::ErrorKind::NotFound => "there is no such file or folder",
        _ => return skipped,
    };
    Skipped {
        reason: Reason::NotFound,
        detail: detail.to_owned(),
        ..skipped
    }
}

/// Why a symbolic link cannot be followed.
fn skipped_link(link: &Path, error: &io::Error) -> Skipped {
    if error.kind() == io::ErrorKind::NotFound {
        return Skipped::file(Reason::BrokenLink, link);
    }
    if is_too_many_links(link) {
        return Skipped::file(Reason::SymlinkLoop, link);
    }
    Skipped::unreadable(link, error)
}

/// What cannot be gone into.
fn skipped_entry(error: &walkdir::Error) -> Skipped {
    let path = error.path().unwrap_or(Path::new(""));
    match error.io_error() {
        Some(error) => Skipped::unreadable(path, error),
        None => Skipped::file(Reason::Unreadable, path),
    }
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
    if kind.is_file() || kind.is_dir() {
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
    (!kind.is_file() && !kind.is_dir()).then_some(Reason::Device)
}
