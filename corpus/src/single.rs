//! One document, read by itself.

use crate::item::SourcedText;
use crate::options::Options;
use crate::presence::path_of_document;
use crate::skipped::{Reason, Skipped};
use crate::source::Source;
use dedupdb::Document;

impl Options {
    /// Reads a file or a stream that holds one document.
    ///
    /// ```
    /// use dedupdb_corpus::Options;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("page.html");
    /// std::fs::write(&path, "<p>The night tram</p>")?;
    /// assert_eq!(Options::new().document(&path)?.text().trim(), "The night tram");
    /// let missing = Options::new().document(folder.path().join("other.html"));
    /// assert!(missing.is_err_and(|skipped| skipped.to_string().contains("other.html")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The reason why there is no document, or that there are several.
    pub fn document(&self, source: impl Into<Source>) -> Result<SourcedText, Skipped> {
        let source = source.into();
        let place = source.name().display().to_string();
        let fault = |reason, detail: String| Skipped::new(reason, place.clone(), detail);
        let corpus = self.open([source]);
        let mut corpus = corpus.map_err(|error| fault(Reason::Stopped, error.to_string()))?;
        let only = match corpus.next() {
            Some(Err(skipped)) if skipped.reason != Reason::NoRecords => return Err(skipped),
            Some(Ok(only)) => only,
            _ => return Err(fault(Reason::NotFound, "it holds no document".to_owned())),
        };
        match corpus.next() {
            None => Ok(only),
            Some(Ok(_)) => Err(fault(
                Reason::BadRecord,
                "it holds several documents; name one file, or add it to a store and name a key"
                    .to_owned(),
            )),
            Some(Err(skipped)) => Err(skipped),
        }
    }

    /// Reads the text of a stored document again, from the file that its key names.
    ///
    /// # Errors
    ///
    /// The key does not name a file that is one document, the file cannot be read, or its text has changed.
    pub fn text_of(&self, document: &Document) -> Result<String, Skipped> {
        let fault =
            |reason, detail: &str| Skipped::new(reason, document.key.clone(), detail.to_owned());
        let file = path_of_document(document);
        let file = file.filter(|file| file.is_file() && self.format_at(file).is_document());
        let Some(file) = file else {
            return Err(fault(Reason::NotFound, "its key names no file here"));
        };
        let found = self.document(file)?;
        if found.hash() == document.hash {
            return Ok(found.into_text());
        }
        let changed = "its file has another text now, or is read in another way";
        Err(fault(Reason::BadText, changed))
    }
}
