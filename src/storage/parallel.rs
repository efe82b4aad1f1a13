//! Parallel work on several tables.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// Calls `work` for each of `lists`, on `threads` threads. After an error, a thread stops.
pub(super) fn for_each_list(
    lists: std::ops::Range<u32>,
    threads: usize,
    work: impl Fn(u32) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicU32::new(lists.start);
    let some = || -> Result<()> {
        loop {
            let list = next.fetch_add(1, Ordering::Relaxed);
            if list >= lists.end {
                return Ok(());
            }
            work(list)?;
        }
    };
    // The first error in the order of threads counts, unless it only says that another call has failed before.
    thread::scope(|scope| {
        // If the system allows no more threads, the existing ones do all the work.
        let others: Vec<_> = (1..threads.min(lists.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, some).ok())
            .collect();
        let mut done = some();
        for other in others {
            match other.join() {
                Ok(Err(error)) if done.as_ref().err().is_none_or(ConsequentError::follows) => {
                    done = Err(error);
                }
                Ok(_) => {}
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// Does two things in parallel if there are at least two threads, and one after the other otherwise.
pub(super) fn both<A, B: Send, E: ConsequentError + Send>(
    threads: usize,
    one: impl FnOnce() -> Result<A, E>,
    mut other: impl FnMut() -> Result<B, E> + Send,
) -> Result<(A, B), E> {
    let (one, beside) = thread::scope(|scope| {
        let thread = (threads > 1)
            .then(|| thread::Builder::new().spawn_scoped(scope, &mut other))
            .and_then(Result::ok);
        (one(), thread.map(thread::ScopedJoinHandle::join))
    });
    let other = match beside {
        Some(Ok(done)) => done,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => other(),
    };
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(error), Err(cause)) if error.follows() => Err(cause),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// An error that may be the consequence of an error of another thread, which is more informative.
pub(super) trait ConsequentError {
    /// Whether this is such an error.
    fn follows(&self) -> bool;
}

impl ConsequentError for Error {
    fn follows(&self) -> bool {
        matches!(self, Error::Poisoned)
    }
}

impl ConsequentError for redb::Error {
    fn follows(&self) -> bool {
        matches!(self, redb::Error::PreviousIo)
    }
}
