//! The memory of the program and of the benchmarks.

use std::ffi::{c_int, c_long};

use libmimalloc_sys::mi_option_set_default;
use mimalloc::MiMalloc;

/// Texts are allocated on one thread and freed on another, where the system's allocator is slow.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of mimalloc 2: how many milliseconds after it was freed memory goes back to the system.
const PURGE_DELAY: c_int = 15;

/// Mimalloc's own 10 ms give much of the memory of a batch back before the next one takes it again.
const DELAY: c_long = 50;

/// Keeps freed memory for a moment, unless `MIMALLOC_PURGE_DELAY` says for how long. To be called before there are other
/// threads.
#[expect(unsafe_code, reason = "the allocator's options have no safe interface")]
pub(crate) fn keep_for_a_moment() {
    // SAFETY: The option is a number, and no other thread reads or sets an option now.
    unsafe { mi_option_set_default(PURGE_DELAY, DELAY) };
}
