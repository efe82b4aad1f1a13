//! What may come out of a file, all its columns together.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::corpus::source::guard::Growth;

/// Counts what is in memory of the values of a file, whoever reads them. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    growth: Arc<Mutex<Growth>>,
    /// Bytes of the file.
    size: u64,
}

impl Budget {
    /// Nothing came out of a file of `size` bytes.
    pub(crate) fn new(size: u64) -> Budget {
        Budget {
            growth: Arc::default(),
            size,
        }
    }

    /// Counts further bytes.
    ///
    /// # Errors
    ///
    /// They are out of all proportion to the file.
    pub(crate) fn count(&self, bytes: u64) -> io::Result<()> {
        let mut growth = self.growth.lock().unwrap_or_else(PoisonError::into_inner);
        growth.count(bytes, self.size)
    }
}
