//! Maintenance of a store: checks, figures, copies and new generations.

mod backup;
mod check;
mod fingerprints;
mod near;
mod pack;
mod rebuild;
mod rebuild_progress;
mod refresh;
mod reindex;
mod resign;
mod salvage;
mod sample;
mod stats;
mod tune;

pub use check::{CheckReport, Problem};
pub use fingerprints::TextFingerprints;
pub use near::{Near, Nearness};
pub use rebuild::Rebuild;
pub use rebuild_progress::{RebuildProgress, Unfinished};
pub use reindex::Reindex;
pub use salvage::{Casualty, SalvageSummary, Unreadable};
pub use sample::{Expected, Sample};
pub use stats::{Bucket, Stats};
pub use tune::{ComparedShape, Shape, Tuning};
