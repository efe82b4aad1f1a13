//! The allocator of the program and of the benchmarks.

use std::ffi::{c_int, c_long};

use libmimalloc_sys::mi_option_set_default;
use mimalloc::MiMalloc;

/// Texts are allocated on one thread and freed on another, for which the system's allocator is slow.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of mimalloc 2: the milliseconds after which freed memory returns to the system.
const PURGE_DELAY: c_int = 15;

/// With mimalloc's own 10 ms, much of a batch's memory would return to the system before the next batch needs it.
const DELAY: c_long = 50;

/// Keeps freed memory for a moment, unless `MIMALLOC_PURGE_DELAY` sets a time.
///
/// Call this before other threads start.
#[expect(unsafe_code, reason = "the allocator's options have no safe interface")]
pub(crate) fn keep_for_a_moment() {
    // SAFETY: The option is a number, and no other thread reads or sets an option now.
    unsafe { mi_option_set_default(PURGE_DELAY, DELAY) };
}
