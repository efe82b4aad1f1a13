//! The last commit.

use std::sync::Arc;

use super::sketch::Sketcher;
use crate::storage::Snapshot;

/// The last commit, and the sketcher for its schema.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) sketcher: Arc<Sketcher>,
}
