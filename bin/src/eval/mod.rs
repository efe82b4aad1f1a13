//! Experiments on the user's own texts, and the output of their results.

pub(crate) mod accuracy;
pub(crate) mod bands;
mod corpus;
pub(crate) mod recall;
pub(crate) mod report;
pub(crate) mod shingles;
pub(crate) mod time;

pub(crate) use corpus::each;
pub(crate) use report::{ExperimentOutcome, check_names};
