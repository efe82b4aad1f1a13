//! Exit codes.

use std::io::{self, Write};

use dedupdb::Progress;

use crate::console::Console;
use crate::interrupt;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what was asked, or found what was looked for.
    Found,
    /// The command found nothing.
    Nothing,
    /// Something failed, or the store is damaged.
    Failed,
    /// Another process has what the command needs, such as the right to write. The command can be repeated later.
    Busy,
    /// A signal stopped the command.
    Interrupted,
}

impl Exit {
    /// [`Exit::Found`] or [`Exit::Nothing`].
    pub(crate) fn found(found: bool) -> Exit {
        if found { Exit::Found } else { Exit::Nothing }
    }

    /// [`Exit::Failed`] or [`Exit::Found`].
    pub(crate) fn failed(failed: bool) -> Exit {
        if failed { Exit::Failed } else { Exit::Found }
    }

    /// The exit of a command that has stored everything and can be repeated. After a signal it is [`Exit::Interrupted`],
    /// so that a script that the user stops does not go on to its next command.
    pub(crate) fn unless_stopped(self, progress: &Progress, console: &Console) -> Exit {
        if !progress.is_stopped() {
            return self;
        }
        console.error(
            "stopped; everything is stored, and only the rewrite of the index may be left out",
        );
        Exit::Interrupted
    }

    /// The exit code for the system.
    fn code(self) -> u8 {
        match self {
            Exit::Found => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
            // EX_TEMPFAIL, which tells schedulers and mail programs to try again.
            Exit::Busy => 75,
            Exit::Interrupted => interrupt::exit_code(),
        }
    }

    /// Ends the process, on Unix without what an ordinary exit does first.
    ///
    /// Otherwise the allocator would give its memory back piece by piece. The system takes it all at once, which is
    /// faster.
    pub(crate) fn end(self) -> ! {
        // If this fails, there is nowhere to report it.
        io::stdout().flush().unwrap_or_default();
        #[cfg(unix)]
        signal_hook::low_level::exit(self.code().into());
        #[cfg(not(unix))]
        std::process::exit(self.code().into())
    }
}
