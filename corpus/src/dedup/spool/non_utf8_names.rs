//! The names of files in a spool.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::coded::{get, get_text, put, put_bytes};

/// The names that are not UTF-8. There are few.
#[derive(Debug, Default)]
pub(super) struct NonUtf8Names(Vec<PathBuf>);

impl NonUtf8Names {
    /// Writes a name. Returns the number of bytes written.
    pub(super) fn put(&mut self, writer: &mut impl Write, path: &Path) -> io::Result<u64> {
        if let Some(name) = path.to_str() {
            let head = put(writer, 0)?;
            return Ok(head + put_bytes(writer, name.as_bytes())?);
        }
        if self.0.last().is_none_or(|last| last != path) {
            self.0.push(path.to_owned());
        }
        put(writer, self.0.len() as u64)
    }

    pub(super) fn get(&self, reader: &mut impl Read) -> io::Result<PathBuf> {
        let Some(index) = get(reader)?.checked_sub(1) else {
            return Ok(get_text(reader)?.into());
        };
        let index = usize::try_from(index).map_err(io::Error::other)?;
        let name = self.0.get(index).cloned();
        name.ok_or_else(|| io::Error::other("a name is missing"))
    }
}
