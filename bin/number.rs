//! Numbers as people read them.

pub(crate) use dedupdb::number::{
    bytes, counted, grouped, percent, seconds, unix_nanoseconds, unix_seconds, utc,
};
use dedupdb::sketching::Estimate;

/// A similarity to four decimals; an estimate is marked and has its standard error.
pub(crate) fn similarity(jaccard: Option<f64>, estimate: Estimate) -> String {
    match jaccard {
        Some(jaccard) => format!("{jaccard:.4}"),
        None => format!("~{:.4}±{:.4}", estimate.jaccard, estimate.error),
    }
}
