//! Which of the dropped files may be moved.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::manifest::{Listed, NAME, State};
use super::{Left, manifest};
use crate::corpus::{FileIdentity, Key, Reason, Skipped, is_same_file};
use crate::dedup::event::Dropped;
use crate::dedup::names::below;

/// When something of a file last changed, also its name or its mode: seconds and nanoseconds of the file system.
pub(super) type Stamp = (i64, i64);

/// Files that were moved since the run began, each with the file that is there in its stead, if that is known.
pub(super) type Gone<'a> = HashMap<&'a Path, Option<&'a Path>>;

/// When something of a file last changed.
pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.ctime(), metadata.ctime_nsec())
}

/// A file that is dropped.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) file: PathBuf,
    like: String,
    similarity: f64,
    exact_copy: bool,
    /// The file of the one that it is like, if that is known.
    other: Option<PathBuf>,
    /// Whether the one that it is like, which was stored before, came from the same file.
    is_itself: bool,
    /// The first name of the file, if this is another one.
    pub(super) first: Option<PathBuf>,
}

impl Planned {
    /// The file that is there in the stead of this one: the one that it is like, or if that was moved, the one in its
    /// stead. None if that is not known, or all that are like it are to go.
    pub(super) fn kept<'a>(&'a self, gone: &Gone<'a>) -> Option<&'a Path> {
        /// Each file that is moved has one that was there then, so that ways are short.
        const STEPS: usize = 100;
        let mut other = self.other.as_deref()?;
        for _ in 0..STEPS {
            match gone.get(other) {
                None => return (other != self.file).then_some(other),
                Some(stead) => other = (*stead)?,
            }
        }
        None
    }
}

/// What is dropped, and what is known of the folder.
#[derive(Debug)]
pub(super) struct Plan {
    /// As it was named, and without symbolic links.
    folder: PathBuf,
    root: PathBuf,
    /// When the run began, by the clock of the file system. None if nothing is to be done.
    pub(super) began: Option<Stamp>,
    pub(super) files: Vec<Planned>,
    /// Records that are dropped.
    pub(super) records: u64,
    /// Where symbolic links in the folder lead to.
    linked: HashSet<PathBuf>,
    /// Names of files that were met under another name, as they are told.
    told: HashSet<String>,
    /// The same by their files, as they are.
    names: HashMap<FileIdentity, Vec<PathBuf>>,
}

impl Plan {
    /// Nothing is dropped yet.
    pub(super) fn new(folder: &Path, root: PathBuf, began: Option<Stamp>) -> Plan {
        Plan {
            folder: folder.to_owned(),
            root,
            began,
            files: Vec::new(),
            records: 0,
            linked: HashSet::new(),
            told: HashSet::new(),
            names: HashMap::new(),
        }
    }

    /// Takes note of a document that is dropped.
    pub(super) fn drop(&mut self, dropped: &Dropped<'_>) {
        if dropped.record.is_some() {
            self.records += 1;
            return;
        }
        self.files.push(Planned {
            file: dropped.source.to_owned(),
            like: dropped.earlier.key.clone(),
            similarity: dropped.earlier.similarity(),
            exact_copy: dropped.earlier.exact_copy,
            // What was there before is no file of the folder.
            other: dropped
                .earlier_source
                .filter(|_| !dropped.stored_before)
                .map(Path::to_owned),
            is_itself: dropped.stored_before && is_stored(dropped),
            first: None,
        });
    }

    /// Takes note of what is left out, if it is another name of a file.
    pub(super) fn skip(&mut self, skipped: &Skipped) {
        if skipped.reason == Reason::OtherName {
            self.told.insert(skipped.place.clone());
        }
    }

    /// Looks where symbolic links in the folder lead to, and plans to move the other names of each file as well: as
    /// long as one stays, the file does.
    pub(super) fn look(&mut self) {
        if self.files.is_empty() {
            return;
        }
        for entry in below(std::slice::from_ref(&self.folder)) {
            let path = entry.path();
            if entry.path_is_symlink() {
                self.linked.extend(fs::canonicalize(path));
            } else if self.told.contains(&path.display().to_string())
                && let Some(file) = identity(path)
            {
                self.names.entry(file).or_default().push(path.to_owned());
            }
        }
        for planned in std::mem::take(&mut self.files) {
            let names = identity(&planned.file).and_then(|file| self.names.remove(&file));
            let others = names.into_iter().flatten();
            // It may be told as another one is.
            let others = others.filter(|name| *name != planned.file);
            let others = others.map(|file| Planned {
                file,
                first: Some(planned.file.clone()),
                ..planned.clone()
            });
            let others: Vec<Planned> = others.collect();
            self.files.push(planned);
            self.files.extend(others);
        }
    }

    /// How the file is listed, and its bytes, or why it stays.
    pub(super) fn check(&self, planned: &Planned, gone: &Gone<'_>) -> Result<(Listed, u64), Left> {
        if planned.is_itself {
            let like = &planned.like;
            return Err(Left::choice(&format!(
                "{like} is this file itself, and no other copy"
            )));
        }
        let path = planned.file.strip_prefix(&self.folder);
        let Some(path) = path.ok().filter(|path| manifest::is_below(path)) else {
            return Err(Left::choice("it is not below the folder"));
        };
        if path.to_str().is_none() {
            return Err(Left::choice("its name is not UTF-8"));
        }
        if path == Path::new(NAME) {
            return Err(Left::choice("the list of what is moved has this name"));
        }
        let metadata = fs::symlink_metadata(&planned.file);
        let metadata = metadata.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Left::gone("it is gone"),
            _ => Left::failure(error),
        })?;
        let place = fs::canonicalize(&planned.file);
        if !metadata.is_file() || place.ok() != Some(self.root.join(path)) {
            return Err(Left::choice("it is reached by a symbolic link"));
        }
        if metadata.len() == 0 {
            return Err(Left::choice("it is empty"));
        }
        if self.linked.contains(&self.root.join(path)) {
            return Err(Left::choice("a symbolic link leads to it"));
        }
        // The move of its first name changed the file, but not what is in it.
        let is_changed = if planned.first.is_some() {
            let written = (metadata.mtime(), metadata.mtime_nsec());
            self.began.is_some_and(|began| written > began)
        } else {
            self.is_changed(&metadata)
        };
        if is_changed {
            return Err(Left::choice("it changed since the run began"));
        }
        self.check_kept(planned, gone)?;
        let listed = Listed {
            path: path.to_owned(),
            like: planned.like.clone(),
            similarity: planned.similarity,
            exact_copy: planned.exact_copy,
            state: State::of(&metadata),
        };
        let bytes = if planned.first.is_some() {
            0
        } else {
            metadata.len()
        };
        Ok((listed, bytes))
    }

    /// Whether the file that is there in the stead of this one is there, as it was when it was read.
    pub(super) fn check_kept(&self, planned: &Planned, gone: &Gone<'_>) -> Result<(), Left> {
        let Some(kept) = planned.kept(gone) else {
            return Ok(());
        };
        match fs::metadata(kept) {
            Ok(metadata) if !self.is_changed(&metadata) => Ok(()),
            _ => {
                let kept = kept.display();
                Err(Left::choice(&format!("{kept} changed since the run began")))
            }
        }
    }

    fn is_changed(&self, metadata: &Metadata) -> bool {
        self.began.is_some_and(|began| stamp(metadata) > began)
    }
}

/// What the names of a file have in common.
fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata
        .is_file()
        .then(|| FileIdentity::of(path, &metadata))
}

/// Whether the document that is like this file is the file itself.
fn is_stored(dropped: &Dropped<'_>) -> bool {
    let key = &dropped.earlier.key;
    dropped.key == key || Key::path(key).is_some_and(|path| is_same_file(&path, dropped.source))
}
