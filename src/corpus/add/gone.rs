//! Stored files that no longer exist, in the folders that an add reads.

use std::path::Path;

use crate::Store;
use crate::corpus::error::Error;
use crate::corpus::presence::file_exists;
use crate::corpus::source::Source;
use crate::corpus::walk::key::Key;

/// The folders among the sources of an add to a store that had documents.
#[derive(Debug, Default)]
pub(super) struct Folders {
    /// What the keys of their files begin with. None contains another one.
    prefixes: Vec<String>,
    /// Whether all sources are such folders.
    are_all: bool,
}

impl Folders {
    /// Returns the folders among `sources`. There are none if `store` is empty.
    ///
    /// The current folder is none of them: keys of files in other folders look like its own.
    pub(super) fn of(sources: &[Source], store: &Store) -> Result<Folders, Error> {
        if store.documents()?.next().is_none() {
            return Ok(Folders::default());
        }
        let named = sources.iter().filter_map(Source::named);
        let keys = named.filter(|path| path.is_dir()).map(prefix);
        let mut prefixes: Vec<String> = keys.filter(|prefix| prefix != "/").collect();
        let are_all = prefixes.len() == sources.len();
        prefixes.sort_unstable();
        prefixes.dedup_by(|inner, outer| inner.starts_with(&**outer));
        Ok(Folders { prefixes, are_all })
    }

    /// Returns the number of stored files in the folders that no longer exist, and the key of the first one. `met` is
    /// the number of files of documents that the add met.
    pub(super) fn gone(&self, store: &Store, met: u64) -> Result<(u64, Option<String>), Error> {
        let (mut gone, mut first) = (0, None);
        if self.are_all && self.files(store)? == met {
            return Ok((gone, first));
        }
        self.for_each(store, |document| {
            if file_exists(document) == Some(false) {
                gone += 1;
                first.get_or_insert_with(|| document.key.clone());
            }
        })?;
        Ok((gone, first))
    }

    /// The number of files in the folders that are stored.
    fn files(&self, store: &Store) -> Result<u64, Error> {
        let mut files = 0;
        self.for_each(store, |document| {
            files += u64::from(document.modified.is_some());
        })?;
        Ok(files)
    }

    fn for_each(&self, store: &Store, mut work: impl FnMut(&crate::Document)) -> Result<(), Error> {
        for prefix in &self.prefixes {
            for document in store.documents_with_prefix(prefix)? {
                work(&document?);
            }
        }
        Ok(())
    }
}

/// What the keys of the files in a folder begin with.
fn prefix(folder: &Path) -> String {
    let mut prefix = Key::of(folder).text;
    if !prefix.ends_with('/') {
        prefix.push('/');
    }
    prefix
}
