//! What is written is apart from what is read.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use dedupdb::{Near, Nearness, Store};

use crate::walk::STDIN;

/// Refuses to write `path` over, in or around an input or a store.
pub(crate) fn check_output(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    check_apart(path, inputs)?;
    check_no_store(path, &[])
}

/// Refuses to write `path` over or into an input, or around one. An input that is not there has
/// nothing to lose.
pub(crate) fn check_apart(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    parts(path)?;
    let written = resolved(path)?;
    for input in inputs.iter().filter(|input| *input != Path::new(STDIN)) {
        let Ok(read) = fs::canonicalize(input) else {
            continue;
        };
        let (path, input) = (path.display(), input.display());
        if written == read {
            bail!("{path}: this is an input; write to another place");
        }
        if written.starts_with(&read) {
            bail!("{path}: this is inside the input {input}; write to a place outside");
        }
        if read.starts_with(&written) {
            bail!("{path}: the input {input} is inside; write to another place");
        }
    }
    Ok(())
}

/// Refuses two outputs of which one is the other, or is in it.
pub(crate) fn check_outputs(option: &str, path: &Path, other: &Path) -> Result<()> {
    let (one, two) = (resolved(path)?, resolved(other)?);
    if one == two {
        bail!(
            "{}: {option} and another output name the same file",
            path.display()
        );
    }
    for (inner, outer) in [(path, other), (other, path)] {
        if resolved(inner)?.starts_with(resolved(outer)?) {
            bail!(
                "{}: this is inside {}, which is another output; write to a place outside",
                inner.display(),
                outer.display()
            );
        }
    }
    Ok(())
}

/// Refuses to write `path` over, in or around a store. `stores` are folders that the command is about to
/// make stores in; a store that is there is found by its files.
pub(crate) fn check_no_store(path: &Path, stores: &[&Path]) -> Result<()> {
    let Some(Near { store, nearness }) = Store::near(path, stores)? else {
        return Ok(());
    };
    let (path, store) = (path.display(), store.display());
    match nearness {
        Nearness::Same => bail!("{path}: this is a dedupdb store; write to another place"),
        Nearness::Inside => {
            bail!("{path}: this is inside the store {store}; write to a place outside")
        }
        Nearness::Around => bail!("{path}: the store {store} is inside; write to another place"),
    }
}

/// The path without symbolic links; its last part need not exist.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    if let Ok(resolved) = fs::canonicalize(path) {
        return Ok(resolved);
    }
    let (folder, name) = parts(path)?;
    let folder = fs::canonicalize(folder)
        .with_context(|| format!("{}: its folder cannot be written to", path.display()))?;
    Ok(folder.join(name))
}

/// The folder and the name of what is to be written.
///
/// # Errors
///
/// It has no name of its own, as `..` has none.
pub(crate) fn parts(path: &Path) -> Result<(&Path, &Path)> {
    let Some(Component::Normal(name)) = path.components().next_back() else {
        bail!("{}: this is no name for a file or folder", path.display());
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")), Path::new(name)))
}

/// The path without what says nothing at its end: a link with a slash behind it would be followed.
pub(crate) fn bare(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Whether two paths lead to the same place.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    matches!((resolved(a), resolved(b)), (Ok(a), Ok(b)) if a == b)
}
