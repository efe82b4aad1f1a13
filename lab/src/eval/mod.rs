//! Experiments that measure what is found and what it costs, beside the predictions of theory.
//!
//! An experiment takes texts, sets or a store, and returns rows of figures, each measurement beside its prediction. It
//! reads and prints nothing. With the feature `plot`, the figures become pictures, such as `Recall::picture`, and a
//! `ExperimentReport` has them as named values, as a readable table, and as a picture, such as `Recall::report`.
//!
//! | experiment | question | input |
//! |---|---|---|
//! | [`accuracy()`] | how far are estimates from exact similarities? | sets |
//! | [`bands()`] | how many near-duplicates and false candidates do numbers of bands find? | sets |
//! | [`recall()`] | how many of its true pairs does a store find? | a store |
//! | [`shingles()`] | which kind and length of shingles separates near-duplicates from others? | texts |
//! | [`time()`] | from how many texts on does LSH pay off? | sets |
//!
//! **Figures depend on the input and the seed, not on the number of threads**, except for times. Sums are computed in
//! the order of the texts. A [`Progress`](dedupdb::Progress) shows how far an experiment is, and can stop it. [`draw()`] takes a
//! sample of texts that depends only on their keys and a seed.

mod accuracy;
mod bands;
mod binomial;
mod draw;
mod groups;
mod interval;
mod lsh;
mod pictures;
mod recall;
mod reports;
mod shingles;
mod time;
mod truth;

pub use accuracy::{Accuracy, AccuracyQuery, LargeErrors, accuracy};
pub use bands::{BandsMeasured, Figure, ShapeMeasured, bands};
pub use draw::{Reservoir, draw, pairs, rank, shuffled};
pub use interval::wilson;
pub use pictures::{accuracy_picture, s_curves, time_picture};
pub use recall::{Recall, RecallQuery, RecallRange, recall};
pub use reports::{
    ExperimentReport, FigureRow, KindAccuracy, TextTable, Value, accuracy_report, time_report,
    tuning_report, wrap,
};
pub use shingles::{KindMeasured, PairClass, ShingleKind, ShinglesMeasured, shingles};
pub use time::{Cost, Crossing, PartCost, SignedCost, time};

/// Refuses a threshold that is not above 0 and at most 1.
fn check_threshold(threshold: f64) -> dedupdb::Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    Err(dedupdb::Error::InvalidQuery {
        parameter: "threshold",
        reason: format!("{threshold} is not above 0 and at most 1"),
    })
}
