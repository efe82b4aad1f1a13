//! Ctrl-C, and the other signals that ask a process to end.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use dedupdb::Error;

use crate::console::Console;
use crate::exit::Exit;

/// Time between two looks for a signal.
const TICK: Duration = Duration::from_millis(100);

/// Whether the user asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes note of the first signal from now on; the second ends the process at once.
    pub(crate) fn catch() -> Result<Interrupt> {
        let interrupt = Interrupt::default();
        let raised = interrupt.0.clone();
        ctrlc::set_handler(move || {
            if raised.swap(true, Ordering::Relaxed) {
                // Who asks a second time does not want to wait for a commit.
                std::process::exit(Exit::INTERRUPTED.into());
            }
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(interrupt)
    }

    /// Whether to go on, as the library asks it.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.is_raised() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The next of what another thread hands over, or none at its end.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] once the user asked to stop.
    pub(crate) fn receive<T>(&self, receiver: &Receiver<T>) -> dedupdb::Result<Option<T>> {
        loop {
            if self.is_raised() {
                return Err(Error::Interrupted);
            }
            match receiver.recv_timeout(TICK) {
                Ok(received) => return Ok(Some(received)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }

    /// Whether it is time to stop.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends the process at the first signal, with a word: for work that leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Held by the signal while the process ends.
    is_armed: Arc<Mutex<bool>>,
}

impl Ending {
    /// Ends the process at the first signal from now on.
    pub(crate) fn catch(console: &Console, word: &'static str) -> Result<Ending> {
        let is_armed = Arc::new(Mutex::new(true));
        let (asked, console) = (is_armed.clone(), console.clone());
        ctrlc::set_handler(move || {
            let is_armed = asked.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_armed {
                console.bar().finish_and_clear();
                console.error(word);
                std::process::exit(Exit::INTERRUPTED.into());
            }
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Ending { is_armed })
    }

    /// Passes over signals from now on: what is left is short, and is not to be cut.
    pub(crate) fn disarm(&self) {
        *self.is_armed.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
