//! The last commit.

use std::sync::Arc;

use super::sketch::StoreSketcher;
use crate::storage::Snapshot;

/// The last commit, and the sketcher for its schema.
#[derive(Clone, Debug)]
pub(crate) struct PublishedCommit {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) sketcher: Arc<StoreSketcher>,
}
