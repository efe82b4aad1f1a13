//! What a walk would find, before anything is read.

use std::fs;

use crate::formats::format::{Format, is_compressed};
use crate::options::Options;
use crate::source::Source;
use crate::source::converter::Converter;
use crate::source::feed::Feed;
use crate::walk::Walk;

impl Options {
    /// Returns the bytes on disk of all files that would be read, as a measure of the work. Returns `None` if one of
    /// them is converted, compressed, a Parquet file or a stream. Walks all folders.
    pub fn disk_bytes<S: Into<Source>>(&self, sources: impl IntoIterator<Item = S>) -> Option<u64> {
        let sources = sources.into_iter().map(Into::into).collect();
        let mut sum = 0;
        for found in Walk::new(sources, self) {
            let Ok(found) = found else { continue };
            let Feed::File(path) = &found.feed else {
                return None;
            };
            let format = found.format.unwrap_or_else(|| Format::of(path));
            let is_converted = |it: &Converter| it.fits(path);
            if self.converter.as_ref().is_some_and(is_converted)
                || is_compressed(path)
                || format == Format::Parquet
            {
                return None;
            }
            sum += fs::metadata(path).map_or(0, |metadata| metadata.len());
        }
        Some(sum)
    }

    /// Returns whether the [converter](Options::converter) applies to any file of these sources. Walks folders up to
    /// the first such file. Returns false without a converter.
    pub fn converts_any<S: Into<Source>>(&self, sources: impl IntoIterator<Item = S>) -> bool {
        let Some(converter) = &self.converter else {
            return false;
        };
        let sources = sources.into_iter().map(Into::into).collect();
        Walk::new(sources, self)
            .flatten()
            .any(|found| matches!(found.feed, Feed::File(path) if converter.fits(&path)))
    }

    /// Returns whether the [globs](Options::include) leave anything to read of these sources: a file, a stream, or
    /// something that cannot be read. Walks folders until it finds one.
    ///
    /// ```
    /// use dedupdb_corpus::Options;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("notes.txt"), "the night tram")?;
    /// let only = |glob: &str| Ok::<_, dedupdb_corpus::Error>(Options::new().include(glob.parse()?));
    /// assert!(only("*.txt")?.leaves_any([folder.path()]));
    /// assert!(!only("*.md")?.leaves_any([folder.path()]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn leaves_any<S: Into<Source>>(&self, sources: impl IntoIterator<Item = S>) -> bool {
        let sources = sources.into_iter().map(Into::into).collect();
        Walk::new(sources, self).any(|found| found.map_or_else(|it| it.is_failure(), |_| true))
    }
}
