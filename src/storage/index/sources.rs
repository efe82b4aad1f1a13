//! The files that records came from, and the folders from which the keys of files lead to them.
//!
//! A file's number is that of the first 56 bits of the BLAKE3 hash of its path, so it is the same in every store, and
//! nobody has to hand out numbers. Two of a million files have the same number with a probability of 1 in 100,000.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codec::u64_at;

/// A file that holds several documents, or the folder of files that are one document: see
/// [`Input::source`](crate::Input::source). Making one hashes the path; clones are cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    pub(crate) number: u64,
    pub(crate) path: Arc<str>,
}

impl SourceFile {
    /// Returns its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the file of this path, which should be absolute.
    pub fn new(path: &str) -> SourceFile {
        let hash = u64_at(blake3::hash(path.as_bytes()).as_bytes(), 0) >> 8;
        SourceFile {
            // 0 stands for no file.
            number: hash.max(1),
            path: path.into(),
        }
    }

    /// Returns the folder of this path, which should be absolute. The key of a document from it is a path in it.
    pub fn folder(path: &str) -> SourceFile {
        let path = path.strip_suffix(FOLDER_END).unwrap_or(path);
        SourceFile::new(&format!("{path}{FOLDER_END}"))
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.path.ends_with(FOLDER_END)
    }
}

/// The end of the path of a folder.
pub(super) const FOLDER_END: char = '/';

/// The files that uncommitted documents came from.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    paths: BTreeMap<u64, Arc<str>>,
    last: u64,
}

impl Sources {
    /// Notes the file of a document, and returns its number.
    pub(crate) fn note(&mut self, file: Option<&SourceFile>) -> u64 {
        let Some(file) = file else { return 0 };
        // Documents come file after file.
        if file.number != self.last {
            self.last = file.number;
            self.paths
                .entry(file.number)
                .or_insert_with(|| file.path.clone());
        }
        file.number
    }

    /// A file that was noted.
    pub(crate) fn get(&self, number: u64) -> Option<SourceFile> {
        let path = self.paths.get(&number)?.clone();
        Some(SourceFile { number, path })
    }

    /// All files that were noted.
    pub(crate) fn all(&self) -> Vec<SourceFile> {
        let file = |(&number, path): (&u64, &Arc<str>)| SourceFile {
            number,
            path: path.clone(),
        };
        self.paths.iter().map(file).collect()
    }

    pub(crate) fn clear(&mut self) {
        *self = Sources::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_noted_once_under_a_number_of_its_own() {
        let [a, b] = ["/a.jsonl", "/b.jsonl"].map(SourceFile::new);
        let mut sources = Sources::default();
        for file in [&a, &a, &b, &a] {
            assert_eq!(sources.note(Some(file)), file.number);
        }
        assert_eq!(sources.note(None), 0);
        assert_eq!(sources.get(b.number).as_ref(), Some(&b));
        assert_eq!(sources.all().len(), 2);
        assert!(a.number != b.number && a.number < 1 << 56);
        sources.clear();
        assert_eq!(sources.note(Some(&a)), a.number);
        assert_eq!(sources.all(), [a]);
    }
}
