//! Whether standard input or output was closed when the program started.
//!
//! Before `main`, the runtime opens `/dev/null` in place of standard streams that are closed: everything that is written
//! there is lost without an error, and an empty text is read. So this looks earlier.

use std::io::{self, Read};

use anyhow::{Result, bail};

#[cfg(target_os = "linux")]
mod early {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static INPUT: AtomicBool = AtomicBool::new(false);
    pub(super) static OUTPUT: AtomicBool = AtomicBool::new(false);

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
        let is_closed = rustix::io::fcntl_getfd(io::stdin()).is_err();
        INPUT.store(is_closed, Ordering::Relaxed);
        let is_closed = rustix::io::fcntl_getfd(io::stdout()).is_err();
        OUTPUT.store(is_closed, Ordering::Relaxed);
    }
}

/// Whether standard output was closed. Other systems than Linux do not tell.
pub(crate) fn is_closed() -> bool {
    #[cfg(target_os = "linux")]
    return early::OUTPUT.load(std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(target_os = "linux"))]
    false
}

/// Returns standard input, which cannot be read if it was closed.
pub(crate) fn stdin() -> Box<dyn Read + Send> {
    #[cfg(target_os = "linux")]
    if early::INPUT.load(std::sync::atomic::Ordering::Relaxed) {
        return Box::new(ClosedInput);
    }
    Box::new(io::stdin())
}

/// Standard input that was closed.
#[cfg(target_os = "linux")]
struct ClosedInput;

#[cfg(target_os = "linux")]
impl Read for ClosedInput {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(error())
    }
}

/// The error of a standard stream that was closed.
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
