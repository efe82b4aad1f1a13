//! Work on several items at a time.
//!
//! The whole crate uses it instead of rayon's iterators, some 3,000 lines of which are compiled again for each closure.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

/// The number of parts in a thread's share of the remaining items. A thread takes one part at a time, so that the last
/// parts are small and no thread works long on its own.
const PARTS: usize = 4;

/// Calls `work` on each item, on the threads of the current rayon pool; the results are in the order of the items.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = rayon::current_num_threads().min(items.len());
    if threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(items.len(), || None);
    let left = Mutex::new((items.into_iter(), &mut results[..]));
    at_once(threads, &|| {
        loop {
            // A thread takes the next items and the places of their results under the lock, and works on them without
            // it.
            let (part, places) = {
                let (items, places) = &mut *lock(&left);
                let size = items.len().div_ceil(threads * PARTS);
                let part: Vec<T> = items.take(size).collect();
                let (own, others) = take(places).split_at_mut(size);
                *places = others;
                (part, own)
            };
            if part.is_empty() {
                return;
            }
            for (item, place) in part.into_iter().zip(places) {
                *place = Some(work(item));
            }
        }
    });
    let done = |result: Option<R>| match result {
        Some(result) => result,
        None => unreachable!("each part is worked on before all threads return"),
    };
    results.into_iter().map(done).collect()
}

/// Calls `work` `times` times, on several threads of the current rayon pool at once.
fn at_once(times: usize, work: &(dyn Fn() + Sync)) {
    let each = (0..times).into_par_iter().with_max_len(1);
    each.for_each(|_| work());
}

/// Locks a value that is valid after every statement, so that a panic, which poisons the lock, does not spoil it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;

    use rayon::ThreadPoolBuilder;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            for items in [0, 1, 2, 7, 8, 9, 1000] {
                let text = |n: u32| Box::new(n * 2);
                let results = pool
                    .as_ref()
                    .map(|pool| pool.install(|| map((0..items).collect(), text)));
                let expected: Vec<Box<u32>> = (0..items).map(text).collect();
                assert_eq!(results.unwrap(), expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn each_thread_takes_part() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let all_here = Barrier::new(3);
        let threads = pool.install(|| {
            map((0..3).collect(), |_: u32| {
                all_here.wait();
                thread::current().id()
            })
        });
        assert_eq!(threads.into_iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    #[should_panic(expected = "item 5")]
    fn a_panic_of_the_work_is_one_here() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| map((0..9).collect(), |n: u32| assert!(n != 5, "item {n}")));
    }
}
