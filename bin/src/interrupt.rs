//! Ctrl-C, and the other signals that ask a process to end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use dedupdb::Progress;

use crate::console::Console;

/// What is said where a command that can continue was stopped.
pub(crate) const CONTINUES: &str =
    "stopped; what was done so far is kept, and the same command continues";

/// The time between two checks for a signal.
const TICK: Duration = Duration::from_millis(100);

/// The number of the last signal; before any, that of Ctrl-C.
static SIGNAL: AtomicU8 = AtomicU8::new(2);

/// The exit code of a process that was asked to end: 128 plus the number of the signal.
pub(crate) fn exit_code() -> u8 {
    128 + SIGNAL.load(Ordering::Relaxed)
}

/// Turns the signal for a file past the process's size limit into a write error, which is reported.
///
/// Otherwise the signal would end the process.
#[cfg(unix)]
pub(crate) fn outlive_file_limit() {
    use signal_hook::consts::SIGXFSZ;
    // If the handler cannot be registered, the signal keeps its default action.
    drop(signal_hook::flag::register(SIGXFSZ, Arc::default()));
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(crate) fn outlive_file_limit() {}

/// Calls `act` on a separate thread at each signal that asks the process to end.
#[cfg(unix)]
fn at_signals(mut act: impl FnMut() + Send + 'static) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let mut signals = signals.context("cannot listen for Ctrl-C")?;
    let listen = move || {
        for signal in signals.forever() {
            if let Ok(signal) = u8::try_from(signal) {
                SIGNAL.store(signal, Ordering::Relaxed);
            }
            act();
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(listen).context("cannot start a thread")?;
    Ok(())
}

/// Calls `act` on a separate thread at each Ctrl-C.
#[cfg(not(unix))]
fn at_signals(act: impl FnMut() + Send + 'static) -> Result<()> {
    ctrlc::set_handler(act).context("cannot listen for Ctrl-C")
}

/// Returns a progress that the first signal from now on stops. The second one ends the process at once.
#[expect(clippy::exit, reason = "a user who asks twice does not want to wait")]
pub(crate) fn catch() -> Result<Progress> {
    let progress = Progress::new();
    let stopped = progress.clone();
    at_signals(move || {
        if stopped.is_stopped() {
            std::process::exit(exit_code().into());
        }
        stopped.stop();
    })?;
    Ok(progress)
}

/// The next item from another thread, or `None` at the end.
///
/// # Errors
///
/// [`Error::Stopped`](dedupdb::Error::Stopped) once the user asked to stop.
pub(crate) fn receive<T>(
    receiver: &Receiver<T>,
    progress: &Progress,
) -> dedupdb::Result<Option<T>> {
    loop {
        progress.go_on()?;
        match receiver.recv_timeout(TICK) {
            Ok(received) => return Ok(Some(received)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Ends the process with a message at the first signal: for work that leaves nothing behind.
#[derive(Debug)]
pub(crate) struct SignalExit {
    /// The signal's thread holds the lock while the process ends.
    is_armed: Arc<Mutex<bool>>,
}

impl SignalExit {
    /// Ends the process at the first signal from now on.
    pub(crate) fn catch(console: &Console, word: &'static str) -> Result<SignalExit> {
        SignalExit::removing(console, word, None)
    }

    /// Ends the process at the first signal from now on. First removes the folder that it works in, if it has one.
    pub(crate) fn removing(
        console: &Console,
        word: &'static str,
        folder: Option<PathBuf>,
    ) -> Result<SignalExit> {
        let is_armed = Arc::new(Mutex::new(true));
        let (asked, console) = (is_armed.clone(), console.clone());
        at_signals(move || {
            let is_armed = asked.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_armed {
                console.bar().finish_and_clear();
                console.error(word);
                if let Some(folder) = &folder {
                    // The work may create files meanwhile, so remove the folder twice.
                    for _ in 0..2 {
                        std::fs::remove_dir_all(folder).unwrap_or_default();
                    }
                }
                std::process::exit(exit_code().into());
            }
        })?;
        Ok(SignalExit { is_armed })
    }

    /// Ignores signals from now on: the rest is short, and must be completed.
    pub(crate) fn disarm(&self) {
        *self.is_armed.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
