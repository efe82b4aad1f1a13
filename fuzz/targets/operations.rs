//! Operations on a store, compared with the model.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().unwrap();
    dedupdb::fuzzing::operations(folder.path(), bytes);
});
