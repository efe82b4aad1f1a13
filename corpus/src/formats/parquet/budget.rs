//! A limit on the decoded size of a file, over all its columns.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::guard::Growth;

/// Counts the bytes of a file's values in memory, over all readers. Clones share one count.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    growth: Arc<Mutex<Growth>>,
    /// The size of the file in bytes.
    size: u64,
}

impl Budget {
    /// Returns the budget of a file of `size` bytes, with nothing counted.
    pub(crate) fn new(size: u64) -> Budget {
        Budget {
            growth: Arc::default(),
            size,
        }
    }

    /// Counts more bytes.
    ///
    /// # Errors
    ///
    /// The bytes are out of all proportion to the file.
    pub(crate) fn count(&self, bytes: u64) -> io::Result<()> {
        let mut growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        growth.count(bytes, self.size)
    }
}
