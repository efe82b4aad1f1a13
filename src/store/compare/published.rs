//! The last commit.

use std::sync::Arc;

use super::sketch::Sketcher;
use crate::storage::Snapshot;

/// The last commit, and what makes sketches as its schema asks for.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) sketcher: Arc<Sketcher>,
}
