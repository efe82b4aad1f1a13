//! Kernels of every instruction set beside their definition.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dedupdb::fuzzing::kernels(bytes));
