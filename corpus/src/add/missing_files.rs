//! Stored files that no longer exist, in the folders that an add reads.

use std::path::Path;

use crate::error::Error;
use crate::presence::{file_exists, folder_of_document, is_from};
use crate::read::stored::current_folder;
use crate::source::Source;
use crate::walk::key::Key;
use dedupdb::write::SourceFile;
use dedupdb::{Document, Store};

/// The folders among the sources of an add to a store that had documents.
#[derive(Debug, Default)]
pub(super) struct AddedFolders {
    /// What the keys of their files begin with. None contains another one. Those that only lead upward contain the current
    /// folder; an empty one is that folder.
    prefixes: Vec<String>,
    /// Whether all sources are such folders.
    are_all: bool,
    /// The current folder.
    current: Option<SourceFile>,
}

/// Stored files that no longer exist: their number, and the key of the first one.
#[derive(Debug, Default)]
pub(super) struct MissingFiles {
    pub(super) files: u64,
    pub(super) first: Option<String>,
}

impl AddedFolders {
    /// Returns the folders among `sources`, those that are gone, too. There are none if `store` is empty.
    pub(super) fn of(sources: &[Source], store: &Store) -> Result<AddedFolders, Error> {
        if store.documents()?.next().is_none() {
            return Ok(AddedFolders::default());
        }
        let named = sources.iter().filter_map(Source::named);
        let is_folder = |path: &&Path| path.is_dir() || path.symlink_metadata().is_err();
        let mut prefixes: Vec<String> = named.filter(is_folder).map(prefix).collect();
        let are_all = prefixes.len() == sources.len();
        prefixes.sort_unstable();
        prefixes.dedup_by(|inner, outer| is_in(inner, outer));
        let upward = prefixes.iter().filter(|prefix| is_upward(prefix));
        if let Some(top) = upward.max_by_key(|prefix| prefix.len()).cloned() {
            prefixes.retain(|prefix| *prefix == top || !is_in(prefix, &top));
        }
        Ok(AddedFolders {
            prefixes,
            are_all,
            current: current_folder(),
        })
    }

    /// Returns the stored files in the folders that no longer exist. `met` is the number of files of documents that the
    /// add met.
    ///
    /// The keys of files that were added from another folder, which the store may not know, look like those of the current
    /// one. If most of its files are not found, it is probably another one, and none of them counts.
    pub(super) fn missing(&self, store: &Store, met: u64) -> Result<MissingFiles, Error> {
        let mut all = MissingFiles::default();
        if self.are_all && self.files(store)? == met {
            return Ok(all);
        }
        for prefix in &self.prefixes {
            let (mut gone, mut found) = (MissingFiles::default(), 0);
            self.for_each(prefix, store, |document| match file_exists(document) {
                Some(true) => found += 1,
                Some(false) => {
                    gone.files += 1;
                    gone.first.get_or_insert_with(|| document.key.clone());
                }
                None => {}
            })?;
            if is_upward(prefix) && gone.files > found {
                continue;
            }
            all.files += gone.files;
            all.first = all.first.or(gone.first);
        }
        Ok(all)
    }

    /// The number of files in the folders that are stored.
    fn files(&self, store: &Store) -> Result<u64, Error> {
        let mut files = 0;
        for prefix in &self.prefixes {
            self.for_each(prefix, store, |document| {
                files += u64::from(document.modified.is_some());
            })?;
        }
        Ok(files)
    }

    /// Calls `work` with each document whose key is in a folder.
    fn for_each(
        &self,
        prefix: &str,
        store: &Store,
        mut work: impl FnMut(&Document),
    ) -> Result<(), Error> {
        let start = if is_upward(prefix) { "" } else { prefix };
        for document in store.documents_with_prefix(start)? {
            let document = document?;
            // A path from another folder, which is still there, leads elsewhere.
            let is_here = is_from(&document, self.current.as_ref())
                || folder_of_document(&document).is_none();
            if is_in(&document.key, prefix) && is_here {
                work(&document);
            }
        }
        Ok(())
    }
}

/// Whether a key is in the folder whose keys begin with `prefix`.
fn is_in(key: &str, prefix: &str) -> bool {
    let steps = |path: &str| path.split('/').take_while(|part| *part == "..").count();
    if is_upward(prefix) {
        return !Path::new(key).is_absolute() && steps(key) <= steps(prefix);
    }
    key.starts_with(prefix)
}

/// Whether a prefix is that of the current folder or of one above it.
fn is_upward(prefix: &str) -> bool {
    prefix.split_terminator('/').all(|part| part == "..")
}

/// What the keys of the files in a folder begin with.
fn prefix(folder: &Path) -> String {
    let mut prefix = Key::of(folder).text;
    if !prefix.is_empty() && !prefix.ends_with('/') {
        prefix.push('/');
    }
    prefix
}
