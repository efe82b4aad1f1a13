//! The store's own threads.

use std::sync::OnceLock;
use std::sync::mpsc::sync_channel;
use std::thread;

use rayon::slice::ParallelSliceMut;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::parallel;

/// More threads make no machine faster, and each takes memory.
pub(crate) const MOST_THREADS: usize = 256;

/// With fewer items than this, waking other threads does not pay.
const PARALLEL_ITEMS: usize = 4;

/// A rayon pool that is made on first use.
///
/// # Invariant
///
/// Work that runs here while the store's lock is held must not run a caller's jobs. A rayon worker that waits for other
/// work takes up any job of its pool, and a job that takes the store's lock would deadlock. So the store's jobs have a
/// pool of their own, and a caller that is a rayon worker waits for them as a plain thread would.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    pool: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    /// Makes a pool of `threads` threads, at most [`MOST_THREADS`]; 0 stands for the number of cores.
    pub(crate) fn new(threads: usize) -> Pool {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Pool {
            threads: threads.min(MOST_THREADS),
            pool: OnceLock::new(),
        }
    }

    /// Number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `work` on each item, several at a time; the results are in the order of the items.
    pub(crate) fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        let are_many = items.len() >= PARALLEL_ITEMS;
        let (mut items, mut done) = (Some(items), None);
        if are_many {
            self.run(&mut || done = items.take().map(|items| parallel::map(items, &work)));
        }
        done.unwrap_or_else(|| items.into_iter().flatten().map(work).collect())
    }

    /// Calls `work` on each item, several at a time, and passes the results to `take`, `part` items at a time, while
    /// further items are worked on. The results are in the order of the items.
    ///
    /// # Errors
    ///
    /// The first error of `take`, which is not called again.
    pub(crate) fn map_ahead<T: Send, R: Send, E>(
        &self,
        items: Vec<T>,
        part: usize,
        work: impl Fn(T) -> R + Sync,
        mut take: impl FnMut(Vec<R>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.threads == 1 || items.len() <= part {
            return take(self.map(items, work));
        }
        let mut items = items.into_iter();
        // The channel holds one part, so while `take` is busy, one more part is ready and one is being made.
        let (sender, done) = sync_channel(1);
        let mut sender = Some(sender);
        let mut ahead = || {
            let sender = sender.take();
            loop {
                let part: Vec<T> = items.by_ref().take(part).collect();
                // After an error of `take`, there is no receiver any more, and nothing further is wanted.
                let is_wanted = |done| sender.as_ref().is_some_and(|it| it.send(done).is_ok());
                if part.is_empty() || !is_wanted(self.map(part, &work)) {
                    return;
                }
            }
        };
        let taken = thread::scope(|scope| {
            thread::Builder::new()
                .spawn_scoped(scope, &mut ahead)
                .ok()?;
            Some(done.into_iter().try_for_each(&mut take))
        });
        match taken {
            Some(taken) => taken,
            // The system allows no further thread.
            None => take(self.map(items.collect(), work)),
        }
    }

    /// Does two things at once: `other` in this pool, and `one` on the caller's thread.
    pub(crate) fn beside<A, B: Send>(
        &self,
        one: impl FnOnce() -> A,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        // While it waits, a worker of another pool would take up jobs of that pool.
        let pool = match rayon::current_thread_index() {
            None => self.pool(),
            Some(_) => None,
        };
        let Some(pool) = pool else {
            return (one(), other());
        };
        let mut done = None;
        let one = pool.in_place_scope(|scope| {
            scope.spawn(|_| done = Some(other()));
            one()
        });
        match done {
            Some(done) => (one, done),
            None => unreachable!("a scope ends when all is done"),
        }
    }

    /// Sorts the items on several threads. The order of equal items is unspecified.
    pub(crate) fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        if !self.run(&mut || items.par_sort_unstable()) {
            items.sort_unstable();
        }
    }

    /// The pool; `None` if there is one thread, or the system allows no more.
    fn pool(&self) -> Option<&ThreadPool> {
        if self.threads == 1 {
            return None;
        }
        let pool = self.pool.get_or_init(|| {
            ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .thread_name(|index| format!("dedupdb-{index}"))
                .build()
                .ok()
        });
        pool.as_ref()
    }

    /// Calls `work` once, in this pool. If there is one thread, or the system allows no more, it returns false without
    /// the call, and the caller does the work itself.
    fn run(&self, work: &mut (dyn FnMut() + Send)) -> bool {
        let Some(pool) = self.pool() else {
            return false;
        };
        if rayon::current_thread_index().is_none() {
            pool.install(work);
            return true;
        }
        if pool.current_thread_index().is_some() {
            work();
            return true;
        }
        // A worker of another pool waits as a plain thread would, so that it takes up no job of its own pool.
        thread::scope(|scope| {
            let install = || pool.install(work);
            let Ok(thread) = thread::Builder::new().spawn_scoped(scope, install) else {
                return false;
            };
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order_part_after_part_until_one_is_refused() {
        for threads in [1, 2, 3] {
            let pool = Pool::new(threads);
            for items in [0, 1, 9, 10, 11, 95] {
                let mut taken = Vec::new();
                let take = |part: Vec<u32>| {
                    taken.extend(part);
                    Ok::<(), ()>(())
                };
                let done = pool.map_ahead((0..items).collect(), 10, |n| n * 2, take);
                assert_eq!(done, Ok(()));
                let expected: Vec<u32> = (0..items).map(|n| n * 2).collect();
                assert_eq!(taken, expected, "{threads} threads");
            }
        }
        let mut parts = 0;
        let take = |part: Vec<u32>| {
            parts += 1;
            if part.contains(&25) { Err(25) } else { Ok(()) }
        };
        let done = Pool::new(2).map_ahead((0..95).collect(), 10, |n| n, take);
        assert_eq!((done, parts), (Err(25), 3));
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_panic_ahead_is_one_here() {
        let work = |n: u32| assert!(n < 50, "{n}");
        Pool::new(2)
            .map_ahead((0..95).collect(), 10, work, |_| Ok::<(), ()>(()))
            .unwrap_or_default();
    }

    #[test]
    fn two_things_are_done_at_the_same_time_unless_the_caller_is_of_a_pool() {
        for threads in [1, 2, 3] {
            let pool = Pool::new(threads);
            let both = || {
                let double = || pool.map((0..100).collect(), |n: u32| n * 2);
                pool.beside(|| 7, double)
            };
            let expected = (7, (0..100).map(|n| n * 2).collect::<Vec<_>>());
            assert_eq!(both(), expected, "{threads} threads");
            let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(other.install(both), expected, "{threads} threads");
        }
        // Each waits for the other.
        let here = std::sync::Barrier::new(2);
        Pool::new(2).beside(|| here.wait(), || here.wait());
    }

    #[test]
    #[should_panic(expected = "beside")]
    fn a_panic_beside_is_one_here() {
        Pool::new(2).beside(
            || 1,
            || assert!(thread::current().name() == Some(""), "beside"),
        );
    }

    #[test]
    fn no_more_threads_are_started_than_are_of_use() {
        let pool = Pool::new(100_000);
        assert_eq!(pool.threads(), MOST_THREADS);
        let doubled = pool.map((0..1000).collect(), |n: u32| {
            (n * 2, rayon::current_num_threads())
        });
        let expected: Vec<(u32, usize)> = (0..1000).map(|n| (n * 2, MOST_THREADS)).collect();
        assert_eq!(doubled, expected);
    }
}
