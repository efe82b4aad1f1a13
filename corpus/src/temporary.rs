//! Stores that are deleted after use.

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use tempfile::{Builder, TempDir};

use dedupdb::{Error, Result};
use dedupdb::{Options, Schema, Store};

/// A store in its own folder, which is deleted when this value is dropped. It serves for a comparison whose index is
/// not kept, or to try a call.
///
/// It dereferences to the [`Store`] that it holds. A clone of that store fails with [`Error::Moved`] if it writes after
/// the folder has been deleted.
///
/// ```
/// use dedupdb_corpus::{Add, TemporaryStore};
/// use dedupdb::{Options, Schema, groups::PairQuery};
///
/// # let folder = tempfile::tempdir()?;
/// # let lines = folder.path().join("pages.jsonl");
/// # std::fs::write(&lines, "{\"id\": 1, \"text\": \"one day\"}\n{\"id\": 2, \"text\": \"One day!\"}\n")?;
/// let store = TemporaryStore::create(&Options::new(), folder.path(), &Schema::default())?;
/// Add::new([&lines]).run(&store, |_| {})?;
/// assert_eq!(store.pairs(PairQuery::new())?.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the store is deleted when it is dropped"]
pub struct TemporaryStore {
    /// Closed before its folder is deleted.
    store: Store,
    folder: TempDir,
}

impl TemporaryStore {
    /// Creates an empty store in a new folder in `place`, such as [`std::env::temp_dir`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::create`], and of the system.
    pub fn create(options: &Options, place: &Path, schema: &Schema) -> Result<TemporaryStore> {
        let folder = folder(place)?;
        let options = options.clone().fleeting();
        let store = options.create(folder.path().join("store"), schema)?;
        Ok(TemporaryStore { store, folder })
    }

    /// Copies the store in the folder `source`, as of its last commit, into a new folder in `place`. This process only
    /// needs read access to the store.
    ///
    /// # Errors
    ///
    /// Those of [`Options::open`] and [`Store::backup`], and of the system.
    pub fn copy(options: &Options, place: &Path, source: &Path) -> Result<TemporaryStore> {
        let folder = folder(place)?;
        let copy = folder.path().join("store");
        let readable = options.clone().read_only(true).open(source)?;
        readable.backup(&copy)?;
        own(&copy).map_err(|error| of(&copy, error))?;
        Ok(TemporaryStore {
            store: options.clone().fleeting().open(copy)?,
            folder,
        })
    }

    /// Returns the folder that is deleted with it, which contains that of the store.
    pub fn place(&self) -> &Path {
        self.folder.path()
    }
}

impl Deref for TemporaryStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Creates a store in `folder` that a run compares texts with and then drops. It is not asked for passages.
pub(crate) fn fleeting(
    options: &Options,
    folder: impl AsRef<Path>,
    schema: &Schema,
) -> Result<Store> {
    let schema = schema.to_builder().passage(0).build()?;
    options.clone().fleeting().create(folder, &schema)
}

fn folder(place: &Path) -> Result<TempDir> {
    temporary_folder(place).map_err(|error| of(place, error))
}

/// Creates a folder that is deleted after use. It may hold texts, so only the user may look into it.
pub(crate) fn temporary_folder(place: &Path) -> io::Result<TempDir> {
    let mut builder = Builder::new();
    builder.prefix("dedupdb-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(place)
}

fn of(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source: Arc::new(source),
    }
}

/// Lets the user write to a copy of a store that is read-only to them.
#[cfg(unix)]
fn own(copy: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(copy, fs::Permissions::from_mode(0o700))?;
    for file in fs::read_dir(copy)? {
        fs::set_permissions(file?.path(), fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

/// On other systems, a copy has the permissions of its folder.
#[cfg(not(unix))]
fn own(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_the_user_looks_into_a_temporary_folder() {
        let made = temporary_folder(&std::env::temp_dir()).unwrap();
        let mode = fs::metadata(made.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
