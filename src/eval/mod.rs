//! Experiments: what is found, what it costs, and what theory says of it.
//!
//! An experiment takes texts, sets or a store, and returns rows of figures, the measured ones beside
//! their prediction. It reads and prints nothing. With the feature `plot` the figures become pictures, such as
//! `Recall::picture`, and a `Report` has them as named values, as a table for people, and drawn, such as
//! `Recall::report`.
//!
//! | experiment | asks | of |
//! |---|---|---|
//! | [`accuracy()`] | how far are estimates from exact similarities? | sets |
//! | [`bands()`] | what do numbers of bands find, and what do they look at in vain? | sets |
//! | [`recall()`] | how many of its true pairs does a store find? | a store |
//! | [`shingles()`] | which kind and length of shingles tells near-duplicates from others? | texts |
//! | [`time()`] | from how many texts on is LSH worth it? | sets |
//!
//! **Figures depend on what is measured and on the seed, not on the number of threads**; times do, of
//! course. Sums are made in the order of the texts. A [`Monitor`] shows how far an experiment is, and
//! stops it. [`draw()`] takes a sample of texts that depends on their keys and a seed alone.

mod accuracy;
mod bands;
mod binomial;
mod draw;
mod groups;
mod interval;
mod lsh;
mod monitor;
#[cfg(feature = "plot")]
mod pictures;
mod recall;
#[cfg(feature = "plot")]
mod reports;
mod shingles;
mod time;
mod truth;

pub use accuracy::{Accuracy, AccuracyQuery, Off, accuracy};
pub use bands::{BandsMeasured, Figure, ShapeMeasured, bands};
pub use draw::{Reservoir, draw, pairs, rank, shuffled};
pub use interval::wilson;
pub use monitor::Monitor;
#[cfg(feature = "plot")]
pub use pictures::{accuracy_picture, s_curves, time_picture};
pub use recall::{Recall, RecallQuery, RecallRange, recall};
#[cfg(feature = "plot")]
pub use reports::{
    KindAccuracy, Report, Row, Table, Value, accuracy_report, time_report, tuning_report, wrap,
};
pub use shingles::{KindMeasured, PairClass, ShingleKind, ShinglesMeasured, shingles};
pub use time::{Cost, Crossing, PartCost, SignedCost, time};
