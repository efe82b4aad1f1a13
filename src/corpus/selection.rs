//! Which of the stored documents are meant.

use std::time::SystemTime;

use super::error::Error;
use super::presence::file_exists;
use crate::find::Documents;
use crate::{Document, Store};

/// A choice among the documents of a store: all of them, less what each condition leaves out.
///
/// ```
/// use dedupdb::corpus::Selection;
/// use dedupdb::{Schema, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open_or_create(folder.path().join("store"), &Schema::default())?;
/// let mut writer = store.writer()?;
/// writer.add("old/1", "The night tram runs again")?;
/// writer.add("new/1", "from Friday on")?;
/// writer.commit()?;
/// for document in Selection::new().prefix("old/").documents(&store)? {
///     writer.remove(&document?.key)?;
/// }
/// writer.commit()?;
/// assert_eq!(store.stats()?.documents, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selection {
    prefix: String,
    missing: bool,
    before: Option<SystemTime>,
}

impl Selection {
    /// All documents.
    pub fn new() -> Selection {
        Selection::default()
    }

    /// Only documents whose keys begin so.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Selection {
        self.prefix = prefix.into();
        self
    }

    /// Only documents whose files [are gone](file_exists), looked for from the current folder.
    #[must_use]
    pub fn missing(mut self, missing: bool) -> Selection {
        self.missing = missing;
        self
    }

    /// Only documents that were added before this time.
    #[must_use]
    pub fn added_before(mut self, time: SystemTime) -> Selection {
        self.before = Some(time);
        self
    }

    /// The documents, in the order of their keys. The store's progress counts those that are looked at.
    ///
    /// # Errors
    ///
    /// [`Error::NoFileFound`] if those whose files are gone are asked for and no file at all is found: most likely
    /// this is another folder than the one that they were added from. Those of the store.
    pub fn documents<'s>(&self, store: &'s Store) -> Result<Selected<'s>, Error> {
        if self.missing {
            self.check_place(store)?;
        }
        let all = match &*self.prefix {
            "" => store.stats()?.documents,
            // How many they are is not known.
            _ => 0,
        };
        store.progress().begin(all);
        Ok(Selected {
            store,
            documents: store.documents_with_prefix(&self.prefix)?,
            choice: self.clone(),
        })
    }

    fn check_place(&self, store: &Store) -> Result<(), Error> {
        let mut files = 0;
        for document in store.documents_with_prefix(&self.prefix)? {
            match file_exists(&document?) {
                Some(true) => return Ok(()),
                Some(false) => files += 1,
                None => {}
            }
        }
        match files {
            0 => Ok(()),
            files => Err(Error::NoFileFound { files }),
        }
    }

    fn is_met_by(&self, document: &Document) -> bool {
        let is_old = self.before.is_none_or(|before| document.added < before);
        is_old && (!self.missing || file_exists(document) == Some(false))
    }
}

/// The documents that were chosen.
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
            self.store.progress().step(1);
            if self.choice.is_met_by(&document) {
                return Some(Ok(document));
            }
        }
    }
}
