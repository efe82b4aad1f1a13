//! Options of searches by containment.

use crate::parse;

/// Which texts are contained in others.
#[derive(Debug, clap::Args)]
pub(crate) struct ContainmentArgs {
    /// Minimum share of a text's shingles that another one has, whatever else that one has: 0.8 or 80%
    #[arg(long, value_name = "SHARE", value_parser = parse::share, group = "contained")]
    pub(crate) containment: Option<f64>,

    /// With --containment, leave shorter texts than N words or other tokens out of it
    #[arg(long, value_name = "N", default_value = "20", requires = "contained")]
    pub(crate) shortest: usize,
}
