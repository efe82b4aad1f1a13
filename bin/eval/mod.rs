//! Experiments on texts of one's own, and what they found as it is printed and written.

pub(crate) mod accuracy;
pub(crate) mod bands;
mod corpus;
pub(crate) mod recall;
pub(crate) mod report;
pub(crate) mod shingles;
pub(crate) mod time;

pub(crate) use corpus::each;
pub(crate) use report::{Outcome, check_names};
