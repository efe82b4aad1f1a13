//! Files that were moved or linked.

use std::borrow::Cow;
use std::path::Path;

use dedupdb_corpus::dedup;
use serde::Serialize;

/// `dedup --move-to`, `dedup --undo`: a file.
#[derive(Serialize)]
pub(crate) struct MovedFile<'a> {
    pub(crate) from: Cow<'a, str>,
    pub(crate) to: Cow<'a, str>,
    pub(crate) earlier: &'a str,
    pub(crate) similarity: f64,
    pub(crate) exact_copy: bool,
}

/// `dedup --move-to`, `dedup --undo`: the summary.
#[derive(Serialize)]
pub(crate) struct Moved<'a> {
    files: u64,
    bytes: u64,
    left: u64,
    failed: u64,
    records: u64,
    manifest: Option<Cow<'a, str>>,
    dry_run: bool,
}

impl<'a> Moved<'a> {
    /// The outcome for all files.
    pub(crate) fn new(moved: &'a dedup::Moved, dry_run: bool) -> Moved<'a> {
        Moved {
            files: moved.files,
            bytes: moved.bytes,
            left: moved.left,
            failed: moved.failed,
            records: moved.records,
            manifest: moved.manifest.as_deref().map(Path::to_string_lossy),
            dry_run,
        }
    }
}

/// `link`: a copy.
#[derive(Serialize)]
pub(crate) struct LinkedFile<'a> {
    pub(crate) copy: &'a str,
    pub(crate) original: &'a str,
    pub(crate) bytes: u64,
}

/// `link`: the summary.
#[derive(Serialize)]
pub(crate) struct Linked {
    files: u64,
    copies: u64,
    freed: u64,
    left: u64,
    failed: u64,
    dry_run: bool,
}

impl Linked {
    /// The outcome for all copies.
    pub(crate) fn new(linked: &dedup::Linked, dry_run: bool) -> Linked {
        Linked {
            files: linked.files,
            copies: linked.copies,
            freed: linked.freed,
            left: linked.left,
            failed: linked.failed,
            dry_run,
        }
    }
}
