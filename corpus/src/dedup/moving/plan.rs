//! Plans which of the dropped files may be moved.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::hold::{ChangeTime, RESERVED, stamp};
use super::manifest::{ManifestEntry, MovedFileState};
use super::{LeftReason, manifest};
use crate::aside_names::{PartedPath, is_copy_of, is_out_of_sight, is_out_of_use, set_aside};
use crate::dedup::event::DroppedDocument;
use crate::dedup::files_below::files_below;
use crate::dedup::surviving_copy::SurvivingCopy;
use crate::{FileIdentity, Reason, Skipped};

/// Why a file stays that is not as it was read.
pub(super) const CHANGED: &str = "it changed since the run began";

/// Files that were moved since the run began, each with the file that remains in its place, if known.
pub(super) type MovedFiles<'a> = HashMap<&'a Path, Option<&'a Path>>;

/// A dropped file.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct PlannedMove {
    pub(super) file: PathBuf,
    key: String,
    /// The key of the document that it resembles.
    pub(super) like: String,
    similarity: f64,
    pub(super) exact_copy: bool,
    /// Whether its text is not in the file as it is: it is that of a page, or a program extracted it.
    pub(super) is_extracted: bool,
    /// The identity of the file when it was read.
    read: Option<FileIdentity>,
    /// The file of the document that it resembles, if known. The documents of a store may have none.
    pub(super) other: Option<PathBuf>,
    /// Whether that is the file of a stored document, which may be one of the folder.
    pub(super) is_other_stored: bool,
    /// Whether that is protected.
    pub(super) is_other_protected: bool,
    /// Why it stays whatever happens to that file, if it does.
    pub(super) stays: Option<String>,
    /// The first name of the file, if this is another name.
    pub(super) first: Option<PathBuf>,
}

impl PlannedMove {
    /// Returns a file as it is now, as one that was dropped.
    #[cfg(test)]
    pub(super) fn of(file: &Path) -> PlannedMove {
        PlannedMove {
            file: file.to_owned(),
            key: String::new(),
            like: String::new(),
            similarity: 1.0,
            exact_copy: true,
            is_extracted: false,
            read: Some(FileIdentity::of(file, &fs::metadata(file).unwrap())),
            other: None,
            is_other_stored: false,
            is_other_protected: false,
            stays: None,
            first: None,
        }
    }

    /// Records that the file moves because of another one of the folder, with which it was compared.
    pub(super) fn resemble(&mut self, other: &PlannedMove, similarity: f64, exact_copy: bool) {
        self.like.clone_from(&other.key);
        self.similarity = similarity;
        self.exact_copy = exact_copy;
        self.other = Some(other.file.clone());
    }

    /// Whether a file with this metadata is the one that was read.
    pub(super) fn is_as_read(&self, path: &Path, found: &Metadata) -> bool {
        self.read
            .is_none_or(|read| read == FileIdentity::of(path, found))
    }

    /// Whether it is known, without reading texts again, that the other one is the same: the same bytes, or the same text
    /// of a stream.
    pub(super) fn is_same(&self) -> bool {
        let is_same = |other: &PathBuf| self.has_bytes_of(other);
        self.exact_copy && self.other.as_ref().map_or(!self.is_extracted, is_same)
    }

    /// Whether the file has the same bytes as another one.
    pub(super) fn has_bytes_of(&self, other: &Path) -> bool {
        let bytes = |path: &Path| fs::read(path).ok();
        let size = |path: &Path| fs::metadata(path).ok().map(|it| it.len());
        size(&self.file) == size(other)
            && bytes(&self.file).is_some_and(|own| Some(own) == bytes(other))
    }

    /// Whether only the text, which was extracted, is that of the other file: the bytes differ, or that file is not at hand.
    pub(super) fn has_other_bytes(&self) -> bool {
        let is_same = |other: &PathBuf| self.has_bytes_of(other);
        self.exact_copy && self.is_extracted && !self.other.as_ref().is_some_and(is_same)
    }

    /// Returns the file that remains in place of this one: the file that it resembles or, if that was moved, the one
    /// that remains in place of that. `None` if this is unknown, or if all files that resemble it are to be moved.
    pub(super) fn kept<'a>(&'a self, gone: &MovedFiles<'a>) -> Option<&'a Path> {
        /// Each moved file refers to one that existed at that time, so the chains are short.
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

/// The dropped files, and what is known about the folder.
#[derive(Debug)]
pub(super) struct MovePlan {
    /// The folder as named, and its resolved path.
    folder: PathBuf,
    root: PathBuf,
    /// The names of streams that the folder is compared with.
    streams: Vec<PathBuf>,
    /// The files and folders that it is compared with.
    pub(super) against: Vec<PathBuf>,
    /// When the run began, by the clock of the file system. `None` if nothing is to be changed.
    pub(super) began: Option<ChangeTime>,
    pub(super) files: Vec<PlannedMove>,
    /// The number of dropped records.
    pub(super) records: u64,
    /// The files that dropped ones resemble, with their identities when they were read, as far as known.
    kept: HashMap<PathBuf, FileIdentity>,
    /// The targets of symbolic links in the folder.
    linked: HashSet<PathBuf>,
    /// The displayed names of files that were met under another name.
    reported: HashSet<String>,
    /// The same names in full, by their files.
    names: HashMap<FileIdentity, Vec<PathBuf>>,
}

impl MovePlan {
    /// Returns a plan without dropped files.
    pub(super) fn new(
        folder: &Path,
        root: PathBuf,
        streams: Vec<PathBuf>,
        began: Option<ChangeTime>,
    ) -> MovePlan {
        MovePlan {
            folder: folder.to_owned(),
            root,
            streams,
            against: Vec::new(),
            began,
            files: Vec::new(),
            records: 0,
            kept: HashMap::new(),
            linked: HashSet::new(),
            reported: HashSet::new(),
            names: HashMap::new(),
        }
    }

    /// Records a dropped document.
    pub(super) fn drop(&mut self, dropped: &DroppedDocument<'_>) {
        if dropped.record.is_some() {
            self.records += 1;
            return;
        }
        let like = &dropped.earlier.key;
        let [own, earlier] = dropped.files.map(|file| file.map(|file| file.identity));
        let earlier = earlier.filter(|_| dropped.earlier_record.is_none());
        let (mut other, mut read, mut stays) = (None, earlier, None);
        match dropped.surviving_copy {
            None => {
                let is_stream = |source: &Path| dropped.stored_before && self.is_stream(source);
                let source = dropped.earlier_source.filter(|source| !is_stream(source));
                other = source.map(Path::to_owned);
            }
            Some(SurvivingCopy::File(path, identity)) => {
                other = Some(self.named(path));
                read = Some(*identity);
            }
            Some(SurvivingCopy::Itself) => {
                stays = Some(format!("{like} is this file itself, and no other copy"));
            }
            Some(SurvivingCopy::Nothing(why)) => stays = Some(why.clone()),
        }
        if let (Some(other), Some(read)) = (&other, read) {
            self.kept.insert(other.clone(), read);
        }
        self.files.push(PlannedMove {
            file: dropped.source.to_owned(),
            key: dropped.key.to_owned(),
            like: like.clone(),
            similarity: dropped.earlier.similarity(),
            exact_copy: dropped.earlier.exact_copy,
            is_extracted: dropped.is_extracted,
            other,
            is_other_stored: dropped.surviving_copy.is_some(),
            is_other_protected: dropped.is_earlier_protected,
            read: own,
            stays,
            first: None,
        });
    }

    /// Records that other files move because of this one, which stays.
    pub(super) fn keep(&mut self, staying: &PlannedMove) {
        if let Some(read) = staying.read {
            self.kept.insert(staying.file.clone(), read);
        }
    }

    /// Whether a file of the folder is hidden there: programs may look for it.
    pub(super) fn is_hidden(&self, file: &Path) -> bool {
        file.strip_prefix(&self.folder).is_ok_and(is_out_of_sight)
    }

    /// Whether a file of the folder has a place there that is as safe as that of another one: neither hidden nor thrown away, and
    /// not called a copy more than that.
    pub(super) fn is_as_safe(&self, file: &Path, than: &Path) -> bool {
        let [file, than] = [file, than].map(|path| self.below(path));
        !is_out_of_sight(file) && set_aside(file) <= set_aside(than)
    }

    /// Whether the file that another one resembles stays at a place that is as safe, as far as that is known of files elsewhere.
    /// What is protected is safe.
    pub(super) fn is_other_safe(&self, planned: &PlannedMove) -> bool {
        match planned.other.as_deref() {
            _ if planned.is_other_protected => true,
            Some(other) if other.starts_with(&self.folder) => self.is_as_safe(other, &planned.file),
            _ => !self.other_names(planned).any(is_out_of_use),
        }
    }

    /// Returns why a file would be missed, if the one that it resembles is hidden or was thrown away, and it is not.
    pub(super) fn why_missed(&self, planned: &PlannedMove) -> Option<String> {
        let is_missed = !planned.is_other_protected
            && !is_out_of_use(self.below(&planned.file))
            && self.other_names(planned).any(is_out_of_use);
        is_missed.then(|| format!("{} is hidden or was thrown away", planned.like))
    }

    /// Returns the names of the document that a file resembles, and of its file, below what was named.
    fn other_names<'a>(&'a self, planned: &'a PlannedMove) -> impl Iterator<Item = &'a Path> {
        let names = [Some(Path::new(&planned.like)), planned.other.as_deref()];
        names.into_iter().flatten().map(|name| self.below(name))
    }

    /// Returns the path of a file below the folder or what it is compared with. If a store knows another path to it, what this
    /// has in common with that of the folder tells nothing.
    pub(super) fn below<'a>(&self, path: &'a Path) -> &'a Path {
        // Keys are written without a dot before them, and files as they were named.
        fn plain(path: &Path) -> &Path {
            path.strip_prefix(".").unwrap_or(path)
        }
        let path = plain(path);
        let roots = [&self.folder, &self.root].into_iter().chain(&self.against);
        let mut roots = roots.map(|root| plain(root));
        if let Some(below) = roots.find_map(|root| path.strip_prefix(root).ok()) {
            return below;
        }
        behind(path, common_names(path, &self.root))
    }

    /// Whether a file may be a copy of another one that was cut off, by the names of both: its own tell a copy more.
    pub(super) fn is_cut_copy(&self, file: &Path, other: &Path) -> bool {
        if set_aside(self.below(file)) <= set_aside(self.below(other)) {
            return false;
        }
        let full = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let [own, others] = [file, other].map(full);
        let common = common_names(&own, &others);
        let [file, other] = [(&own, file), (&others, other)].map(|(full, named)| {
            let path = behind(full, common);
            let below = self.below(named).components().count();
            let above = path.components().count().saturating_sub(below);
            PartedPath { path, above }
        });
        is_copy_of(&file, &other)
    }

    /// Returns the path of a file as the files of the folder are named, if it is one of them.
    fn named(&self, path: &Path) -> PathBuf {
        let place = fs::canonicalize(path).ok();
        let below = place
            .as_deref()
            .and_then(|it| it.strip_prefix(&self.root).ok());
        below.map_or_else(|| path.to_owned(), |below| self.folder.join(below))
    }

    /// Whether a stream that the folder is compared with has this name.
    fn is_stream(&self, name: &Path) -> bool {
        self.streams.iter().any(|stream| stream == name)
    }

    /// Records a skipped file, if it is another name of a file.
    pub(super) fn skip(&mut self, skipped: &Skipped) {
        if skipped.reason == Reason::OtherName {
            self.reported.insert(skipped.place.clone());
        }
    }

    /// Finds the targets of symbolic links in the folder, and plans to move the other names of each file as well, in the
    /// order of paths: as long as one of its names stays, the file does.
    pub(super) fn look(&mut self) {
        if self.files.is_empty() {
            return;
        }
        for entry in files_below(std::slice::from_ref(&self.folder)) {
            let path = entry.path();
            if entry.path_is_symlink() {
                self.linked.extend(fs::canonicalize(path));
            } else if self.reported.contains(&path.display().to_string())
                && let Some(file) = identity(path)
            {
                self.names.entry(file).or_default().push(path.to_owned());
            }
        }
        // They were judged in another order, by rank. Other names follow the first one of their file.
        let mut files = std::mem::take(&mut self.files);
        files.sort_by(|one, other| one.file.cmp(&other.file));
        for planned in files {
            let names = identity(&planned.file).and_then(|file| self.names.remove(&file));
            let others = names.into_iter().flatten();
            // Different names may be displayed alike.
            let others = others.filter(|name| *name != planned.file);
            let others = others.map(|file| PlannedMove {
                file,
                first: Some(planned.file.clone()),
                ..planned.clone()
            });
            let others: Vec<PlannedMove> = others.collect();
            self.files.push(planned);
            self.files.extend(others);
        }
    }

    /// Returns the places of the files, each behind that of the file because of which it moves, if that may move itself:
    /// whether it does, is known then.
    pub(super) fn after_others(&self) -> Vec<usize> {
        let places = self.files.iter().zip(0..);
        let places: HashMap<&Path, usize> = places.map(|(it, at)| (&*it.file, at)).collect();
        let mut is_met = vec![false; self.files.len()];
        let mut ordered = Vec::with_capacity(self.files.len());
        for start in 0..self.files.len() {
            let (mut chain, mut next) = (Vec::new(), Some(start));
            while let Some(place) = next.filter(|place| !is_met[*place]) {
                is_met[place] = true;
                chain.push(place);
                let planned = &self.files[place];
                // Another name of a file follows the first one.
                let before = planned.first.as_ref().or(planned.other.as_ref());
                next = before.and_then(|file| places.get(&**file).copied());
            }
            ordered.extend(chain.into_iter().rev());
        }
        ordered
    }

    /// Returns the list entry of a file and its size in bytes, or the reason why it stays.
    pub(super) fn check(
        &self,
        planned: &PlannedMove,
        gone: &MovedFiles<'_>,
    ) -> Result<(ManifestEntry, u64), LeftReason> {
        if let Some(why) = &planned.stays {
            return Err(LeftReason::choice(why));
        }
        let path = planned.file.strip_prefix(&self.folder);
        let Some(path) = path.ok().filter(|path| manifest::is_below(path)) else {
            return Err(LeftReason::choice("it is not below the folder"));
        };
        if path.to_str().is_none() {
            return Err(LeftReason::choice("its name is not UTF-8"));
        }
        if RESERVED.iter().any(|name| path == Path::new(name)) {
            return Err(LeftReason::choice(
                "dedupdb keeps a file of this name beside what is moved",
            ));
        }
        let metadata = fs::symlink_metadata(&planned.file);
        let metadata = metadata.map_err(|error| match error.kind() {
            ErrorKind::NotFound => LeftReason::gone("it is gone"),
            _ => LeftReason::failure(error),
        })?;
        let place = fs::canonicalize(&planned.file);
        if !metadata.is_file() && !metadata.is_symlink() {
            return Err(LeftReason::choice("it is no file any more"));
        }
        if metadata.is_symlink() || place.ok() != Some(self.root.join(path)) {
            return Err(LeftReason::choice("it is reached by a symbolic link"));
        }
        if metadata.len() == 0 {
            return Err(LeftReason::choice("it is empty"));
        }
        let ancestors = path.ancestors().take_while(|it| !it.as_os_str().is_empty());
        let mut linked = ancestors.map(|it| self.linked.contains(&self.root.join(it)));
        if let Some(depth) = linked.position(|is_linked| is_linked) {
            let what = ["it", "its folder"][depth.min(1)];
            return Err(LeftReason::choice(&format!(
                "a symbolic link leads to {what}"
            )));
        }
        // The move of its first name changed the file's status, but not its content.
        let is_changed = if planned.first.is_some() {
            let written = (metadata.mtime(), metadata.mtime_nsec());
            self.began.is_some_and(|began| written > began)
        } else {
            self.is_changed(&metadata)
        };
        // Another file may be here now, if a folder above it has been exchanged: that changes nothing of the file.
        if is_changed || !planned.is_as_read(&planned.file, &metadata) {
            return Err(LeftReason::choice(CHANGED));
        }
        self.check_kept(planned, gone)?;
        let listed = ManifestEntry {
            path: path.to_owned(),
            like: planned.like.clone(),
            similarity: planned.similarity,
            exact_copy: planned.exact_copy,
            state: MovedFileState::of(&metadata),
        };
        let bytes = if planned.first.is_some() {
            0
        } else {
            metadata.len()
        };
        Ok((listed, bytes))
    }

    /// Checks that the file that remains in place of this one exists and has not changed since it was read.
    pub(super) fn check_kept(
        &self,
        planned: &PlannedMove,
        gone: &MovedFiles<'_>,
    ) -> Result<(), LeftReason> {
        let Some(kept) = planned.kept(gone) else {
            return Ok(());
        };
        let read = self.kept.get(kept);
        let is_as_read =
            |found: &Metadata| read.is_none_or(|read| *read == FileIdentity::of(kept, found));
        match fs::metadata(kept) {
            Ok(metadata) if is_as_read(&metadata) && !self.is_changed(&metadata) => Ok(()),
            _ => {
                let kept = kept.display();
                Err(LeftReason::choice(&format!(
                    "{kept} changed since the run began"
                )))
            }
        }
    }

    fn is_changed(&self, metadata: &Metadata) -> bool {
        self.began.is_some_and(|began| stamp(metadata) > began)
    }
}

/// Returns how many first names two paths have in common.
fn common_names(one: &Path, other: &Path) -> usize {
    let both = one.components().zip(other.components());
    both.take_while(|(one, other)| one == other).count()
}

/// Returns a path without its first names.
fn behind(path: &Path, names: usize) -> &Path {
    let mut parts = path.components();
    parts.by_ref().take(names).for_each(drop);
    parts.as_path()
}

/// Returns the identity that all names of a file share.
fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = fs::symlink_metadata(path).ok()?;
    metadata
        .is_file()
        .then(|| FileIdentity::of(path, &metadata))
}
