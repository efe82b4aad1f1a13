//! Work on several tables at a time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::error::Result;

/// Calls `work` with each of `lists`, on so many threads. The first error of a thread ends its work.
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
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(lists.len()))
            .map(|_| scope.spawn(some))
            .collect();
        let mut done = some();
        for other in others {
            match other.join() {
                Ok(result) => done = done.and(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// Does two things at the same time.
pub(super) fn both<A, B: Send>(
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        match other.join() {
            Ok(other) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
