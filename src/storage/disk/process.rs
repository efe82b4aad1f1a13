//! The process that something belongs to.

use std::process;
use std::sync::LazyLock;

use super::map::ForkMark;
use crate::error::{Error, Result};

/// The process in which something was made.
///
/// The child of a fork has a copy of all memory and none of the other threads, and shares open files and
/// their locks with its parent.
///
/// # Invariant
///
/// What another process made is neither used nor closed: closing it would cut files, end locks and
/// remove notes of the parent. It is leaked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// The one that runs.
    #[inline]
    pub(crate) fn current() -> Process {
        /// The process that asked first, and its mark: to look at that takes a hundredth of the time
        /// that the system takes to tell the id, which every question to a store would wait for.
        static FIRST: LazyLock<(u32, Option<ForkMark>)> =
            LazyLock::new(|| (process::id(), ForkMark::new()));
        match &*FIRST {
            (id, Some(mark)) if mark.is_of_this_process() => Process(*id),
            _ => Process(process::id()),
        }
    }

    /// Whether it is the one that runs.
    pub(crate) fn is_current(self) -> bool {
        self == Process::current()
    }

    /// Refuses what was made in another process.
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
