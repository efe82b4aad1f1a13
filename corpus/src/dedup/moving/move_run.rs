//! Moves the dropped files of a folder to another folder.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::complete::CompleteCheck;
use super::hold::{FolderHold, check_free};
use super::manifest::{ManifestEntry, MoveManifest, NAME};
use super::plan::{CHANGED, MovePlan, MovedFiles, PlannedMove};
use super::{LeftReason, Move, MoveEvent, MoveReporter, MoveSummary, folders_of, rename};
use crate::Source;
use crate::dedup::against::check_apart;
use crate::dedup::claim::FolderClaim;
use crate::dedup::error::{ContainmentConflict, Error, Result};
use crate::dedup::event::DedupEvent;
use crate::dedup::settings::{Against, Keep};
use crate::publish::error::WithPath as _;
use crate::publish::{self, check_output};
use crate::walk::folder::is_aside;

/// A file with its entry in the list of moved files and its size, or the reason why it stays.
type CheckedMove<'a> = (&'a PlannedMove, Result<(ManifestEntry, u64), LeftReason>);

/// Moves the files that are dropped.
pub(super) fn run(asked: Move, observe: &mut dyn FnMut(MoveEvent<'_>)) -> Result<MoveSummary> {
    let Move {
        mut dedup,
        target,
        differing,
        pretend,
    } = asked;
    if dedup.containment.least.is_some() {
        let conflict = ContainmentConflict::Move;
        return Err(Error::Containment { conflict });
    }
    let folder = folder_of(dedup.sources.iter().map(|source| source.named()))?;
    let root = fs::canonicalize(&folder).of(&folder)?;
    check_output(&target, std::slice::from_ref(&folder))?;
    check_apart(&mut dedup)?;
    // Otherwise, the next run would drop documents because of the files moved aside.
    let against = dedup.against.as_ref();
    let named = against.map(Against::paths).unwrap_or_default();
    check_output(&target, &named)?;
    let streams = against.map(Against::streams).unwrap_or_default();
    let mut originals = vec![root.clone()];
    if let Some(Against::Corpus(sources)) = against {
        originals.extend(sources.iter().filter_map(Source::named).map(Path::to_owned));
    }
    let (hold, _claim) = prepare((&folder, &root), &originals, &target, pretend)?.unzip();
    let began = hold.as_ref().map(FolderHold::since).transpose()?;
    dedup.options = dedup.options.follow(false);
    // Nobody misses the lesser copy, whatever its name.
    dedup.keep = dedup.keep.or(Some(Keep::Longest));
    let mut plan = MovePlan::new(&folder, root.clone(), streams, began);
    plan.against = named;
    dedup.moved_from = Some(root.clone());
    let (progress, schema) = (dedup.progress.clone(), dedup.schema.clone());
    let check = CompleteCheck {
        options: dedup.options.clone(),
        schema: &schema,
        progress: &progress,
        is_within: dedup.against.is_none(),
        differing,
    };
    let judged = dedup.lineage(true).run(|event| {
        match event {
            DedupEvent::Dropped(dropped) => plan.drop(dropped),
            DedupEvent::Skipped(skipped) => plan.skip(skipped),
            _ => {}
        }
        observe(MoveEvent::Judging(&event));
    });
    let judged = judged.and_then(|done| Ok((done, check.leave_incomplete(&mut plan)?)));
    plan.look();
    let mut told = MoveReporter {
        summary: MoveSummary {
            records: plan.records,
            ..MoveSummary::default()
        },
        observe,
        progress: progress.clone(),
    };
    let moved = judged.and_then(|(done, differing)| {
        told.summary.done = Some(done);
        told.summary.differing = differing;
        move_all(&plan, root, &target, hold.as_ref(), &mut told)
    });
    if told.summary.files == 0 && !pretend {
        if let Some(list) = told.summary.manifest.take() {
            fs::remove_file(list).unwrap_or_default();
        }
        drop(hold);
        // Only an empty folder is removed.
        fs::remove_dir(&target).unwrap_or_default();
    }
    moved.map(|()| told.summary)
}

/// Refuses a path in a folder of files that were put aside: they are no originals, and the list of their places must stay
/// true.
fn check_not_aside(path: &Path) -> Result<()> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match place.ancestors().find(|folder| is_aside(folder, true)) {
        Some(aside) => {
            let aside = aside.display();
            let reason = format!(
                "the files in {aside} were moved aside, so they are no originals; undo that first, or delete \
                 {aside}/{NAME} to keep them there"
            );
            let path = path.to_owned();
            Err(Error::OwnCounterpart { path, reason })
        }
        None => Ok(()),
    }
}

/// Returns the only source, which must be a folder.
fn folder_of<'a>(sources: impl Iterator<Item = Option<&'a Path>>) -> Result<PathBuf> {
    let sources: Vec<Option<&Path>> = sources.collect();
    let [Some(folder)] = sources[..] else {
        let path = sources
            .into_iter()
            .flatten()
            .nth(1)
            .unwrap_or(Path::new("-"));
        return Err(Error::NoFolder { path: path.into() });
    };
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(folder.to_owned()),
        Ok(_) => Err(Error::NoFolder {
            path: folder.into(),
        }),
        Err(_) => Err(Error::NotFound {
            path: folder.into(),
        }),
    }
}

/// Creates and holds the folder to which files are moved, and claims it and `folder`, whose resolved path is `root`. It
/// must be empty and on the file system of `folder`. None of the `originals` may have been put aside. Returns `None` if the run only pretends.
fn prepare(
    (folder, root): (&Path, &Path),
    originals: &[PathBuf],
    target: &Path,
    pretend: bool,
) -> Result<Option<(FolderHold, FolderClaim)>> {
    let is_new = match fs::symlink_metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        found => {
            if pretend || !found.of(target)?.is_dir() {
                check_free(target)?;
            }
            false
        }
    };
    let place = if is_new {
        let parent = target
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    } else {
        target
    };
    let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev()).of(path);
    if device(place)? != device(folder)? {
        let reason = format!(
            "this is on another file system than {}; choose a folder on the same one",
            folder.display()
        );
        return Err(publish::Error::foreign(target, reason).into());
    }
    let check = || originals.iter().try_for_each(|path| check_not_aside(path));
    if pretend {
        return check().map(|()| None);
    }
    let held = FolderHold::make(target, folder).and_then(|hold| {
        let claim = FolderClaim::of(&[root, &fs::canonicalize(target).of(target)?])?;
        check()?;
        Ok((hold, claim))
    });
    if is_new && held.is_err() {
        // Only an empty folder is removed.
        fs::remove_dir(target).unwrap_or_default();
    }
    held.map(Some)
}

/// Lists the files that may be moved, makes the list durable, and moves the files.
fn move_all(
    plan: &MovePlan,
    root: PathBuf,
    target: &Path,
    hold: Option<&FolderHold>,
    reporter: &mut MoveReporter<'_>,
) -> Result<()> {
    let (mut listed, mut staying) = (Vec::new(), HashSet::new());
    for (planned, checked) in check_all(plan, &mut staying) {
        match checked {
            Ok((file, bytes)) => listed.push((planned, file, bytes)),
            Err(left) => reporter.left(&planned.file, &left)?,
        }
    }
    if listed.is_empty() {
        return Ok(());
    }
    let manifest = MoveManifest {
        inode: fs::metadata(&root).of(&root)?.ino(),
        from: root,
        to: fs::canonicalize(target).unwrap_or_else(|_| target.to_owned()),
        files: listed.iter().map(|(_, file, _)| file.clone()).collect(),
    };
    if let Some(hold) = hold {
        let bytes = manifest.to_bytes().ok_or_else(|| {
            publish::Error::foreign(&manifest.from, "the name of this folder is not UTF-8")
        })?;
        reporter.summary.manifest = Some(hold.list(&bytes)?);
    }
    let mut gone = HashMap::new();
    for (planned, file, bytes) in &listed {
        let to = target.join(&file.path);
        let has_other_bytes = planned.has_other_bytes();
        let moved = match hold {
            None => Ok(()),
            Some(_) => check_first(planned, &staying)
                .and_then(|()| move_one(plan, planned, &gone, &to, &rename)),
        };
        match moved {
            Ok(()) => {
                gone.insert(&*planned.file, planned.kept(&gone));
                reporter.summary.files += 1;
                reporter.summary.bytes += bytes;
                reporter.summary.other_bytes += u64::from(has_other_bytes);
                reporter.tell(MoveEvent::Moved {
                    from: &planned.file,
                    to: &to,
                    like: &file.like,
                    similarity: file.similarity,
                    exact_copy: file.exact_copy,
                })?;
            }
            Err(left) => {
                staying.insert(&*planned.file);
                reporter.left(&planned.file, &left)?;
            }
        }
    }
    if hold.is_some() && reporter.summary.files == 0 {
        clear(target, &manifest);
    }
    Ok(())
}

/// Returns the files that may be moved, each with its entry in the list and its size, or the reason why it stays. Adds those
/// that stay to `staying`.
fn check_all<'p>(plan: &'p MovePlan, staying: &mut HashSet<&'p Path>) -> Vec<CheckedMove<'p>> {
    let mut chains = MoveChains::default();
    let places = plan.after_others().into_iter();
    let checked = places.map(|place| {
        let planned = &plan.files[place];
        let checked = check_first(planned, staying);
        let checked = checked.and_then(|()| plan.check(planned, &MovedFiles::new()));
        let checked = checked.and_then(|listed| chains.add(planned).map(|()| listed));
        if checked.is_err() {
            staying.insert(&*planned.file);
        }
        (place, (planned, checked))
    });
    let mut checked: Vec<_> = checked.collect();
    checked.sort_unstable_by_key(|(place, _)| *place);
    checked.into_iter().map(|(_, checked)| checked).collect()
}

/// Which files move because of which. A store may have all files of the folder, so that each of them resembles another
/// one that moves, too, and may resemble nothing that stays.
#[derive(Default)]
struct MoveChains<'a> {
    /// The file because of which a file moves, and whether that has the same text.
    moving: HashMap<&'a Path, (&'a Path, bool)>,
    /// Files because of which others move that have another text.
    needed: HashSet<&'a Path>,
}

impl<'a> MoveChains<'a> {
    /// Adds a file that may move, unless it or what it resembles would leave a file without one that resembles it.
    fn add(&mut self, planned: &'a PlannedMove) -> Result<(), LeftReason> {
        let other = planned.other.as_deref();
        let Some(mut other) = other.filter(|_| planned.is_other_stored) else {
            return Ok(());
        };
        let file = &*planned.file;
        let is_needed = self.needed.contains(file);
        while let Some((next, true)) = self.moving.get(other) {
            other = next;
        }
        if !planned.exact_copy {
            if is_needed {
                return Err(LeftReason::choice("another file moves because of it"));
            }
            if self.moving.contains_key(other) {
                let other = other.display();
                return Err(LeftReason::choice(&format!(
                    "{other}, which it resembles, moves itself"
                )));
            }
        }
        if is_needed || !planned.exact_copy {
            self.needed.insert(other);
        }
        self.moving.insert(file, (other, planned.exact_copy));
        Ok(())
    }
}

/// Refuses to move another name of a file whose first name stays, because that would move nothing.
fn check_first(planned: &PlannedMove, staying: &HashSet<&Path>) -> Result<(), LeftReason> {
    match &planned.first {
        Some(first) if staying.contains(&**first) => {
            let first = first.display();
            Err(LeftReason::choice(&format!(
                "it is another name of {first}, which stays"
            )))
        }
        _ => Ok(()),
    }
}

/// Moves a file if the one that remains in its place exists, before and after the move. If two runs move two files
/// because of each other at the same moment, at least one of the runs notices, and moves its file back. So does a run
/// that finds another file moved than the one it checked, because somebody saved it in between.
fn move_one(
    plan: &MovePlan,
    planned: &PlannedMove,
    gone: &MovedFiles<'_>,
    to: &Path,
    rename: &dyn Fn(&Path, &Path) -> Result<(), LeftReason>,
) -> Result<(), LeftReason> {
    // Earlier checks may no longer hold.
    plan.check(planned, gone)?;
    rename(&planned.file, to)?;
    let is_same = fs::symlink_metadata(to).is_ok_and(|moved| planned.is_as_read(to, &moved));
    let moved = if is_same {
        plan.check_kept(planned, gone)
    } else {
        Err(LeftReason::choice(CHANGED))
    };
    match moved {
        Err(left) if rename(to, &planned.file).is_ok() => Err(left),
        Err(_) if !is_same => Err(LeftReason::moved(to)),
        _ => Ok(()),
    }
}

/// Removes the empty folders of the mirror.
pub(super) fn clear(target: &Path, manifest: &MoveManifest) {
    for folder in folders_of(manifest.files.iter().map(|file| &*file.path)) {
        // A folder that is not empty stays.
        fs::remove_dir(target.join(folder)).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_saved_between_check_and_move_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let [file, saved, to] = ["in/a", "saved", "aside/a"].map(|name| folder.path().join(name));
        let root = folder.path().join("in");
        fs::create_dir(&root).unwrap();
        fs::write(&file, "as it was read").unwrap();
        fs::write(&saved, "as it was saved").unwrap();
        let plan = MovePlan::new(&root, root.clone(), Vec::new(), None);
        let planned = PlannedMove::of(&file);
        let left = move_one(&plan, &planned, &MovedFiles::new(), &to, &|from, to| {
            // Not on its way back.
            if from == file {
                fs::rename(&saved, from).unwrap();
            }
            rename(from, to)
        });
        assert!(left.unwrap_err().why.starts_with(CHANGED));
        assert_eq!(fs::read(&file).unwrap(), b"as it was saved");
        assert!(!to.exists());
        // The name may be in use again by then.
        let planned = PlannedMove::of(&file);
        let left = move_one(&plan, &planned, &MovedFiles::new(), &to, &|from, to| {
            if from != file {
                return rename(from, to);
            }
            fs::write(&saved, "saved once more").unwrap();
            fs::rename(&saved, from).unwrap();
            let moved = rename(from, to);
            fs::write(from, "and again").unwrap();
            moved
        });
        let why = left.unwrap_err().why;
        assert!(why.contains("aside/a now"), "{why}");
        assert_eq!(fs::read(&to).unwrap(), b"saved once more");
        assert_eq!(fs::read(&file).unwrap(), b"and again");
    }
}
