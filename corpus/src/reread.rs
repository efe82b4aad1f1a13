//! Reads the texts of stored documents again.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::{Error, Key, Options, Repeats, Source, SourcedText, is_pipe, path_of_document};
use dedupdb::overlap::SampledText;
use dedupdb::{Document, Progress, Store};

/// Where the texts of stored documents are read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextFiles<'a> {
    /// How the files are read: as they were when they were added.
    pub(crate) options: &'a Options,
    /// Files and folders with the texts of documents whose keys name no file.
    pub(crate) sources: &'a [PathBuf],
    /// What stops the reading.
    pub(crate) progress: &'a Progress,
}

impl TextFiles<'_> {
    /// Reads the documents of `paths` until `take` breaks. What cannot be read is passed over.
    ///
    /// # Errors
    ///
    /// The system allows no further thread, or the reading is stopped.
    pub(crate) fn read(
        &self,
        paths: &[PathBuf],
        mut take: impl FnMut(&SourcedText) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        let options = self.options.clone().repeats(Repeats::Allow).strict(false);
        for read in options.open(paths.iter().map(Source::path))? {
            self.progress.go_on()?;
            let Ok(document) = read else { continue };
            if take(&document).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the sources that can be read again.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let sources = self.sources.iter();
        sources.filter(|path| !is_pipe(path)).cloned().collect()
    }
}

/// Returns the file that a key names, or the file of the record that it names.
fn file_of(key: &str) -> Option<PathBuf> {
    let whole = path_of(key);
    if whole.is_file() {
        return Some(whole);
    }
    let (file, number) = key.rsplit_once(['#', ':'])?;
    let is_record = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let file = path_of(file);
    (is_record && file.is_file()).then_some(file)
}

fn path_of(key: &str) -> PathBuf {
    Key::path(key).unwrap_or_else(|| PathBuf::from(key))
}

/// Returns the file that the key of a document names, or the file of the record that it names.
pub(crate) fn file_of_key(document: &Document) -> Option<PathBuf> {
    let own = document.modified.and_then(|_| path_of_document(document));
    let own = own.filter(|path| path.is_file());
    own.or_else(|| file_of(&document.key))
}

/// Returns the file of a document, as its key or the store names it.
pub(crate) fn file_of_document(document: &Document) -> Option<PathBuf> {
    let source = document.source.as_deref().map(path_of);
    file_of_key(document).or(source.filter(|path| path.is_file()))
}

/// Returns the paths without duplicates.
pub(crate) fn unique(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut met = HashSet::new();
    paths.filter(|path| met.insert(path.clone())).collect()
}

/// Reads stored texts again: from the files that the store names, and, as long as one is missing, from the files and
/// folders in `from`. A text is known by its hash, so one that has changed since is not taken. The result has a text, or
/// `None`, for each that is wanted.
///
/// # Errors
///
/// Those of the store; the system allows no further thread; [`Error::Store`] with
/// [`Stopped`](dedupdb::Error::Stopped) if the [progress](Store::watched) of the handle is stopped. What cannot be read is
/// missing.
pub fn read_again(
    store: &Store,
    wanted: &[SampledText],
    from: &[PathBuf],
    options: &Options,
) -> Result<Vec<Option<String>>, Error> {
    let mut texts = vec![None; wanted.len()];
    let hashes = wanted.iter().map(|text| text.hash);
    let mut numbers: HashMap<[u8; 32], usize> = hashes.zip(0..).collect();
    let mut files = Vec::new();
    for key in wanted.iter().flat_map(|text| &text.keys) {
        files.extend(store.get(key)?.as_ref().and_then(file_of_document));
    }
    files.extend_from_slice(from);
    let reading = TextFiles {
        options,
        sources: from,
        progress: store.progress(),
    };
    reading.read(&unique(files.into_iter()), |document| {
        if let Some(number) = numbers.remove(&document.hash()) {
            texts[number] = Some(document.text().to_owned());
        }
        if numbers.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(texts)
}
