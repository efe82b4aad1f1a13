//! Exit codes.

use std::io::{self, Write};

use crate::interrupt;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked, or found what was looked for.
    Found,
    /// It found nothing.
    Nothing,
    /// Something failed, or the store is damaged.
    Failed,
    /// A signal stopped it.
    Interrupted,
}

impl Exit {
    /// Found or nothing.
    pub(crate) fn found(found: bool) -> Exit {
        if found { Exit::Found } else { Exit::Nothing }
    }

    /// Done, or not all of it.
    pub(crate) fn failed(failed: bool) -> Exit {
        if failed { Exit::Failed } else { Exit::Found }
    }

    /// The code for the system.
    fn code(self) -> u8 {
        match self {
            Exit::Found => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
            Exit::Interrupted => interrupt::exit_code(),
        }
    }

    /// Ends the process. The allocator does not give its memory back first: it does so piece by piece, and the system takes
    /// all at once.
    pub(crate) fn end(self) -> ! {
        // Nobody is left to tell when this fails.
        io::stdout().flush().unwrap_or_default();
        #[cfg(unix)]
        signal_hook::low_level::exit(self.code().into());
        #[cfg(not(unix))]
        std::process::exit(self.code().into())
    }
}
