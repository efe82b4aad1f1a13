//! The hash of a file's contents.

use std::fs::File;
use std::io;
use std::path::Path;

/// Hashes a file to its end.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn hash_of(path: &Path) -> io::Result<blake3::Hasher> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher)
}
