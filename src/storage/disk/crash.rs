//! What a crash may leave of files: everything that was synced, and any part of the rest.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::watch::{DiskEvent, InodeNumber, number};

/// The unit of writing of a disk, in bytes.
const SECTOR: usize = 512;

/// Bits of node numbers that the system never uses.
const FRESH: InodeNumber = 1 << 62;
const GONE: InodeNumber = 1 << 61;

/// What becomes of the changes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survivors {
    /// The power fails before any of them is written.
    None,
    /// The process is killed, and the system keeps running.
    All,
    /// The power fails after names were written and before bytes were.
    Names,
    /// The power fails after bytes were written and before names were.
    Bytes,
    /// Everything survives except for a part of the last change of each file.
    Torn,
    /// Each change survives, is lost or is torn, at random.
    Any(u64),
}

/// The files as they are, and as they would be after a crash.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedDisk {
    root: InodeNumber,
    files: BTreeMap<InodeNumber, SimulatedFile>,
    folders: BTreeMap<InodeNumber, SimulatedFolder>,
    /// Our numbers for those of the system, which may reuse them.
    now: BTreeMap<InodeNumber, InodeNumber>,
}

#[derive(Clone, Debug, Default)]
struct SimulatedFile {
    seen: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    pending: Vec<FileChange>,
}

#[derive(Clone, Debug)]
enum FileChange {
    Write(usize, Vec<u8>),
    Resize(usize),
}

#[derive(Clone, Debug, Default)]
struct SimulatedFolder {
    durable: BTreeMap<PathBuf, InodeNumber>,
    pending: Vec<NameChange>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Add(PathBuf, InodeNumber),
    Rename(PathBuf, PathBuf, InodeNumber),
    Remove(PathBuf),
}

/// A generator of random numbers: `SplitMix64`.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((x ^ x >> 31) % end as u64).unwrap()
    }
}

impl FileChange {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            FileChange::Write(start, new) => {
                let end = start + new.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*start..end].copy_from_slice(new);
            }
            FileChange::Resize(len) => bytes.resize(*len, 0),
        }
    }

    /// Applies some sectors of the change: the first ones, or any.
    fn tear(&self, bytes: &mut Vec<u8>, chance: &mut SplitMix64) {
        let FileChange::Write(start, new) = self else {
            return;
        };
        let in_order = chance.below(2) == 0;
        let first = SECTOR - start % SECTOR;
        let mut from = 0;
        while from < new.len() {
            let to = new.len().min(if from == 0 { first } else { from + SECTOR });
            if chance.below(3) > 0 {
                FileChange::Write(start + from, new[from..to].to_vec()).apply(bytes);
            } else if in_order {
                return;
            }
            from = to;
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, InodeNumber>) {
        match self {
            NameChange::Add(name, node) => {
                names.insert(name.clone(), *node);
            }
            NameChange::Rename(from, to, node) => {
                if names.get(from) == Some(node) {
                    names.remove(from);
                }
                names.insert(to.clone(), *node);
            }
            NameChange::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl SimulatedFile {
    fn change(&mut self, change: FileChange) {
        change.apply(Arc::make_mut(&mut self.seen));
        self.pending.push(change);
    }

    fn after(&self, survivors: Survivors, chance: &mut SplitMix64) -> Vec<u8> {
        if survivors == Survivors::All {
            return self.seen.to_vec();
        }
        let mut bytes = self.durable.to_vec();
        for (left, change) in (0..self.pending.len()).rev().zip(&self.pending) {
            // 0: the change is lost. 3: it is torn. Otherwise it survives.
            let luck = match survivors {
                Survivors::None | Survivors::Names => 0,
                Survivors::Torn if left == 0 => 3,
                Survivors::Any(_) => chance.below(4),
                _ => 1,
            };
            match luck {
                0 => {}
                3 => change.tear(&mut bytes, chance),
                _ => change.apply(&mut bytes),
            }
        }
        bytes
    }
}

impl SimulatedFolder {
    fn seen(&self) -> BTreeMap<PathBuf, InodeNumber> {
        let mut names = self.durable.clone();
        self.pending
            .iter()
            .for_each(|naming| naming.apply(&mut names));
        names
    }

    fn after(
        &self,
        survivors: Survivors,
        chance: &mut SplitMix64,
    ) -> BTreeMap<PathBuf, InodeNumber> {
        let mut names = self.durable.clone();
        for naming in &self.pending {
            let survives = match survivors {
                Survivors::None | Survivors::Bytes => false,
                Survivors::Any(_) => chance.below(2) == 0,
                _ => true,
            };
            if survives {
                naming.apply(&mut names);
            }
        }
        names
    }
}

impl SimulatedDisk {
    /// A disk with an empty folder, `root`.
    pub(crate) fn new(root: &Path) -> SimulatedDisk {
        let root = number(root);
        SimulatedDisk {
            root,
            files: BTreeMap::new(),
            folders: BTreeMap::from([(root, SimulatedFolder::default())]),
            now: BTreeMap::new(),
        }
    }

    /// A disk with the files in the folder `root`, all of them durable.
    pub(crate) fn of(root: &Path) -> SimulatedDisk {
        let mut disk = SimulatedDisk::new(root);
        disk.take_in(root);
        disk
    }

    fn take_in(&mut self, folder: &Path) {
        let mut durable = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            durable.insert(path.file_name().unwrap().into(), number(&path));
            if path.is_dir() {
                self.take_in(&path);
            } else {
                let bytes = Arc::new(fs::read(&path).unwrap());
                let file = SimulatedFile {
                    seen: bytes.clone(),
                    durable: bytes,
                    pending: Vec::new(),
                };
                self.files.insert(number(&path), file);
            }
        }
        let pending = Vec::new();
        self.folders
            .insert(number(folder), SimulatedFolder { durable, pending });
    }

    /// Whether all changes are durable.
    pub(crate) fn is_settled(&self) -> bool {
        self.files.values().all(|file| file.pending.is_empty())
            && self
                .folders
                .values()
                .all(|folder| folder.pending.is_empty())
    }

    pub(crate) fn apply(&mut self, event: &DiskEvent) {
        match event {
            DiskEvent::Named {
                folder,
                name,
                node,
                is_new,
                is_folder,
            } => {
                if *is_new {
                    let fresh = FRESH | (self.files.len() + self.folders.len()) as u64;
                    self.now.insert(*node, fresh);
                    if *is_folder {
                        self.folders.insert(fresh, SimulatedFolder::default());
                    } else {
                        self.files.insert(fresh, SimulatedFile::default());
                    }
                }
                self.name(*folder, NameChange::Add(name.clone(), self.number(*node)));
            }
            DiskEvent::Renamed {
                folder,
                from,
                to,
                node,
            } => {
                self.name(
                    *folder,
                    NameChange::Rename(from.clone(), to.clone(), self.number(*node)),
                );
            }
            DiskEvent::Unnamed { folder, name } => {
                self.name(*folder, NameChange::Remove(name.clone()));
            }
            DiskEvent::Written { node, start, bytes } => {
                let start = usize::try_from(*start).unwrap();
                self.file(*node)
                    .change(FileChange::Write(start, bytes.0.clone()));
            }
            DiskEvent::Resized { node, len } => {
                self.file(*node)
                    .change(FileChange::Resize(usize::try_from(*len).unwrap()));
            }
            DiskEvent::Synced { node } => {
                let file = self.file(*node);
                let durable = Arc::make_mut(&mut file.durable);
                file.pending
                    .drain(..)
                    .for_each(|change| change.apply(durable));
            }
            DiskEvent::Forgotten { node } => self.file(*node).pending.clear(),
            DiskEvent::FolderSynced { folder } => {
                let folder = self.folders.get_mut(&self.number(*folder)).unwrap();
                folder.durable = folder.seen();
                folder.pending.clear();
            }
            DiskEvent::Between { .. } => {}
        }
    }

    fn number(&self, node: InodeNumber) -> InodeNumber {
        *self.now.get(&node).unwrap_or(&node)
    }

    fn file(&mut self, node: InodeNumber) -> &mut SimulatedFile {
        self.files.get_mut(&self.number(node)).unwrap()
    }

    fn name(&mut self, folder: InodeNumber, naming: NameChange) {
        self.folders
            .get_mut(&self.number(folder))
            .unwrap()
            .pending
            .push(naming);
    }

    /// Creates the files in the empty folder `to` as a crash leaves them, and returns the disk that they are then on.
    ///
    /// After a kill, changes that were not synced may still be lost.
    pub(crate) fn leave(&self, survivors: Survivors, to: &Path) -> SimulatedDisk {
        let seed = match survivors {
            Survivors::Any(seed) => seed,
            _ => 1,
        };
        let mut left = SimulatedDisk::new(to);
        let mut numbers = BTreeMap::new();
        self.leave_folder(
            self.root,
            survivors,
            &mut SplitMix64(seed),
            to,
            &mut left,
            &mut numbers,
        );
        if survivors == Survivors::All {
            // This includes the names that are durable but no longer visible.
            for (old, new) in &numbers {
                if let Some(folder) = self.folders.get(old) {
                    let folder = folder.renumbered(&numbers);
                    left.folders.insert(*new, folder);
                }
            }
            for (old, file) in &self.files {
                left.files.insert(renumbered(*old, &numbers), file.clone());
            }
        }
        left
    }

    fn leave_folder(
        &self,
        node: InodeNumber,
        survivors: Survivors,
        chance: &mut SplitMix64,
        to: &Path,
        left: &mut SimulatedDisk,
        numbers: &mut BTreeMap<InodeNumber, InodeNumber>,
    ) {
        let mut durable = BTreeMap::new();
        for (name, node) in self.folders[&node].after(survivors, chance) {
            let path = to.join(&name);
            if let Some(file) = self.files.get(&node) {
                let bytes = file.after(survivors, chance);
                write(&path, &bytes);
                let bytes = Arc::new(bytes);
                let file = SimulatedFile {
                    seen: bytes.clone(),
                    durable: bytes,
                    pending: Vec::new(),
                };
                left.files.insert(number(&path), file);
            } else {
                fs::create_dir(&path).unwrap();
                self.leave_folder(node, survivors, chance, &path, left, numbers);
            }
            numbers.insert(node, number(&path));
            durable.insert(name, number(&path));
        }
        numbers.insert(node, number(to));
        let pending = Vec::new();
        left.folders
            .insert(number(to), SimulatedFolder { durable, pending });
    }
}

/// The new number of a node, or a unique one if it no longer has a name.
fn renumbered(node: InodeNumber, numbers: &BTreeMap<InodeNumber, InodeNumber>) -> InodeNumber {
    numbers.get(&node).copied().unwrap_or(node | GONE)
}

impl SimulatedFolder {
    fn renumbered(&self, numbers: &BTreeMap<InodeNumber, InodeNumber>) -> SimulatedFolder {
        let of = |node: &InodeNumber| renumbered(*node, numbers);
        let naming = |naming: &NameChange| match naming {
            NameChange::Add(name, node) => NameChange::Add(name.clone(), of(node)),
            NameChange::Rename(from, to, node) => {
                NameChange::Rename(from.clone(), to.clone(), of(node))
            }
            NameChange::Remove(name) => NameChange::Remove(name.clone()),
        };
        SimulatedFolder {
            durable: self
                .durable
                .iter()
                .map(|(name, node)| (name.clone(), of(node)))
                .collect(),
            pending: self.pending.iter().map(naming).collect(),
        }
    }
}

/// Writes a file with holes in place of zeros.
fn write(path: &Path, bytes: &[u8]) {
    let file = fs::File::create(path).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    for (index, chunk) in bytes.chunks(4096).enumerate() {
        if chunk.iter().any(|&byte| byte != 0) {
            file.write_all_at(chunk, 4096 * index as u64).unwrap();
        }
    }
}
