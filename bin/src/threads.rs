//! The threads that parallel iterators run on.

use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use dedupdb::Options;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Starts `given` threads, or one per core if that is 0.
///
/// If the system allows fewer, it starts a quarter of what the system allows: a store has as many threads of its own,
/// and other threads and files need room as well. Returns the number of threads to work with, 0 for one per core, and a
/// note if there are fewer than wanted.
///
/// # Errors
///
/// If the system cannot start a thread.
pub(crate) fn start(given: usize) -> Result<(usize, Option<String>)> {
    let wanted = match given {
        0 => thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted.min(Options::MOST_THREADS),
    };
    // A pool can be built only once, and fails if one of its threads cannot be started. So the threads are started
    // first. Those that the pool does not take end when the sender is dropped.
    let (sender, receiver) = channel::<ThreadBuilder>();
    let receiver = Arc::new(Mutex::new(receiver));
    let (mut threads, mut started) = (Vec::new(), 0);
    for number in 0..wanted {
        let receiver = receiver.clone();
        let run = move || {
            let taken = receiver
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv();
            if let Ok(work) = taken {
                work.run();
            }
        };
        let thread = thread::Builder::new().name(format!("parsing-{number}"));
        match thread.spawn(run) {
            Ok(thread) => threads.push(thread),
            Err(error) if started == 0 => return Err(error).context(NO_THREAD),
            Err(_) => {
                started = (started / 4).max(1);
                break;
            }
        }
        started += 1;
    }
    ThreadPoolBuilder::new()
        .num_threads(started)
        .spawn_handler(|work| sender.send(work).map_err(|_| io::Error::other(NO_THREAD)))
        .build_global()
        .context(NO_THREAD)?;
    drop(sender);
    end(threads, started);
    if started == wanted {
        return Ok((given, None));
    }
    Ok((
        started,
        Some(format!("{NO_THREAD}; {started} of {wanted} worked")),
    ))
}

/// Waits until all but `kept` threads have ended, which frees their resources.
fn end(mut threads: Vec<JoinHandle<()>>, kept: usize) {
    while threads.len() > kept {
        let (ended, others): (Vec<_>, Vec<_>) =
            threads.into_iter().partition(JoinHandle::is_finished);
        for thread in ended {
            // A thread has no result, and its panic does not matter.
            thread.join().unwrap_or_default();
        }
        threads = others;
        thread::yield_now();
    }
}

/// The message if a thread cannot be started.
pub(crate) const NO_THREAD: &str =
    "the system allows no further thread (see `ulimit -u` and `ulimit -v`)";
