//! Whether standard output was closed when the program started.
//!
//! Before `main`, the runtime opens `/dev/null` in place of standard streams that are closed, and everything that is
//! written there is lost without an error. So this looks earlier.

use std::io;

use anyhow::{Result, bail};

#[cfg(target_os = "linux")]
mod early {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    #[used]
    #[expect(
        unsafe_code,
        reason = "only a section of the program runs before the runtime"
    )]
    // SAFETY: The section has addresses of functions like this one, which the system's library calls one by one. It
    // neither needs the runtime nor panics.
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        let is_closed = rustix::io::fcntl_getfd(io::stdout()).is_err();
        IS_CLOSED.store(is_closed, Ordering::Relaxed);
    }

    pub(super) fn is_closed() -> bool {
        IS_CLOSED.load(Ordering::Relaxed)
    }
}

/// Whether standard output was closed. Other systems than Linux do not tell.
pub(crate) fn is_closed() -> bool {
    #[cfg(target_os = "linux")]
    return early::is_closed();
    #[cfg(not(target_os = "linux"))]
    false
}

/// The error of writing to standard output that was closed.
pub(crate) fn error() -> io::Error {
    io::Error::other("it is closed")
}

/// Refuses to write to standard output that was closed.
pub(crate) fn check() -> Result<()> {
    if is_closed() {
        bail!("standard output: {}", error());
    }
    Ok(())
}
