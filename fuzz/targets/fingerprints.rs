//! Coded fingerprints of texts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dedupdb::fuzzing::fingerprints(bytes));
