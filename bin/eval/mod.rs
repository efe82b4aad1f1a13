//! Experiments on texts of one's own, one file each: from the arguments to what is
//! shown of the figures.

pub(crate) mod accuracy;
mod accuracy_report;
pub(crate) mod bands;
mod corpus;
pub(crate) mod recall;
mod report;
pub(crate) mod shingles;
mod shingles_report;
pub(crate) mod time;
mod time_report;

pub(crate) use corpus::each;
pub(crate) use report::check_names;
