//! The clock, read in this one place.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, the time that documents are stored as added at.
pub(crate) fn now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the time a document is added is a fact that only the clock knows"
    )]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}
