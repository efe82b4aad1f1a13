//! The store's own threads.

use std::mem::take;
use std::sync::OnceLock;
use std::thread;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// No machine works faster with more, and each takes memory.
pub(crate) const MOST_THREADS: usize = 256;

/// Fewer items than this are not worth waking other threads for.
const PARALLEL_ITEMS: usize = 4;

/// A rayon pool that is made when it is first needed.
///
/// # Invariant
///
/// Work that is run here while the store's lock is held must not run a caller's jobs. A rayon
/// worker that waits for other work takes up any job of its pool, and one that asks for the lock
/// would wait for itself. So the store's jobs have a pool of their own, and a caller that is a
/// rayon worker waits for them as a plain thread would.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    pool: OnceLock<Option<ThreadPool>>,
}

impl Pool {
    /// A pool of `threads` threads, or of as many as the machine has cores for 0; of [`MOST_THREADS`] at most.
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
        mut items: Vec<T>,
        work: impl Fn(T) -> R + Sync + Send,
    ) -> Vec<R> {
        if items.len() >= PARALLEL_ITEMS {
            let parallel = || take(&mut items).into_par_iter().map(&work).collect();
            if let Some(done) = self.run(parallel) {
                return done;
            }
        }
        items.into_iter().map(work).collect()
    }

    /// Sorts the items, several threads at a time; equal ones are taken for the same.
    pub(crate) fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        if self.run(|| items.par_sort_unstable()).is_none() {
            items.sort_unstable();
        }
    }

    /// Runs `work`, whose parallel iterators use this pool. Where there is one thread, or the system
    /// allows no more, nothing is run: the caller does without.
    fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Option<T> {
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
        let pool = pool.as_ref()?;
        if rayon::current_thread_index().is_none() {
            return Some(pool.install(work));
        }
        thread::scope(|scope| {
            let install = || pool.install(work);
            let thread = thread::Builder::new().spawn_scoped(scope, install).ok()?;
            match thread.join() {
                Ok(done) => Some(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
