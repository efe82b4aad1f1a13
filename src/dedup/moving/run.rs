//! From a folder to a folder beside it.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::manifest::{Listed, Manifest, NAME};
use super::plan::{Plan, Planned, Stamp, stamp};
use super::{Move, MoveEvent, Moved, Told, folders_of, rename};
use crate::dedup::error::{Error, Result};
use crate::dedup::event::Event;
use crate::publish::error::Of as _;
use crate::publish::{self, Whole, check_output, sync_folder};

/// Moves what is dropped.
pub(super) fn run(
    asked: Move,
    observe: &mut dyn FnMut(MoveEvent<'_>) -> ControlFlow<()>,
) -> Result<Moved> {
    let Move {
        mut dedup,
        target,
        pretend,
    } = asked;
    let folder = folder_of(dedup.sources.iter().map(|source| source.named()))?;
    let root = fs::canonicalize(&folder).of(&folder)?;
    check_output(&target, std::slice::from_ref(&folder))?;
    let began = prepare(&folder, &target, pretend)?;
    dedup.options = dedup.options.follow(false);
    let mut plan = Plan::new(&folder, root.clone(), began);
    let judged = dedup.lineage(true).run(|event| {
        match event {
            Event::Dropped(dropped) => plan.drop(dropped),
            Event::Skipped(skipped) => plan.skip(skipped),
            _ => {}
        }
        observe(MoveEvent::Judging(&event))
    });
    let mut told = Told {
        moved: Moved {
            records: plan.records,
            ..Moved::default()
        },
        observe,
    };
    let moved = judged.and_then(|done| {
        told.moved.done = Some(done);
        move_all(&plan, root, &target, pretend, &mut told)
    });
    if told.moved.files == 0 && !pretend {
        // Nothing is in it; where something is, it stays.
        fs::remove_file(target.join(NAME)).unwrap_or_default();
        fs::remove_dir(&target).unwrap_or_default();
        told.moved.manifest = None;
    }
    moved.map(|()| told.moved)
}

/// The one folder that is read.
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

/// Makes the folder that files are moved to, empty and on the file system of `folder`; tells the time there.
fn prepare(folder: &Path, target: &Path, pretend: bool) -> Result<Option<Stamp>> {
    let is_new = match fs::symlink_metadata(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        found => {
            let is_empty =
                found.of(target)?.is_dir() && fs::read_dir(target).of(target)?.next().is_none();
            if !is_empty {
                let reason = "something is there already; choose a folder that is new or empty";
                return Err(publish::Error::foreign(target, reason).into());
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
    if pretend {
        return Ok(None);
    }
    if is_new {
        fs::create_dir(target).of(target)?;
    }
    // The file system's clock, which says when files change.
    let probe = tempfile::tempfile_in(target).and_then(|file| file.metadata());
    match probe {
        Ok(probe) => Ok(Some(stamp(&probe))),
        Err(error) => {
            if is_new {
                fs::remove_dir(target).unwrap_or_default();
            }
            Err(error).of(target)?
        }
    }
}

/// Lists what may be moved, makes that durable, and moves it.
fn move_all(
    plan: &Plan,
    root: PathBuf,
    target: &Path,
    pretend: bool,
    told: &mut Told<'_>,
) -> Result<()> {
    let mut listed: Vec<(&Planned, Listed, u64)> = Vec::new();
    for planned in &plan.files {
        match plan.check(planned, &HashSet::new()) {
            Ok((file, bytes)) => listed.push((planned, file, bytes)),
            Err(left) => told.left(&planned.file, &left)?,
        }
    }
    if listed.is_empty() {
        return Ok(());
    }
    let manifest = Manifest {
        from: root,
        files: listed.iter().map(|(_, file, _)| file.clone()).collect(),
    };
    let path = target.join(NAME);
    if !pretend {
        let bytes = manifest.to_bytes().ok_or_else(|| {
            publish::Error::foreign(&manifest.from, "the name of this folder is not UTF-8")
        })?;
        Whole::of(&path, &bytes)?;
        sync_folder(target).of(target)?;
        told.moved.manifest = Some(path);
    }
    let mut gone = HashSet::new();
    for (planned, file, bytes) in &listed {
        let to = target.join(&file.path);
        let moved = if pretend {
            Ok(())
        } else {
            // What was all right may have changed by now.
            let checked = plan.check(planned, &gone);
            checked.and_then(|_| rename(&planned.file, &to))
        };
        match moved {
            Ok(()) => {
                gone.insert(&*planned.file);
                told.moved.files += 1;
                told.moved.bytes += bytes;
                told.tell(MoveEvent::Moved {
                    from: &planned.file,
                    to: &to,
                    like: &file.like,
                    similarity: file.similarity,
                })?;
            }
            Err(left) => told.left(&planned.file, &left)?,
        }
    }
    if !pretend && told.moved.files == 0 {
        clear(target, &manifest);
    }
    Ok(())
}

/// Removes folders of the mirror that are empty.
pub(super) fn clear(target: &Path, manifest: &Manifest) {
    for folder in folders_of(manifest.files.iter().map(|file| &*file.path)) {
        // One that is not empty stays.
        fs::remove_dir(target.join(folder)).unwrap_or_default();
    }
}
