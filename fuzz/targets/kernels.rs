//! The kernels of every instruction set, compared with their definition.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dedupdb::fuzzing::kernels(bytes));
