//! The file of an index whose bytes other processes lock as well.

use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use redb::{BackendError, StorageBackend};

use super::lock_conflict::{LockConflict, holders};
use super::turn::{Turns, one};
use super::unsynced_folder::is_fleeting;
use crate::clock::Patience;
use crate::parallel;

type LockRange = (Bound<u64>, Bound<u64>);

/// The byte that redb's writer locks once the index is repaired.
///
/// A reader queries it before it reads an index that was not closed.
pub(super) const CONSISTENT: LockRange = one((1 << 62) + 4);

/// The offset of the flags in the header of redb's file, and the flag of a commit that is not published.
const FLAGS: usize = 9;
const UNPUBLISHED: u8 = 8;

/// How long opening waits for locks on the header's bytes, and a reader at least. Both can be retried.
const OPENING: Duration = Duration::from_secs(1);

/// How long a commit waits for them. It cannot be retried.
const COMMITTING: Duration = Duration::from_secs(30);

/// Who asks within this time after a reader waited in vain was in line behind it.
const BEHIND: Duration = Duration::from_millis(100);

/// The number of attempts without a pause. Other processes hold these bytes for microseconds.
const ATTEMPTS: usize = 100;

/// Whether a database is open, or still being opened.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenState(Arc<AtomicBool>);

impl OpenState {
    pub(super) fn set(&self, is_settled: bool) {
        self.0.store(is_settled, Ordering::Relaxed);
    }

    /// Whether both belong to the same open file.
    fn is(&self, other: &OpenState) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn patience(&self) -> Duration {
        if self.0.load(Ordering::Relaxed) {
            COMMITTING
        } else {
            OPENING
        }
    }
}

/// The first failure of each open index. After a failure, redb only reports that there was one.
static FAILED: Mutex<Vec<LockFailure>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct LockFailure {
    /// The open file that failed. The entry exists as long as the file is open.
    of: OpenState,
    path: Arc<Path>,
    kind: io::ErrorKind,
    what: String,
}

/// The first failure of the open index at `path`, if any.
pub(in crate::storage) fn first_failure(path: &Path) -> Option<io::Error> {
    let failures = parallel::lock(&FAILED);
    let first = failures.iter().find(|failure| &*failure.path == path)?;
    let reason = format!(
        "{}, and nothing was read or written since; open the store again",
        first.what
    );
    Some(io::Error::new(first.kind, reason))
}

/// A file that waits for its locks, for a limited time.
///
/// The limit is needed because any process that may read the file can lock its bytes.
#[derive(Debug)]
pub(super) struct SharedFile {
    inner: Arc<dyn StorageBackend>,
    turns: Turns,
    path: Arc<Path>,
    settled: OpenState,
    /// How long a reader waits for a commit of another process.
    reading: Duration,
    /// When a reader last waited in vain. redb lets one wait at a time, so those behind it have waited as long.
    in_vain: Mutex<Option<Instant>>,
    /// Whether the file is opened read-only, as it was left.
    ///
    /// redb asks for a repair because a one-phase commit may be torn. The commits of a store have two phases: all pages
    /// of the commit that the header names were durable before it was named. A reader locks the byte of the commit that
    /// it reads, so a writer that repairs the index meanwhile leaves that commit's pages alone, as it does for any
    /// other reader.
    as_it_is: bool,
}

impl SharedFile {
    pub(super) fn new(
        inner: impl StorageBackend,
        path: &Arc<Path>,
        settled: OpenState,
        wait: Duration,
        as_it_is: bool,
    ) -> SharedFile {
        let inner: Arc<dyn StorageBackend> = Arc::new(inner);
        SharedFile {
            turns: Turns::new(inner.clone()),
            inner,
            path: path.clone(),
            settled,
            reading: wait.max(OPENING),
            in_vain: Mutex::default(),
            as_it_is,
        }
    }

    /// The turns of this file.
    pub(super) fn turns(&self) -> Turns {
        self.turns.clone()
    }

    /// Records the first failure.
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done {
            let mut failures = parallel::lock(&FAILED);
            if !failures.iter().any(|known| known.of.is(&self.settled)) {
                failures.push(LockFailure {
                    of: self.settled.clone(),
                    path: self.path.clone(),
                    kind: error.kind(),
                    what: error.to_string(),
                });
            }
        }
        done
    }

    /// Treats a commit that its writer had no time to publish as published.
    ///
    /// The flag for this is cleared after the commit is durable, but the clearing itself need not be durable, so the
    /// flag may reappear after a power failure. A repair of the index also clears it.
    fn publish(&self, header: &mut [u8]) {
        let is_written = self.inner.query_lock_range(CONSISTENT.0, CONSISTENT.1);
        if let (Some(flags), Ok(false)) = (header.get_mut(FLAGS), is_written) {
            *flags &= !UNPUBLISHED;
        }
    }

    /// How long to wait for a lock.
    fn limit(&self, is_shared: bool) -> Duration {
        let limit = self.settled.patience();
        if !is_shared {
            return limit;
        }
        match *parallel::lock(&self.in_vain) {
            Some(last) if last.elapsed() < BEHIND => Duration::ZERO,
            _ => limit.min(self.reading),
        }
    }

    fn wait(
        &self,
        range: LockRange,
        is_shared: bool,
        lock: impl Fn() -> Result<bool, BackendError>,
    ) -> Result<(), BackendError> {
        for _ in 0..ATTEMPTS {
            if lock()? {
                return Ok(());
            }
            thread::yield_now();
        }
        let limit = self.limit(is_shared);
        let mut patience = Patience::new(limit);
        while patience.pause() {
            if lock()? {
                return Ok(());
            }
        }
        if is_shared && !limit.is_zero() {
            *parallel::lock(&self.in_vain) = Some(Instant::now());
        }
        // After a timeout, later waits are shorter: all that is left to do is to close.
        self.settled.set(false);
        let blocked = LockConflict {
            bytes: range,
            is_shared,
            holders: holders(&self.path, range),
        };
        Err(io::Error::new(io::ErrorKind::ResourceBusy, blocked).into())
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        parallel::lock(&FAILED).retain(|failure| !failure.of.is(&self.settled));
    }
}

impl StorageBackend for SharedFile {
    fn len(&self) -> io::Result<u64> {
        self.noted(self.inner.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.noted(self.inner.read(offset, out))?;
        if self.as_it_is && offset == 0 {
            self.publish(out);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.noted(self.inner.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        if is_fleeting(&self.path) {
            return Ok(());
        }
        self.noted(self.inner.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.noted(self.inner.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.turns.refuse(start, end) {
            return Ok(false);
        }
        Ok(self.turns.cover(start, end) || self.inner.try_lock_range(start, end)?)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.wait((start, end), false, || self.try_lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.wait((start, end), true, || {
            self.inner.try_lock_shared_range(start, end)
        })
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if self.turns.cover(start, end) {
            return Ok(());
        }
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        let is_held = self.inner.query_lock_range(start, end)?;
        Ok(is_held || self.as_it_is && (start, end) == CONSISTENT)
    }
}
