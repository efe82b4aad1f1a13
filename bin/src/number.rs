//! Numbers in a form for people.

use dedupdb::sketching::Estimate;
pub(crate) use dedupdb_corpus::number::{
    bytes, counted, four_decimals, grouped, percent, seconds, unix_nanoseconds, unix_seconds, utc,
    utc_date,
};

/// A similarity with four decimals. An estimate is marked and has its standard error.
pub(crate) fn similarity(jaccard: Option<f64>, estimate: Estimate) -> String {
    match jaccard {
        Some(jaccard) => four_decimals(jaccard),
        None => format!("~{:.4}±{:.4}", estimate.jaccard, estimate.error),
    }
}

/// An estimate with four decimals and its standard error, unless that is 0.
pub(crate) fn estimated(estimate: Estimate) -> String {
    let jaccard = four_decimals(estimate.jaccard);
    if estimate.error > 0.0 {
        return format!("{jaccard} ± {:.4}", estimate.error);
    }
    jaccard
}
