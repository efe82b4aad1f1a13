//! Files with the same bytes.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{LinkEvent, Told, leftover};
use crate::dedup::error::Result;
use crate::publish::hash_of;
use crate::{Skipped, folder_files};

/// A file, with all of its names that were met.
#[derive(Debug)]
pub(super) struct Twin {
    pub(super) names: Vec<PathBuf>,
    pub(super) size: u64,
    /// The number of all of its names.
    pub(super) links: u64,
    pub(super) stamp: Stamp,
}

/// The metadata that shows whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
}

impl Stamp {
    pub(super) fn of(found: &Metadata) -> Stamp {
        Stamp {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            seconds: found.mtime(),
            nanoseconds: found.mtime_nsec(),
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
        }
    }

    /// Whether both are the same file.
    pub(super) fn is_same_file(&self, other: &Stamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(super) fn is_on_same_device(&self, other: &Stamp) -> bool {
        self.device == other.device
    }
}

impl Twin {
    /// Returns the name that was met first.
    pub(super) fn name(&self) -> &Path {
        self.names.first().map_or(Path::new(""), PathBuf::as_path)
    }
}

/// Returns the groups of files below `folder` that have the same size, file system and hash, in the order of their
/// names. Removes what a killed run left, unless it only pretends.
pub(super) fn twins(
    folder: &Path,
    options: &crate::Options,
    pretend: bool,
    told: &mut Told<'_>,
) -> Result<Vec<Vec<Twin>>> {
    let mut met: HashMap<(u64, u64), usize> = HashMap::new();
    let mut twins: Vec<Twin> = Vec::new();
    for found in folder_files(folder, options) {
        let path = match found {
            Ok(path) => path,
            Err(skipped) => {
                told.linked.failed += u64::from(skipped.is_failure());
                told.tell(LinkEvent::Skipped(&skipped))?;
                continue;
            }
        };
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => metadata,
            Ok(_) => continue,
            Err(error) => {
                failed(&path, &error, told)?;
                continue;
            }
        };
        if leftover(&path) && metadata.nlink() > 1 {
            if !pretend && let Err(error) = fs::remove_file(&path) {
                failed(&path, &error, told)?;
            }
            continue;
        }
        told.linked.files += 1;
        if metadata.len() == 0 {
            continue;
        }
        let at = *met
            .entry((metadata.dev(), metadata.ino()))
            .or_insert(twins.len());
        match twins.get_mut(at) {
            Some(twin) => twin.names.push(path),
            None => twins.push(Twin {
                names: vec![path],
                size: metadata.len(),
                links: metadata.nlink(),
                stamp: Stamp::of(&metadata),
            }),
        }
    }
    of_same_hash(of_same_size(twins), told)
}

/// Returns the files that have the size and the file system of another one.
fn of_same_size(twins: Vec<Twin>) -> Vec<Twin> {
    let kind = |twin: &Twin| (twin.stamp.device, twin.size);
    let mut counts: HashMap<(u64, u64), u64> = HashMap::new();
    for twin in &twins {
        *counts.entry(kind(twin)).or_default() += 1;
    }
    let is_several = |twin: &Twin| counts.get(&kind(twin)).is_some_and(|&count| count > 1);
    twins.into_iter().filter(is_several).collect()
}

/// Groups the files whose bytes have the same hash as those of another one.
fn of_same_hash(twins: Vec<Twin>, told: &mut Told<'_>) -> Result<Vec<Vec<Twin>>> {
    let mut groups: BTreeMap<usize, Vec<Twin>> = BTreeMap::new();
    let mut first: HashMap<(u64, blake3::Hash), usize> = HashMap::new();
    let (mut files, mut bytes) = (0, 0);
    for (number, twin) in twins.into_iter().enumerate() {
        match hash_of(twin.name()) {
            Ok(hasher) => {
                files += 1;
                bytes += twin.size;
                let at = *first
                    .entry((twin.stamp.device, hasher.finalize()))
                    .or_insert(number);
                groups.entry(at).or_default().push(twin);
            }
            Err(error) => failed(twin.name(), &error, told)?,
        }
        told.tell(LinkEvent::Progress { files, bytes })?;
    }
    Ok(groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect())
}

fn failed(path: &Path, error: &io::Error, told: &mut Told<'_>) -> Result<()> {
    told.linked.failed += 1;
    told.tell(LinkEvent::Skipped(&Skipped::unreadable(path, error)))
}
