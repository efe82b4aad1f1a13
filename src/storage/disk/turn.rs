//! The right to write to a database, which processes have by turns.
//!
//! redb locks a byte of the file during a write transaction. A turn locks the same byte, and lasts for as many
//! transactions as its owner likes. The system takes the lock from a process that ends, however it ends.
//!
//! Processes that wait stand in line: each locks a byte whose place is the time of its arrival, and lets those pass
//! whose bytes come before. A line needs no process to keep it, and nobody stays in it who is gone. It is a courtesy,
//! not what excludes: one who waits long tries out of turn, so that a stopped process in front holds nobody up.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::{BackendError, StorageBackend};

use super::process::Process;
use crate::clock::{self, Patience};
use crate::progress::Progress;

type TurnRange = (Bound<u64>, Bound<u64>);

/// The byte that redb locks during a write transaction.
pub(super) const WRITER: u64 = 1 << 62;

/// Where the line starts: far behind the end of any file, and before all bytes that redb locks.
const LINE: u64 = 1 << 61;

/// One of this many attempts is made out of turn.
const OUT_OF_TURN: u32 = 64;

/// How long to wait for a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnWait {
    pub(crate) time: Duration,
    /// The part of that time which is over. It also counts for the place in line.
    pub(crate) waited: Duration,
    /// Ends the wait early when it is stopped.
    pub(crate) stop: Option<Progress>,
}

impl TurnWait {
    /// No wait at all.
    pub(crate) const NONE: TurnWait = TurnWait {
        time: Duration::ZERO,
        waited: Duration::ZERO,
        stop: None,
    };

    /// Whether it was ended early.
    pub(crate) fn is_stopped(&self) -> bool {
        let stop = self.stop.as_ref();
        stop.is_some_and(Progress::is_stopped)
    }
}

pub(super) const fn one(byte: u64) -> TurnRange {
    (Bound::Included(byte), Bound::Included(byte))
}

/// The turns of one open file.
#[derive(Clone, Debug)]
pub(in crate::storage) struct Turns {
    file: Arc<dyn StorageBackend>,
    is_held: Arc<AtomicBool>,
    /// Whether nothing more shall be written.
    is_over: Arc<AtomicBool>,
}

impl Turns {
    pub(super) fn new(file: Arc<dyn StorageBackend>) -> Turns {
        Turns {
            file,
            is_held: Arc::default(),
            is_over: Arc::default(),
        }
    }

    /// Whether this is the lock of a write transaction, and a turn holds it already.
    pub(super) fn cover(&self, start: Bound<u64>, end: Bound<u64>) -> bool {
        (start, end) == one(WRITER) && self.is_held.load(Ordering::Relaxed)
    }

    /// Makes redb write nothing more, as if another process kept the right to write.
    pub(in crate::storage) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether this is the lock of a write transaction, and nothing more shall be written.
    pub(super) fn refuse(&self, start: Bound<u64>, end: Bound<u64>) -> bool {
        (start, end) == one(WRITER) && self.is_over.load(Ordering::Relaxed)
    }

    /// Waits for the right to write. Returns `None` if another process kept it, or the wait was stopped.
    ///
    /// There is no other turn of this file. Where ranges of a file cannot be locked, a process that has it open for
    /// writing has the right.
    pub(in crate::storage) fn take(&self, wait: &TurnWait) -> Result<Option<Turn>, BackendError> {
        // Usually nobody stands in line, and the turn is free.
        if !self.is_line_before(u64::MAX)? && self.lock(WRITER)? {
            return Ok(Some(Turn::begin(self)));
        }
        // Otherwise stand in line, at the time when the wait began.
        let place = TurnPlace::in_line(self, wait.waited)?;
        let mut patience = Patience::brief(wait.time.saturating_sub(wait.waited));
        let mut attempts = 0;
        while !wait.is_stopped() && patience.pause() {
            attempts += 1;
            let is_next = attempts % OUT_OF_TURN == 0 || !self.is_line_before(place.byte)?;
            if is_next && self.lock(WRITER)? {
                return Ok(Some(Turn::begin(self)));
            }
        }
        Ok(None)
    }

    fn lock(&self, byte: u64) -> Result<bool, BackendError> {
        let (start, end) = one(byte);
        match self.file.try_lock_range(start, end) {
            Err(BackendError::Unsupported) => Ok(true),
            locked => locked,
        }
    }

    fn unlock(&self, byte: u64) {
        let (start, end) = one(byte);
        // Closing the file unlocks it at the latest.
        self.file.unlock_range(start, end).unwrap_or_default();
    }

    /// Whether another process stands in line before a byte.
    fn is_line_before(&self, byte: u64) -> Result<bool, BackendError> {
        let end = byte.min(WRITER - 1);
        let (start, end) = (Bound::Included(LINE), Bound::Excluded(end));
        match self.file.query_lock_range(start, end) {
            Err(BackendError::Unsupported) => Ok(false),
            locked => locked,
        }
    }
}

/// The right to write to a database, until it is dropped.
///
/// In the child of a fork, dropping it changes nothing: the right is the parent's.
#[derive(Debug)]
pub(in crate::storage) struct Turn {
    turns: Turns,
    process: Process,
}

impl Turn {
    fn begin(turns: &Turns) -> Turn {
        turns.is_held.store(true, Ordering::Relaxed);
        Turn {
            turns: turns.clone(),
            process: Process::current(),
        }
    }

    /// Whether another process waits for the right.
    pub(in crate::storage) fn is_awaited(&self) -> bool {
        self.turns.is_line_before(u64::MAX).unwrap_or(false)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.process.is_current() {
            self.turns.is_held.store(false, Ordering::Relaxed);
            self.turns.unlock(WRITER);
        }
    }
}

/// A place in line.
struct TurnPlace<'t> {
    turns: &'t Turns,
    byte: u64,
}

impl TurnPlace<'_> {
    fn in_line(turns: &Turns, waited: Duration) -> Result<TurnPlace<'_>, BackendError> {
        let mut byte = LINE + clock::micros_before(waited) % LINE;
        // Who came in the same microsecond has the byte. The next one is as good.
        while !turns.lock(byte)? {
            byte += 1;
        }
        Ok(TurnPlace { turns, byte })
    }
}

impl Drop for TurnPlace<'_> {
    fn drop(&mut self) {
        self.turns.unlock(self.byte);
    }
}
