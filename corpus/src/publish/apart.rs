//! Keeping outputs apart from inputs and stores.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::{Error, Result, WithPath};
use dedupdb::Store;
use dedupdb::upkeep::{Near, Nearness};

/// The context of an error about an output's folder.
pub(super) const NO_FOLDER: &str = "its folder cannot be written to";

/// Replaces the system's message and number for a missing folder by a plain sentence.
fn plain(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "there is no such folder"),
        _ => error,
    }
}

/// Refuses to write `path` over, in or around an input or a store.
///
/// # Errors
///
/// [`Error::Overlaps`] names the input or store and what to do. [`Error::NoName`] and [`Error::Io`] if nothing can be
/// written there.
pub fn check_output(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    check_apart(path, inputs)?;
    check_no_store(path, &[])
}

/// Refuses to write `path` over, into or around an input.
///
/// An input that does not exist has nothing to lose.
pub(crate) fn check_apart(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    parts(path)?;
    let written = resolved(path)?;
    let around: Vec<_> = written.ancestors().map(identity).collect();
    for input in inputs {
        let Ok(read) = fs::canonicalize(input) else {
            continue;
        };
        let input = input.display();
        let found = identity(&read);
        let within = around.iter().position(|at| at.is_some() && *at == found);
        let reason = if written == read || within == Some(0) {
            "this is an input; write to another place".to_owned()
        } else if written.starts_with(&read) || within.is_some() {
            format!("this is inside the input {input}; write to a place outside")
        } else if read.starts_with(&written) {
            format!("the input {input} is inside; write to another place")
        } else {
            continue;
        };
        return Err(Error::overlaps(path, reason));
    }
    Ok(())
}

/// Returns an identity that all names of a file or folder share, also through a mount. `None` if there is none.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path)
        .ok()
        .map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Refuses two outputs if they are the same or one is inside the other.
///
/// # Errors
///
/// Those of [`check_output`].
pub fn check_outputs(path: &Path, other: &Path) -> Result<()> {
    let (one, two) = (resolved(path)?, resolved(other)?);
    if one == two {
        let reason = "two outputs name the same file; write them to two places";
        return Err(Error::overlaps(path, reason));
    }
    for (inner, outer) in [(path, other), (other, path)] {
        if resolved(inner)?.starts_with(resolved(outer)?) {
            let outer = outer.display();
            return Err(Error::overlaps(
                inner,
                format!(
                    "this is inside {outer}, which is another output; write to a place outside"
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses to write `path` over, in or around a store.
///
/// Existing stores are found by their files. `stores` are folders in which stores will be created.
///
/// # Errors
///
/// [`Error::Overlaps`], or [`Error::Store`] if the search for stores fails.
pub fn check_no_store(path: &Path, stores: &[&Path]) -> Result<()> {
    let Some(Near {
        store, nearness, ..
    }) = Store::near(path, stores)?
    else {
        return Ok(());
    };
    let store = store.display();
    let reason = match nearness {
        Nearness::Same => "this is a dedupdb store; write to another place".to_owned(),
        Nearness::Inside => format!("this is inside the store {store}; write to a place outside"),
        Nearness::Around => format!("the store {store} is inside; write to another place"),
    };
    Err(Error::overlaps(path, reason))
}

/// The path without symbolic links. Its last part need not exist.
pub(super) fn resolved(path: &Path) -> Result<PathBuf> {
    if let Ok(resolved) = fs::canonicalize(path) {
        return Ok(resolved);
    }
    let (folder, name) = parts(path)?;
    let folder = fs::canonicalize(folder)
        .map_err(plain)
        .of_doing(path, || NO_FOLDER.to_owned())?;
    Ok(folder.join(name))
}

/// The folder and the name of an output.
///
/// # Errors
///
/// An error if the path does not end in a name, such as `..`.
pub(super) fn parts(path: &Path) -> Result<(&Path, &Path)> {
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return Err(Error::NoName {
            path: path.to_owned(),
        });
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")), Path::new(name)))
}

/// The path without trailing separators: a link with a slash after it would be followed.
pub(crate) fn bare(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Whether two paths lead to the same place.
pub fn is_same(a: &Path, b: &Path) -> bool {
    matches!((resolved(a), resolved(b)), (Ok(a), Ok(b)) if a == b)
}
