//! Which documents are not to be dropped.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::Gitignore;

use crate::corpus::{Glob, Key, Origin, globs_below};
use crate::dedup::error::{Error, Result};
use crate::dedup::settings::Dedup;

/// The documents that are not to be dropped: those of files that match a pattern, and where the ones to drop are
/// listed, all others.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    patterns: Vec<Pattern>,
    /// The folders that are read. Their files are matched by their paths below them, all others by their whole paths.
    folders: Vec<PathBuf>,
    /// The keys of those that may be dropped, and whether a document has each. None if all may be.
    keys: Option<Vec<(String, bool)>>,
    by_key: HashMap<String, usize>,
    /// Files without symbolic links, because a list may name them by another path.
    by_file: HashMap<PathBuf, usize>,
}

/// A pattern, and whether a document matched it.
#[derive(Debug)]
struct Pattern {
    glob: Glob,
    matcher: Gitignore,
    is_met: bool,
}

/// What is known of a document before it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It may be dropped.
    None,
    /// It is not to be dropped.
    Protected,
    /// So it is, although its key is listed.
    Contradicted,
}

impl Protection {
    /// What a corpus asks for that is read from these paths and streams.
    pub(crate) fn of(dedup: &Dedup, inputs: &[PathBuf]) -> Protection {
        let pattern = |glob: &Glob| {
            Some(Pattern {
                glob: glob.clone(),
                matcher: globs_below(Path::new(""), std::slice::from_ref(glob))?,
                is_met: false,
            })
        };
        let folders = inputs.iter().filter(|input| input.is_dir());
        let mut protection = Protection {
            patterns: dedup.protected.iter().filter_map(pattern).collect(),
            folders: folders.cloned().collect(),
            ..Protection::default()
        };
        if let Some(keys) = &dedup.droppable {
            for (at, key) in keys.iter().enumerate() {
                let file = Key::path(key).and_then(|path| fs::canonicalize(path).ok());
                protection.by_file.extend(file.map(|file| (file, at)));
                protection.by_key.insert(key.clone(), at);
            }
            protection.keys = Some(keys.iter().map(|key| (key.clone(), false)).collect());
        }
        protection
    }

    /// Whether any document may be protected.
    pub(crate) fn is_some(&self) -> bool {
        self.keys.is_some() || !self.patterns.is_empty()
    }

    /// Whether the documents that may be dropped are listed.
    pub(crate) fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// What holds for a document. To be asked once for each, because it takes note of the patterns and keys that are
    /// met.
    pub(crate) fn guard(&mut self, origin: &Origin) -> Guard {
        let is_matched = self.is_matched(origin);
        let is_listed = self.is_listed(origin);
        match (is_matched, is_listed) {
            (true, Some(true)) => Guard::Contradicted,
            (true, _) | (false, Some(false)) => Guard::Protected,
            (false, _) => Guard::None,
        }
    }

    fn is_matched(&mut self, origin: &Origin) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let source = &*origin.source;
        let below = self.folders.iter().map(|it| source.strip_prefix(it));
        let path = below.flatten().next().unwrap_or(source);
        let path: PathBuf = path.components().filter(is_name).collect();
        let mut is_matched = false;
        for Pattern {
            matcher, is_met, ..
        } in &mut self.patterns
        {
            if matcher
                .matched_path_or_any_parents(&path, false)
                .is_ignore()
            {
                is_matched = true;
                *is_met = true;
            }
        }
        is_matched
    }

    /// Whether its key is listed, or its file is under another path. None without a list.
    fn is_listed(&mut self, origin: &Origin) -> Option<bool> {
        let keys = self.keys.as_mut()?;
        let by_file = || {
            let file = fs::canonicalize(&origin.source).ok()?;
            self.by_file.get(&file).filter(|_| origin.record.is_none())
        };
        let at = self.by_key.get(&origin.key).or_else(by_file);
        let listed = at.and_then(|at| keys.get_mut(*at));
        Some(listed.map(|(_, is_met)| *is_met = true).is_some())
    }

    /// The listed keys that no document had.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().flatten();
        keys.filter(|(_, is_met)| !is_met).map(|(key, _)| &**key)
    }

    /// Refuses patterns that matched no document: they would protect nothing where something was meant.
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

/// Whether a part of a path is a name, and not the root or `..`: patterns are of names.
fn is_name(part: &Component<'_>) -> bool {
    matches!(part, Component::Normal(_))
}
