//! The process that owns an object.

use std::process;
use std::sync::LazyLock;

use super::map::ForkMark;
use crate::error::{Error, Result};

/// The process in which an object was created.
///
/// The child of a fork has a copy of all memory but none of the other threads, and shares open files and their locks
/// with its parent.
///
/// # Invariant
///
/// An object of another process is neither used nor closed: closing it would truncate files, release locks and remove
/// notes of the parent. It is leaked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The current process.
    #[inline]
    pub(crate) fn current() -> Process {
        /// The first process that called this, and its mark. Reading the mark takes a hundredth of the time of asking
        /// the system for the process id, which every query of a store would have to wait for.
        static FIRST: LazyLock<(u32, Option<ForkMark>)> =
            LazyLock::new(|| (process::id(), ForkMark::new()));
        match &*FIRST {
            (id, Some(mark)) if mark.is_of_this_process() => Process(*id),
            _ => Process(process::id()),
        }
    }

    /// Whether this is the current process.
    pub(crate) fn is_current(self) -> bool {
        self == Process::current()
    }

    /// Refuses an object that was created in another process.
    ///
    /// # Errors
    ///
    /// [`Error::OtherProcess`].
    pub(crate) fn check(self) -> Result<()> {
        if self.is_current() {
            Ok(())
        } else {
            Err(Error::OtherProcess)
        }
    }
}
