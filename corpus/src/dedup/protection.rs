//! Determines which documents must not be dropped.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::Gitignore;

use crate::dedup::error::{Error, Result};
use crate::dedup::event::SpareReason;
use crate::dedup::files_below::files_below;
use crate::dedup::settings::Dedup;
use crate::{FileIdentity, Glob, Key, Origin, Skipped, globs_below};

/// The number of keys or files between two ticks.
const TICK: usize = 1000;

/// The documents that must not be dropped: those of files that match a pattern and, if the documents to drop are
/// listed, all others.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    patterns: Vec<Pattern>,
    /// The folders of the input. Their files are matched by their paths below them, all others by their whole paths.
    folders: Vec<PathBuf>,
    /// Files with a name that matches, which may be a symbolic link.
    files: HashSet<FileIdentity>,
    /// Folders to which a matching symbolic link leads, as resolved paths.
    linked: Vec<PathBuf>,
    /// The keys that may be dropped, and what was met of each. `None` if all may be dropped.
    keys: Option<Vec<(String, ListedKeyState)>>,
    by_key: HashMap<String, usize>,
    /// The keys of each file, because a list may name a file by other paths.
    by_file: HashMap<FileIdentity, Vec<usize>>,
    /// The last source that was looked up.
    last: Option<(PathBuf, Option<FileIdentity>, bool)>,
}

/// What was met of a listed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedKeyState {
    Nothing,
    /// A file that was skipped.
    LeftOut,
    Document,
}

/// A pattern, and whether it matched a name.
#[derive(Debug)]
struct Pattern {
    glob: Glob,
    matcher: Gitignore,
    is_met: bool,
}

/// Whether a document may be dropped, before it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropPermission {
    /// It may be dropped.
    None,
    /// It must not be dropped.
    Protected,
    /// It must not be dropped, although its key is listed.
    Contradicted,
}

impl Protection {
    /// Returns the protection that a run with these input paths and streams requests.
    pub(crate) fn of(dedup: &Dedup, inputs: &[PathBuf]) -> Protection {
        let pattern = |glob: &Glob| {
            Some(Pattern {
                glob: glob.clone(),
                matcher: globs_below(Path::new(""), std::slice::from_ref(glob))?,
                is_met: false,
            })
        };
        let folders = inputs.iter().filter(|input| input.is_dir());
        Protection {
            patterns: dedup.protected.iter().filter_map(pattern).collect(),
            folders: folders.cloned().collect(),
            ..Protection::default()
        }
    }

    /// Finds the protected files, and calls `tick` from time to time.
    ///
    /// # Errors
    ///
    /// Those of `tick`; a pattern matches nothing, and no stream is still to be read.
    pub(crate) fn look(
        &mut self,
        dedup: &Dedup,
        inputs: &[PathBuf],
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        if let Some(keys) = &dedup.droppable {
            self.list(keys, tick)?;
        }
        self.look_for_names(dedup, inputs, tick)
    }

    /// Records the keys that may be dropped.
    fn list(&mut self, keys: &[String], tick: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut listed = Vec::new();
        for (number, key) in keys.iter().enumerate() {
            if number.is_multiple_of(TICK) {
                tick()?;
            }
            // No document has an empty key: it comes from an empty line.
            if key.is_empty() || self.by_key.contains_key(key) {
                continue;
            }
            self.by_key.insert(key.clone(), listed.len());
            if let Some(file) = Key::path(key).and_then(|path| identity(&path)) {
                self.by_file.entry(file).or_default().push(listed.len());
            }
            listed.push((key.clone(), ListedKeyState::Nothing));
        }
        self.keys = Some(listed);
        Ok(())
    }

    /// Records the files with a name that matches a pattern, before one of them is judged under another name.
    fn look_for_names(
        &mut self,
        dedup: &Dedup,
        inputs: &[PathBuf],
        tick: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        if self.patterns.is_empty() {
            return Ok(());
        }
        for (number, entry) in files_below(inputs).enumerate() {
            if number.is_multiple_of(TICK) {
                tick()?;
            }
            let path = entry.path();
            // A broken link protects nothing.
            let Ok(metadata) = fs::metadata(path) else {
                continue;
            };
            if !self.is_matched(path) {
                continue;
            }
            if metadata.is_dir() {
                self.linked.extend(fs::canonicalize(path));
            } else {
                self.files.insert(FileIdentity::of(path, &metadata));
            }
        }
        if dedup.sources.iter().all(|source| source.named().is_some()) {
            self.check()?;
        }
        Ok(())
    }

    /// Whether any document may be protected.
    pub(crate) fn is_some(&self) -> bool {
        self.keys.is_some() || !self.patterns.is_empty()
    }

    /// Whether the droppable documents are listed.
    pub(crate) fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns what applies to a document. Call this once per document, because it records which patterns and keys were
    /// met.
    pub(crate) fn guard(&mut self, origin: &Origin) -> DropPermission {
        if !self.is_some() {
            return DropPermission::None;
        }
        let (file, is_matched) = self.source(&origin.source);
        let is_listed = self.is_listed(&origin.key, file.filter(|_| origin.record.is_none()));
        match (is_matched, is_listed) {
            (true, Some(true)) => DropPermission::Contradicted,
            (true, _) | (false, Some(false)) => DropPermission::Protected,
            (false, _) => DropPermission::None,
        }
    }

    /// Returns the file of a source, if it is needed, and whether one of its names matches a pattern. The last result
    /// is kept, because many records share one source.
    fn source(&mut self, source: &Path) -> (Option<FileIdentity>, bool) {
        if let Some((last, file, is_matched)) = &self.last
            && last == source
        {
            return (*file, *is_matched);
        }
        let is_asked = !self.by_file.is_empty() || !self.files.is_empty();
        let metadata = is_asked.then(|| fs::metadata(source).ok()).flatten();
        let file = metadata.map(|metadata| FileIdentity::of(source, &metadata));
        let is_file_of = |file| self.files.contains(file);
        let is_linked = || {
            let place = fs::canonicalize(source).unwrap_or_default();
            self.linked.iter().any(|folder| place.starts_with(folder))
        };
        let is_matched = file.as_ref().is_some_and(is_file_of)
            || !self.linked.is_empty() && is_linked()
            || self.is_matched(source);
        self.last = Some((source.to_owned(), file, is_matched));
        (file, is_matched)
    }

    /// Whether a name matches a pattern.
    fn is_matched(&mut self, source: &Path) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let below = self.folders.iter().map(|it| source.strip_prefix(it));
        let path = below.flatten().next().unwrap_or(source);
        let path: PathBuf = path.components().filter(is_name).collect();
        let mut is_matched = false;
        for Pattern {
            matcher, is_met, ..
        } in &mut self.patterns
        {
            let mut parts = path.ancestors().enumerate();
            let is_of = parts.any(|(above, part)| {
                !part.as_os_str().is_empty() && matcher.matched(part, above > 0).is_ignore()
            });
            is_matched |= is_of;
            *is_met |= is_of;
        }
        is_matched
    }

    /// Whether a key is listed, or its file under another path. `None` without a list.
    fn is_listed(&mut self, key: &str, file: Option<FileIdentity>) -> Option<bool> {
        self.keys.as_ref()?;
        Some(self.meet(key, file, ListedKeyState::Document))
    }

    /// Records what was met of the listed keys of a document or file. Returns whether there are such keys.
    fn meet(&mut self, key: &str, file: Option<FileIdentity>, what: ListedKeyState) -> bool {
        let by_file = file.and_then(|file| self.by_file.get(&file));
        let at = self
            .by_key
            .get(key)
            .into_iter()
            .chain(by_file.into_iter().flatten());
        let mut is_listed = false;
        for at in at {
            if let Some((_, met)) = self.keys.as_mut().and_then(|keys| keys.get_mut(*at)) {
                is_listed = true;
                if *met != ListedKeyState::Document {
                    *met = what;
                }
            }
        }
        is_listed
    }

    /// Records a skipped file.
    pub(crate) fn leave_out(&mut self, skipped: &Skipped) {
        if self.keys.is_some() {
            let path = Path::new(&skipped.place);
            self.meet(&Key::of(path).text, identity(path), ListedKeyState::LeftOut);
        }
    }

    /// Returns the listed keys that no document had, and why.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (&str, SpareReason)> {
        let keys = self.keys.iter().flatten();
        keys.filter_map(|(key, met)| match met {
            ListedKeyState::Nothing => Some((&**key, SpareReason::Unknown)),
            ListedKeyState::LeftOut => Some((&**key, SpareReason::LeftOut)),
            ListedKeyState::Document => None,
        })
    }

    /// Refuses patterns that matched no name, because they would silently protect nothing.
    ///
    /// # Errors
    ///
    /// [`Error::ProtectsNothing`].
    pub(crate) fn check(&self) -> Result<()> {
        match self.patterns.iter().find(|pattern| !pattern.is_met) {
            None => Ok(()),
            Some(Pattern { glob, .. }) => Err(Error::ProtectsNothing { glob: glob.clone() }),
        }
    }
}

/// Returns the identity of the file of this name, unless it is a symbolic link.
fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_file = metadata.is_file();
    is_file.then(|| FileIdentity::of(path, &metadata))
}

/// Whether a part of a path is a name rather than the root or `..`: patterns match names.
fn is_name(part: &Component<'_>) -> bool {
    matches!(part, Component::Normal(_))
}
