//! Walks from sources to files.

pub(crate) mod folder;
pub(crate) mod folder_selection;
pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod others;
pub(crate) mod read_file;
mod seen_arguments;
mod survey;

use std::collections::{HashSet, VecDeque};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dedupdb::write::SourceFile;
use walkdir::{DirEntry, WalkDir};

use crate::formats::format::Format;
use crate::glob::Globs;
use crate::options::Options;
use crate::read::stored::StoredKey;
use crate::skipped::{Reason, Skipped};
use crate::source::feed::Feed;
use crate::source::{Source, SourceKind, expanded, special};
use crate::walk::folder::{
    is_aside, is_git_link, is_of_job, is_store, is_version_control, listed_aside,
};
use crate::walk::folder_selection::FolderSelection;
use crate::walk::key::Key;
use crate::walk::read_file::ReadFile;
use crate::walk::seen_arguments::SeenArguments;

/// A file or stream that a source leads to. It becomes a document, or has records.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) feed: Feed,
    /// The key of its document, or the start of the keys of records without an id.
    pub(crate) key: Key,
    /// The key under which the store has the file, if that is not the one of its path. Then [`Found::key`] is that key.
    pub(crate) stored_as: Option<Arc<StoredKey>>,
    /// The format that was chosen for it, if one was.
    pub(crate) format: Option<Format>,
    /// The file as the store knows it, if it is read and has records.
    pub(crate) source: Option<SourceFile>,
    /// The file, once it was looked at. `None` for a stream, and for a pipe, which can be read once.
    pub(crate) read: Option<ReadFile>,
}

impl Found {
    /// Returns what was found, before a look at the file.
    pub(crate) fn new(feed: Feed, key: Key, format: Option<Format>) -> Found {
        Found {
            feed,
            key,
            stored_as: None,
            format,
            source: None,
            read: None,
        }
    }

    /// Sets the key and the format that were chosen for a file or pipe.
    fn chosen(self, key: Option<String>, format: Option<Format>) -> Found {
        Found {
            key: key.map_or(self.key, |text| Key { text, lossy: false }),
            format: format.or(self.format),
            ..self
        }
    }
}

/// A file or stream, or why it is not read.
pub(crate) type FoundResult = Result<Found, Skipped>;

/// The files that the sources lead to: one source after another, the content of a folder sorted by name.
///
/// Symbolic links below an argument are skipped, or followed after everything else. So a file appears under its own
/// name, if that is below an argument, before it appears through a link.
#[derive(Debug)]
pub(crate) struct Walk {
    sources: std::vec::IntoIter<Source>,
    /// The links to follow at the end, in the order in which they were met.
    links: VecDeque<Source>,
    current: Option<FolderCursor>,
    seen: SeenArguments,
    /// The resolved paths of the folders that were entered. A link never leads into them again, so cycles of links end.
    roots: HashSet<PathBuf>,
    /// The resolved path of the open store's folder.
    store: Option<PathBuf>,
    /// The files that were put aside, as far as their lists were met.
    aside: HashSet<PathBuf>,
    follows: bool,
    globs: Globs,
}

/// A folder that is being walked.
#[derive(Debug)]
struct FolderCursor {
    /// The key of the source; `None` for a folder reached through a link.
    argument: Option<Key>,
    entries: walkdir::IntoIter,
    wanted: FolderSelection,
}

impl Walk {
    /// Walks `sources`, except the store that `options` name, and follows symbolic links if they say so.
    ///
    /// A source whose path contains a symbolic link is always followed. It comes last if its target is below another
    /// source.
    pub(crate) fn new(sources: Vec<Source>, options: &Options) -> Walk {
        let sources = expanded(sources);
        let real = sources.iter().filter_map(Source::named);
        let real = real.filter(|path| !is_by_link(path));
        let real: HashSet<PathBuf> = real.flat_map(fs::canonicalize).collect();
        let is_late = |source: &Source| {
            let by_link = source.named().filter(|path| is_by_link(path));
            by_link
                .is_some_and(|path| fs::canonicalize(path).is_ok_and(|path| covers(&real, &path)))
        };
        let (late, sources): (Vec<Source>, Vec<Source>) = sources.into_iter().partition(is_late);
        Walk {
            sources: sources.into_iter(),
            links: late.into(),
            current: None,
            seen: SeenArguments::default(),
            roots: HashSet::new(),
            store: options
                .store
                .as_ref()
                .and_then(|store| fs::canonicalize(store).ok()),
            aside: HashSet::new(),
            follows: options.follow,
            globs: options.globs.clone(),
        }
    }

    /// Starts with the next source. Returns its item if it is not a folder.
    fn begin(&mut self, source: Source) -> Option<FoundResult> {
        let path = match source.kind {
            SourceKind::Path(path) | SourceKind::Pattern(path) => path,
            SourceKind::Stream(stream) => {
                let name = stream.name.to_string_lossy().into_owned();
                let key = Key {
                    text: source.key.unwrap_or(name),
                    lossy: false,
                };
                let found = Found::new(Feed::Stream(stream), key, source.format);
                return Some(Ok(found));
            }
            SourceKind::Skipped(skipped) => return Some(Err(skipped)),
        };
        let found = self.begin_path(&path)?;
        Some(found.map(|found| found.chosen(source.key, source.format)))
    }

    fn begin_path(&mut self, path: &Path) -> Option<FoundResult> {
        let kind = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return Some(Err(skipped_source(path, &error))),
        };
        let is_inside = self.is_inside_store(path);
        if is_inside || kind.is_dir() && is_store(path, || false) {
            return Some(Err(Skipped {
                detail: "this is a dedupdb store, whose files are no documents".to_owned(),
                ..Skipped::file(Reason::StoreNamed, path)
            }));
        }
        let is_link = is_by_link(path);
        let key = Key::of(path);
        if special(kind) == Some(Reason::Pipe) {
            let found = Found::new(Feed::Pipe(path.to_owned()), key, None);
            return Some(Ok(found));
        }
        self.enter(path, kind, (!is_link).then_some(key))
    }

    /// Follows a symbolic link.
    fn follow(&mut self, source: Source) -> Option<FoundResult> {
        let link = source.named()?.to_owned();
        let found = match fs::metadata(&link) {
            Ok(_) if self.is_inside_store(&link) => Some(Err(Skipped::file(Reason::Store, &link))),
            Ok(metadata) => self.enter(&link, metadata.file_type(), None),
            Err(error) => Some(Err(skipped_link(&link, &error))),
        };
        Some(found?.map(|found| found.chosen(source.key, source.format)))
    }

    /// Enters a folder, or returns the item of another file.
    fn enter(&mut self, path: &Path, kind: FileType, argument: Option<Key>) -> Option<FoundResult> {
        if !kind.is_dir() {
            let found = self.file(path, kind, argument.is_none());
            if let Some(argument) = argument {
                self.seen.finish(argument);
            }
            return Some(found);
        }
        if is_store(path, || self.is_inside_store(path)) {
            return Some(Err(Skipped::file(Reason::Store, path)));
        }
        if let Ok(root) = fs::canonicalize(path) {
            if argument.is_none() && covers(&self.roots, &root) {
                return Some(Err(Skipped::other_name(path, Some(&root))));
            }
            self.roots.insert(root);
        }
        let entries = WalkDir::new(path).min_depth(1).sort_by_file_name();
        self.current = Some(FolderCursor {
            argument,
            entries: entries.into_iter(),
            wanted: FolderSelection::below(path, &self.globs),
        });
        None
    }

    fn is_inside_store(&self, path: &Path) -> bool {
        let path = fs::canonicalize(path);
        self.store
            .as_ref()
            .is_some_and(|store| path.is_ok_and(|path| path.starts_with(store)))
    }

    /// Returns the item of an entry. Returns `None` for a folder to enter, and for a link to follow later.
    fn look(&mut self, entry: walkdir::Result<DirEntry>) -> Option<FoundResult> {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(skipped_entry(&error))),
        };
        let (path, kind) = (entry.path(), entry.file_type());
        if !is_version_control(path)
            && let Some(at) = &mut self.current
        {
            let is_folder = kind.is_dir() || kind.is_symlink() && path.is_dir();
            if at.wanted.leaves_out(path, entry.depth(), is_folder) {
                if kind.is_dir() {
                    at.entries.skip_current_dir();
                }
                return Some(Err(Skipped::file(Reason::Excluded, path)));
            }
        }
        if kind.is_symlink() {
            if self.follows {
                self.links.push_back(Source::path(entry.into_path()));
                return None;
            }
            return Some(Err(Skipped::file(Reason::Link, path)));
        }
        if let Some(reason) = self.reason_below(path, kind) {
            if let Some(at) = self.current.as_mut().filter(|_| kind.is_dir()) {
                at.entries.skip_current_dir();
            }
            return Some(Err(Skipped::file(reason, path)));
        }
        if kind.is_dir() {
            return None;
        }
        let is_by_link = self.current.as_ref().is_none_or(|at| at.argument.is_none());
        Some(self.file(path, kind, is_by_link))
    }

    /// Returns the reason why an entry of a folder is not its content: another program keeps it there, or it is a
    /// store.
    fn reason_below(&mut self, path: &Path, kind: FileType) -> Option<Reason> {
        let is_folder = kind.is_dir();
        if is_folder && is_version_control(path) || kind.is_file() && is_git_link(path) {
            return Some(Reason::VersionControl);
        }
        if is_of_job(path, is_folder) {
            return Some(Reason::JobFile);
        }
        if self.is_put_aside(path, is_folder) {
            return Some(Reason::Aside);
        }
        let is_store = is_folder && is_store(path, || self.is_inside_store(path));
        is_store.then_some(Reason::Store)
    }

    /// Whether `move` put a file aside, or wrote the list of such files, or a folder has a damaged list. Other files of the
    /// folder are somebody's own.
    fn is_put_aside(&mut self, path: &Path, is_folder: bool) -> bool {
        if !is_aside(path, is_folder) {
            return self.aside.remove(path);
        }
        let listed = listed_aside(path).filter(|_| is_folder);
        let is_left_out = listed.is_none();
        self.aside.extend(listed.into_iter().flatten());
        is_left_out
    }

    /// Returns the item of a file that is neither a folder nor a link.
    fn file(&self, path: &Path, kind: FileType, is_by_link: bool) -> FoundResult {
        if let Some(reason) = special(kind) {
            return Err(Skipped::file(reason, path));
        }
        let key = Key::of(path);
        if self.seen.again(&key, is_by_link) {
            return Err(Skipped::file(Reason::NamedTwice, path));
        }
        Ok(Found::new(Feed::File(path.to_owned()), key, None))
    }
}

impl Iterator for Walk {
    type Item = FoundResult;

    fn next(&mut self) -> Option<FoundResult> {
        loop {
            let found = if let Some(at) = &mut self.current {
                let Some(entry) = at.entries.next() else {
                    if let Some(FolderCursor {
                        argument: Some(key),
                        ..
                    }) = self.current.take()
                    {
                        self.seen.finish(key);
                    }
                    continue;
                };
                self.look(entry)
            } else if let Some(source) = self.sources.next() {
                self.begin(source)
            } else {
                let link = self.links.pop_front()?;
                self.follow(link)
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

/// Whether `path` is one of `folders` or below one. The folders are resolved paths.
fn covers(folders: &HashSet<PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|above| folders.contains(above))
}

/// Whether any part of a path is a symbolic link.
fn is_by_link(path: &Path) -> bool {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    path.ancestors().any(is_link)
}

/// Returns what is said of a path at which there is nothing.
pub fn nothing_at(path: &Path) -> &'static str {
    if path.to_string_lossy().contains("://") {
        "this is an address, and only files and standard input are read; pipe it in, or read it in Python"
    } else {
        "there is no such file or folder"
    }
}

/// Returns the reason why a path that is a source cannot be read.
fn skipped_source(path: &Path, error: &io::Error) -> Skipped {
    let skipped = Skipped::unreadable(path, error);
    let detail = match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => "a symbolic link to nothing",
        io::ErrorKind::NotFound => nothing_at(path),
        _ => return skipped,
    };
    Skipped {
        reason: Reason::NotFound,
        detail: detail.to_owned(),
        ..skipped
    }
}

/// Returns the reason why a symbolic link cannot be followed.
fn skipped_link(link: &Path, error: &io::Error) -> Skipped {
    if error.kind() == io::ErrorKind::NotFound {
        return Skipped::file(Reason::BrokenLink, link);
    }
    if is_too_many_links(link) {
        return Skipped::file(Reason::SymlinkLoop, link);
    }
    Skipped::unreadable(link, error)
}

/// Returns the reason why an entry cannot be read.
fn skipped_entry(error: &walkdir::Error) -> Skipped {
    let path = error.path().unwrap_or(Path::new(""));
    match error.io_error() {
        Some(error) => Skipped::unreadable(path, error),
        None => Skipped::file(Reason::Unreadable, path),
    }
}

/// Whether links from `path` lead only to further links.
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
