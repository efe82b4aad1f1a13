//! What tests see of the disk: every step in a watched folder, before it is done.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::{Bound, Range};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

use super::{DiskStep, File};
use crate::parallel::lock;

/// The error code of the system for a failing device.
const EIO: i32 = 5;

/// The number that the system gives a file or a folder.
pub(crate) type InodeNumber = u64;

/// A change to the files of a watched folder.
#[derive(Clone, Debug)]
pub(crate) enum DiskEvent {
    /// A name was added to a folder. `is_new` if what it names was just created.
    Named {
        folder: InodeNumber,
        name: PathBuf,
        node: InodeNumber,
        is_new: bool,
        is_folder: bool,
    },
    Renamed {
        folder: InodeNumber,
        from: PathBuf,
        to: PathBuf,
        node: InodeNumber,
    },
    Unnamed {
        folder: InodeNumber,
        name: PathBuf,
    },
    Written {
        node: InodeNumber,
        start: u64,
        bytes: UnprintedBytes,
    },
    Resized {
        node: InodeNumber,
        len: u64,
    },
    Synced {
        node: InodeNumber,
    },
    /// A sync failed. The system then considers the pending writes as written.
    Forgotten {
        node: InodeNumber,
    },
    FolderSynced {
        folder: InodeNumber,
    },
    /// The test is between these of its states.
    Between {
        first: usize,
        last: usize,
    },
}

/// Bytes that are not printed.
#[derive(Clone)]
pub(crate) struct UnprintedBytes(pub(crate) Vec<u8>);

impl fmt::Debug for UnprintedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// The steps that fail, counted from the first one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskFault {
    /// One step fails.
    Once { step: u64 },
    /// One step fails. If it writes, half of it is done.
    Half { step: u64 },
    /// From a step on, all steps that need disk space fail.
    Full { step: u64 },
}

/// Watches a folder until it is dropped.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    seen: Arc<WatchedFolder>,
}

#[derive(Debug)]
struct WatchedFolder {
    root: PathBuf,
    state: Mutex<WatchState>,
}

#[derive(Debug, Default)]
struct WatchState {
    events: Vec<DiskEvent>,
    /// The contents of mapped files when they were last examined.
    mapped: BTreeMap<PathBuf, (InodeNumber, Vec<u8>)>,
    steps: u64,
    fault: Option<DiskFault>,
    /// Byte ranges of files that the disk cannot read.
    unreadable: Vec<(PathBuf, Range<u64>)>,
    /// Descriptions of the steps that failed.
    failed: Vec<String>,
}

static WATCHED: Mutex<Vec<Arc<WatchedFolder>>> = Mutex::new(Vec::new());

impl DiskWatch {
    pub(crate) fn new(root: &Path) -> DiskWatch {
        let seen = Arc::new(WatchedFolder {
            root: root.to_owned(),
            state: Mutex::default(),
        });
        lock(&WATCHED).push(seen.clone());
        DiskWatch { seen }
    }

    /// Makes steps fail from now on, counted from here.
    pub(crate) fn fail(&self, fault: Option<DiskFault>) {
        let mut state = lock(&self.seen.state);
        state.fault = fault;
        state.steps = 0;
    }

    /// Makes reads and maps of these bytes of a file fail from now on, like those of a bad sector.
    pub(crate) fn spoil(&self, path: &Path, bytes: Range<u64>) {
        let spoilt = (path.to_owned(), bytes);
        lock(&self.seen.state).unreadable.push(spoilt);
    }

    /// The steps that failed since the last call.
    pub(crate) fn failed(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.seen.state).failed)
    }

    /// The number of steps since the last call of [`DiskWatch::fail`].
    pub(crate) fn steps(&self) -> u64 {
        lock(&self.seen.state).steps
    }

    pub(crate) fn between(&self, first: usize, last: usize) {
        let event = DiskEvent::Between { first, last };
        lock(&self.seen.state).events.push(event);
    }

    pub(crate) fn events(&self) -> Vec<DiskEvent> {
        lock(&self.seen.state).events.clone()
    }
}

impl Drop for DiskWatch {
    fn drop(&mut self) {
        lock(&WATCHED).retain(|seen| !Arc::ptr_eq(seen, &self.seen));
    }
}

fn watched(path: &Path) -> Option<Arc<WatchedFolder>> {
    let watched = lock(&WATCHED);
    watched
        .iter()
        .find(|seen| path.starts_with(&seen.root))
        .cloned()
}

/// Does a step, unless it is to fail, and records it.
pub(super) fn step<T>(
    path: &Path,
    what: DiskStep<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let Some(seen) = watched(path) else {
        return work();
    };
    let mut state = lock(&seen.state);
    state.look_at_maps();
    state.refuse(path, what)?;
    let before = before(path, what);
    let done = work()?;
    state.note(path, what, before);
    Ok(done)
}

/// Like [`step`], for a step that makes something durable.
///
/// The sync itself is skipped, since no test cuts the power. The tests of the programs run the real one.
pub(super) fn sync(
    path: &Path,
    what: DiskStep<'_>,
    _: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    step(path, what, || Ok(()))
}

/// What existed before a step.
enum PriorState {
    Nothing,
    Something,
    Folder(Vec<(InodeNumber, PathBuf)>),
}

fn before(path: &Path, what: DiskStep<'_>) -> PriorState {
    match what {
        DiskStep::RemoveFolder => {
            let mut found = Vec::new();
            collect(path, &mut found);
            PriorState::Folder(found)
        }
        _ if path.exists() => PriorState::Something,
        _ => PriorState::Nothing,
    }
}

impl WatchState {
    fn refuse(&mut self, path: &Path, what: DiskStep<'_>) -> io::Result<()> {
        let step = self.steps;
        self.steps += 1;
        if let DiskStep::Read(start, len) = what {
            let is_hit = |(spoilt, bytes): &(PathBuf, Range<u64>)| {
                spoilt == path && start < bytes.end && bytes.start < start + len
            };
            if self.unreadable.iter().any(is_hit) {
                self.failed.push(format!("read {}", path.display()));
                return Err(io::Error::from_raw_os_error(EIO));
            }
        }
        let Some(fault) = self.fault else {
            return Ok(());
        };
        let takes_room = matches!(
            what,
            DiskStep::Make
                | DiskStep::MakeFolder
                | DiskStep::Write(..)
                | DiskStep::Copy(_)
                | DiskStep::SetLen(..)
        );
        let error = match fault {
            DiskFault::Once { step: at } | DiskFault::Half { step: at } if at == step => {
                io::Error::from_raw_os_error(EIO)
            }
            DiskFault::Full { step: at } if at <= step && takes_room => {
                io::Error::from_raw_os_error(28)
            }
            _ => return Ok(()),
        };
        self.failed
            .push(format!("{} {}", kind(what), path.display()));
        match (what, fault) {
            (DiskStep::Write(file, start, bytes), DiskFault::Half { .. }) => {
                let half = &bytes[..bytes.len() / 2];
                std::os::unix::fs::FileExt::write_all_at(file, half, start)?;
                self.note(
                    path,
                    DiskStep::Write(file, start, half),
                    PriorState::Something,
                );
            }
            (DiskStep::Sync(_), _) => {
                let node = node_of(path, what);
                self.events.push(DiskEvent::Forgotten { node });
            }
            _ => {}
        }
        Err(error)
    }

    fn note(&mut self, path: &Path, what: DiskStep<'_>, before: PriorState) {
        let is_new = matches!(before, PriorState::Nothing);
        let event = match what {
            DiskStep::Look | DiskStep::Read(..) => return,
            DiskStep::Map => {
                let held = fs::read(path).unwrap();
                self.mapped.insert(path.to_owned(), (number(path), held));
                return;
            }
            DiskStep::Make if !is_new => return,
            DiskStep::Make | DiskStep::MakeFolder => DiskEvent::Named {
                folder: folder_of(path),
                name: name(path),
                node: number(path),
                is_new,
                is_folder: path.is_dir(),
            },
            DiskStep::Write(file, start, bytes) => DiskEvent::Written {
                node: file.metadata().unwrap().ino(),
                start,
                bytes: UnprintedBytes(bytes.to_vec()),
            },
            DiskStep::Copy(file) => DiskEvent::Written {
                node: file.metadata().unwrap().ino(),
                start: 0,
                bytes: UnprintedBytes(fs::read(path).unwrap()),
            },
            DiskStep::SetLen(file, len) => DiskEvent::Resized {
                node: file.metadata().unwrap().ino(),
                len,
            },
            DiskStep::Sync(_) => DiskEvent::Synced {
                node: node_of(path, what),
            },
            DiskStep::SyncFolder => DiskEvent::FolderSynced {
                folder: number(path),
            },
            DiskStep::RenameTo(to) => DiskEvent::Renamed {
                folder: folder_of(to),
                from: name(path),
                to: name(to),
                node: number(to),
            },
            DiskStep::Remove => DiskEvent::Unnamed {
                folder: folder_of(path),
                name: name(path),
            },
            DiskStep::RemoveFolder => {
                if let PriorState::Folder(found) = before {
                    let unnamed = |(folder, name)| DiskEvent::Unnamed { folder, name };
                    self.events.extend(found.into_iter().map(unnamed));
                }
                DiskEvent::Unnamed {
                    folder: folder_of(path),
                    name: name(path),
                }
            }
        };
        self.events.push(event);
    }

    /// Records what changed in mapped files, word by word.
    fn look_at_maps(&mut self) {
        self.mapped
            .retain(|path, (node, _)| path.exists() && number(path) == *node);
        for (path, (node, held)) in &mut self.mapped {
            let now = fs::read(path).unwrap();
            let words = now
                .chunks(8)
                .zip(held.chunks(8).chain(std::iter::repeat(&[][..])));
            for (index, (new, old)) in words.enumerate() {
                if new != old {
                    self.events.push(DiskEvent::Written {
                        node: *node,
                        start: 8 * index as u64,
                        bytes: UnprintedBytes(new.to_vec()),
                    });
                }
            }
            *held = now;
        }
    }
}

fn kind(what: DiskStep<'_>) -> &'static str {
    match what {
        DiskStep::Look => "look at",
        DiskStep::Read(..) => "read",
        DiskStep::Make => "make",
        DiskStep::MakeFolder => "make folder",
        DiskStep::Write(..) => "write",
        DiskStep::Copy(_) => "copy",
        DiskStep::SetLen(..) => "set length of",
        DiskStep::Map => "map",
        DiskStep::Sync(_) => "sync",
        DiskStep::SyncFolder => "sync folder",
        DiskStep::RenameTo(_) => "rename",
        DiskStep::Remove => "remove",
        DiskStep::RemoveFolder => "remove folder",
    }
}

/// The number of the file that is synced. A mapped file has kept its name.
fn node_of(path: &Path, what: DiskStep<'_>) -> InodeNumber {
    match what {
        DiskStep::Sync(Some(file)) => file.metadata().unwrap().ino(),
        _ => number(path),
    }
}

pub(super) fn number(path: &Path) -> InodeNumber {
    fs::metadata(path).unwrap().ino()
}

fn folder_of(path: &Path) -> InodeNumber {
    number(super::parent(path))
}

fn name(path: &Path) -> PathBuf {
    path.file_name().unwrap().into()
}

fn collect(folder: &Path, found: &mut Vec<(InodeNumber, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        }
        found.push((number(folder), name(&path)));
    }
}

/// A database's file whose steps are watched.
#[derive(Debug)]
pub(super) struct WatchedBackend {
    inner: FileBackend,
    /// The same file, to identify it.
    file: fs::File,
    path: PathBuf,
}

pub(super) fn backend(file: File) -> Result<WatchedBackend, DatabaseError> {
    let path = file.path().to_path_buf();
    let file = file.into_inner();
    Ok(WatchedBackend {
        inner: FileBackend::new(file.try_clone()?)?,
        file,
        path,
    })
}

impl StorageBackend for WatchedBackend {
    fn len(&self) -> io::Result<u64> {
        step(&self.path, DiskStep::Look, || self.inner.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let what = DiskStep::Read(offset, out.len() as u64);
        step(&self.path, what, || self.inner.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        step(&self.path, DiskStep::SetLen(&self.file, len), || {
            self.inner.set_len(len)
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        sync(&self.path, DiskStep::Sync(Some(&self.file)), || {
            self.inner.sync_data()
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let what = DiskStep::Write(&self.file, offset, data);
        step(&self.path, what, || self.inner.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
