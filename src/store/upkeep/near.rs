//! Finds out whether writing to a path would touch a store.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::storage::{enclosing, inside, resolved};
use crate::store::handle::Store;

/// A store, and the position of a path relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Near {
    /// The store's folder.
    pub store: PathBuf,
    /// The position of the path.
    pub nearness: Nearness,
}

/// The position of a path relative to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// It is the store's folder.
    Same,
    /// It is inside the store's folder.
    Inside,
    /// The store's folder is inside it.
    Around,
}

impl Store {
    /// Returns a store that a program would damage by writing or replacing `path`: one at `path`, around it or inside
    /// it.
    ///
    /// Links are followed. `path` need not exist. `stores` are folders in which the caller is about to make stores;
    /// they need not exist either. Every other store is found by its files.
    ///
    /// ```
    /// use dedupdb::{Schema, Store, upkeep::Nearness};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data/store");
    /// let store = Store::create(&path, &Schema::default())?;
    /// let nearness = |path| Store::near(path, &[]).map(|near| near.map(|near| near.nearness));
    /// assert_eq!(nearness(path.join("new/file"))?, Some(Nearness::Inside));
    /// assert_eq!(nearness(folder.path().join("data"))?, Some(Nearness::Around));
    /// assert_eq!(nearness(folder.path().join("file"))?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the system, if a folder cannot be read.
    pub fn near(path: impl AsRef<Path>, stores: &[&Path]) -> Result<Option<Near>> {
        let path = path.as_ref();
        let here = resolved(path)?;
        let near = |store: PathBuf| {
            let nearness = if here == store {
                Nearness::Same
            } else if here.starts_with(&store) {
                Nearness::Inside
            } else if store.starts_with(&here) {
                Nearness::Around
            } else {
                return None;
            };
            Some(Near { store, nearness })
        };
        for store in stores {
            if let Some(found) = near(resolved(store)?) {
                return Ok(Some(found));
            }
        }
        let store = match enclosing(path)? {
            None => inside(path)?,
            found => found,
        };
        Ok(store.and_then(near))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::schema::Schema;

    #[test]
    fn a_store_that_is_to_be_made_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let store = root.join("out/store");
        let nearness = |path: &str| {
            let near = Store::near(root.join(path), &[&store]).unwrap();
            near.map(|near| near.nearness)
        };
        assert_eq!(nearness("out"), Some(Nearness::Around));
        assert_eq!(nearness("out/store"), Some(Nearness::Same));
        assert_eq!(nearness("x/../out/store/a"), Some(Nearness::Inside));
        assert_eq!(nearness("out/stored"), None);
        drop(Store::create(root.join("other"), &Schema::default()).unwrap());
        assert_eq!(nearness("other/a"), Some(Nearness::Inside));
        assert_eq!(nearness("."), Some(Nearness::Around));
    }
}
