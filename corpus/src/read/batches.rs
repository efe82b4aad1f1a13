//! The one loop over the batches of a corpus, and the threads that send them.
//!
//! ```text
//! files, sketches or spooled texts -> batches -> sketched ahead for a store -> for_each_batch
//!            send_batches                            send_batches
//! ```

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::error::Error;

/// The number of bytes of text from which a batch is sent.
pub(crate) const BATCH_BYTES: u64 = 4 << 20;

/// How long to wait for a batch at a time.
const TICK: Duration = Duration::from_millis(50);

/// Runs `send` on a thread of this name, which passes batches to the returned receiver. `waiting` of them may wait.
///
/// # Errors
///
/// The system allows no further thread. The last batch is [`Error::Defect`] if `send` panics, because that would look like
/// the end of the input otherwise.
pub(crate) fn send_batches<B: Send + 'static, E: From<Error> + Send + 'static>(
    name: &str,
    waiting: usize,
    send: impl FnOnce(&SyncSender<Result<B, E>>) + Send + 'static,
) -> Result<Receiver<Result<B, E>>, Error> {
    let (sender, receiver) = sync_channel(waiting);
    let run = move || {
        if catch_unwind(AssertUnwindSafe(|| send(&sender))).is_err() {
            // If this fails, the receiver is gone.
            drop(sender.send(Err(Error::Defect.into())));
        }
    };
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map_err(Error::thread)?;
    Ok(receiver)
}

/// Calls `take` with each batch as it arrives, and with `None` twenty times a second while there is none, so that a run
/// can be stopped. Returns what `take` breaks with, or `None` once there are no more batches.
///
/// # Errors
///
/// The first error of the batches or of `take`.
pub(crate) fn for_each_batch<B, T, E, F: From<E>>(
    batches: &Receiver<Result<B, E>>,
    mut take: impl FnMut(Option<B>) -> Result<ControlFlow<T>, F>,
) -> Result<Option<T>, F> {
    loop {
        let batch = match batches.recv_timeout(TICK) {
            Ok(batch) => Some(batch?),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        };
        if let ControlFlow::Break(ended) = take(batch)? {
            return Ok(Some(ended));
        }
    }
}
