//! A selection of stored documents.

use std::time::{Duration, SystemTime};

use super::error::Error;
use super::presence::file_exists;
use dedupdb::find::Documents;
use dedupdb::{Document, Store, Writer};

/// A day: documents remember the day on which they were last seen.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A selection of a store's documents: those that meet every condition.
///
/// ```
/// use dedupdb_corpus::Selection;
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// writer.add("old/1", "The night tram runs again")?;
/// writer.add("new/1", "from Friday on")?;
/// writer.commit()?;
/// assert_eq!(Selection::new().prefix("old/").remove(&mut writer, 64 << 20)?, 1);
/// writer.commit()?;
/// assert_eq!(store.stats()?.documents, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selection {
    prefix: String,
    missing: bool,
    even_most: bool,
    before: Option<SystemTime>,
    unseen_since: Option<SystemTime>,
}

impl Selection {
    /// Selects all documents.
    pub fn new() -> Selection {
        Selection::default()
    }

    /// Selects only documents whose keys have this prefix.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Selection {
        self.prefix = prefix.into();
        self
    }

    /// Selects only documents whose files [are gone](file_exists), as seen from the current folder.
    #[must_use]
    pub fn missing(mut self, missing: bool) -> Selection {
        self.missing = missing;
        self
    }

    /// Selects missing documents even if most files are missing.
    #[must_use]
    pub fn even_most(mut self, even_most: bool) -> Selection {
        self.even_most = even_most;
        self
    }

    /// Selects only documents that were added before this time.
    #[must_use]
    pub fn added_before(mut self, time: SystemTime) -> Selection {
        self.before = Some(time);
        self
    }

    /// Selects only documents that were [last offered](Document::last_seen) before the day of this time, in UTC.
    #[must_use]
    pub fn unseen_since(mut self, time: SystemTime) -> Selection {
        self.unseen_since = Some(time);
        self
    }

    /// Returns the documents, in the order of their keys. The store's progress counts the documents examined.
    ///
    /// # Errors
    ///
    /// [`Error::FilesNotFound`] if documents with missing files are selected and most files are missing: most likely,
    /// the current folder is not the one from which they were added. Errors of the store.
    pub fn documents<'s>(&self, store: &'s Store) -> Result<Selected<'s>, Error> {
        self.check_place(store)?;
        let all = match &*self.prefix {
            "" => store.stats()?.documents,
            // The number of such documents is not known.
            _ => 0,
        };
        store.progress().begin(all);
        Ok(Selected {
            store,
            documents: store.documents_with_prefix(&self.prefix)?,
            choice: self.clone(),
        })
    }

    /// Removes the documents, and returns their number. Commits like [`Writer::remove_if`].
    ///
    /// # Errors
    ///
    /// Those of [`Selection::documents`] and of [`Writer::remove_if`].
    pub fn remove(&self, writer: &mut Writer, memory: u64) -> Result<u64, Error> {
        self.check_place(writer.store())?;
        Ok(writer.remove_if(&self.prefix, memory, |document| self.is_met_by(document))?)
    }

    fn check_place(&self, store: &Store) -> Result<(), Error> {
        if !self.missing || self.even_most {
            return Ok(());
        }
        let (mut missing, mut files) = (0, 0);
        for document in store.documents_with_prefix(&self.prefix)? {
            if let Some(exists) = file_exists(&document?) {
                files += 1;
                missing += u64::from(!exists);
            }
        }
        if 2 * missing > files {
            return Err(Error::FilesNotFound { missing, files });
        }
        Ok(())
    }

    fn is_met_by(&self, document: &Document) -> bool {
        let is_old = self.before.is_none_or(|before| document.added < before);
        let end = document.last_seen.checked_add(DAY);
        let is_unseen = self
            .unseen_since
            .is_none_or(|time| end.is_some_and(|end| end <= time));
        is_old && is_unseen && (!self.missing || file_exists(document) == Some(false))
    }
}

/// The selected documents.
#[derive(Debug)]
pub struct Selected<'s> {
    store: &'s Store,
    documents: Documents,
    choice: Selection,
}

impl Iterator for Selected<'_> {
    type Item = Result<Document, Error>;

    fn next(&mut self) -> Option<Result<Document, Error>> {
        loop {
            let document = match self.documents.next()? {
                Ok(document) => document,
                Err(error) => return Some(Err(error.into())),
            };
            if let Err(stopped) = self.store.progress().step(1) {
                return Some(Err(stopped.into()));
            }
            if self.choice.is_met_by(&document) {
                return Some(Ok(document));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedupdb::Schema;

    #[test]
    fn a_document_is_unseen_from_the_day_after_it_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
        store.insert_unless_duplicate("key", "a text").unwrap();
        let mut document = store.get("key").unwrap().unwrap();
        let day = |day: u32| SystemTime::UNIX_EPOCH + DAY * day;
        document.last_seen = day(100);
        let is_unseen = |since| Selection::new().unseen_since(since).is_met_by(&document);
        assert_eq!(
            [day(100), day(101), day(102)].map(is_unseen),
            [false, true, true]
        );
    }
}
