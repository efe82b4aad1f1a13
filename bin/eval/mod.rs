//! Experiments on texts of one's own, one file each: from the arguments to what was found.

pub(crate) mod bands;
mod corpus;
mod report;

pub(crate) use report::check_names;
