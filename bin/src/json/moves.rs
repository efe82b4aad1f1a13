//! Files that were moved.

use std::borrow::Cow;
use std::path::Path;

use dedupdb_corpus::dedup;
use serde::Serialize;

/// `move`, `move --undo`: a file.
#[derive(Serialize)]
pub(crate) struct MovedFileJson<'a> {
    pub(crate) from: Cow<'a, str>,
    pub(crate) to: Cow<'a, str>,
    pub(crate) earlier: &'a str,
    pub(crate) similarity: f64,
    pub(crate) exact_copy: bool,
}

/// `move`, `move --undo`: the summary.
#[derive(Serialize)]
pub(crate) struct MoveJson<'a> {
    files: u64,
    bytes: u64,
    left: u64,
    differing: u64,
    failed: u64,
    other_bytes: u64,
    records: u64,
    manifest: Option<Cow<'a, str>>,
    dry_run: bool,
}

impl<'a> MoveJson<'a> {
    /// The outcome for all files.
    pub(crate) fn new(moved: &'a dedup::MoveSummary, dry_run: bool) -> MoveJson<'a> {
        MoveJson {
            files: moved.files,
            bytes: moved.bytes,
            left: moved.left,
            differing: moved.differing,
            failed: moved.failed,
            other_bytes: moved.other_bytes,
            records: moved.records,
            manifest: moved.manifest.as_deref().map(Path::to_string_lossy),
            dry_run,
        }
    }
}
