//! Reads the texts of stored documents again.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::{Error, Key, Options, Repeats, Source, SourcedText, is_pipe};
use dedupdb::Document;

/// Where the texts of stored documents are read again.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextFiles<'a> {
    /// How the files are read: as they were when they were added.
    pub(super) options: &'a Options,
    /// Files and folders with the texts of documents whose keys name no file.
    pub(super) sources: &'a [PathBuf],
}

impl TextFiles<'_> {
    /// Reads the documents of `paths` until `take` breaks. What cannot be read is passed over.
    ///
    /// # Errors
    ///
    /// The system allows no further thread, or `go_on` breaks.
    pub(super) fn read(
        &self,
        paths: &[PathBuf],
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
        mut take: impl FnMut(&SourcedText) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        let options = self.options.clone().repeats(Repeats::Allow).strict(false);
        for read in options.open(paths.iter().map(Source::path))? {
            if go_on().is_break() {
                return Err(dedupdb::Error::Stopped.into());
            }
            let Ok(document) = read else { continue };
            if take(&document).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the sources that can be read again.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let sources = self.sources.iter();
        sources.filter(|path| !is_pipe(path)).cloned().collect()
    }
}

/// Returns the file that a key names, or the file of the record that it names.
pub(super) fn file_of(key: &str) -> Option<PathBuf> {
    let path = |key: &str| Key::path(key).unwrap_or_else(|| PathBuf::from(key));
    let whole = path(key);
    if whole.is_file() {
        return Some(whole);
    }
    let (file, number) = key.rsplit_once(['#', ':'])?;
    let is_record = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let file = path(file);
    (is_record && file.is_file()).then_some(file)
}

/// Returns the file of a document, as its key or the store names it.
pub(super) fn file_of_document(document: &Document) -> Option<PathBuf> {
    let source = document.source.as_ref().map(PathBuf::from);
    file_of(&document.key).or(source.filter(|path| path.is_file()))
}

/// Returns the paths without duplicates.
pub(super) fn unique(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut met = HashSet::new();
    paths.filter(|path| met.insert(path.clone())).collect()
}
