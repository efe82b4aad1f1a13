//! Resolving paths, including those that do not exist yet.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{DiskStep, at, is_absence, parent};
use crate::error::Result;

/// The most links that are followed in a row, like the limit of common systems.
const MOST_LINKS: usize = 40;

/// The path of an existing or future file without links, `.` and `..`, for comparison with other paths.
///
/// On systems whose file names ignore case, the part that does not exist yet is in lower case.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    at(path, DiskStep::Look, || follow(path, MOST_LINKS))
}

fn follow(path: &Path, links: usize) -> io::Result<PathBuf> {
    let path = if path == Path::new("") {
        Path::new(".")
    } else {
        path
    };
    let absence = match fs::canonicalize(path) {
        Err(error) if is_absence(&error) => error,
        found => return found,
    };
    // A link to something that does not exist: what it would create is where it leads.
    if let Ok(target) = fs::read_link(path) {
        let Some(links) = links.checked_sub(1) else {
            let reason = "its links lead to one another";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        };
        return follow(&parent(path).join(target), links);
    }
    let mut components = path.components();
    let last = components.next_back();
    if !matches!(last, Some(Component::Normal(_) | Component::ParentDir)) {
        // The current folder of the process was deleted.
        return Err(absence);
    }
    // The folder exists or is resolved in the same way, and the missing name is appended.
    let mut whole = follow(components.as_path(), links)?;
    match last {
        Some(Component::Normal(name)) if cfg!(any(windows, target_os = "macos")) => {
            whole.push(name.to_string_lossy().to_lowercase());
        }
        Some(Component::Normal(name)) => whole.push(name),
        Some(Component::ParentDir) => {
            whole.pop();
        }
        _ => {}
    }
    Ok(whole)
}
