//! The names in a store's folder, and checks of which store a file belongs to.

use std::path::Path;

use super::disk::File;
use super::format::{HEADER_BYTES, belongs_to, belongs_to_other, may_be_filter_of};

pub(super) const INDEX: &str = "index.redb";

/// The index of a store that is being created.
pub(super) const NEW_INDEX: &str = "index.redb.new";

/// The index of a generation that is being built.
pub(super) const NEXT_INDEX: &str = "index.redb.next";

/// The folder for the copy of a damaged index.
pub(super) const SCRATCH: &str = "scratch";

/// The name of the copy.
pub(super) const COPY: &str = "damaged.redb";

/// The number of a store's first generation. A rebuild creates the next one.
pub(super) const FIRST_GENERATION: u32 = 1;

/// Whether a file begins like a column or filter of a store.
pub(super) fn is_of_store(path: &Path, store: u64) -> bool {
    start(path).is_some_and(|start| belongs_to(&start, store))
}

/// Whether a file begins like a complete column or filter of another store.
pub(super) fn is_of_other(path: &Path, store: u64) -> bool {
    start(path).is_some_and(|start| belongs_to_other(&start, store))
}

/// Whether a file with the name of a filter is one of a store, complete or not.
pub(super) fn is_filter_of(path: &Path, store: u64) -> bool {
    start(path).is_some_and(|start| may_be_filter_of(&start, store))
}

fn start(path: &Path) -> Option<Vec<u8>> {
    File::open(path)
        .and_then(|file| file.start(HEADER_BYTES))
        .ok()
}
