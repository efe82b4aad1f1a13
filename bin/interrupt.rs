//! Ctrl-C, and the other signals that ask a process to end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::exit::Exit;

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

    /// Whether it is time to stop.
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
