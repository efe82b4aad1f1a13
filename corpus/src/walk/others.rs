//! The other names of a file, under which an earlier run may have stored it.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::walk::key::{Key, path_from};

/// The number of folders below one that contains a file from which a key may lead up to it.
const MOST_UPWARD: usize = 4;

/// Finds the other keys of files.
///
/// The system resolves a path part by part, from the root. So a folder is resolved once for all its files, and a folder
/// inside the last one is resolved from there.
#[derive(Clone, Debug)]
pub(crate) struct OtherKeys {
    /// The current folder, as named and resolved.
    current: [Option<PathBuf>; 2],
    /// The last folder, as named and resolved.
    folder: Option<(PathBuf, PathBuf)>,
}

impl OtherKeys {
    /// Returns a finder for paths from the current folder or from the root.
    pub(crate) fn new() -> OtherKeys {
        OtherKeys {
            current: [absolute("."), fs::canonicalize(".")].map(Result::ok),
            folder: None,
        }
    }

    /// Returns the keys of the file at `path` under other paths: the absolute one, the one from the current folder, and
    /// both with symbolic links resolved.
    pub(crate) fn of(&mut self, path: &Path) -> Vec<String> {
        let places = self.places(path);
        let mut keys = Vec::new();
        for (place, here) in places.iter().zip(&self.current) {
            let Some(place) = place else { continue };
            let below = here.as_ref().and_then(|here| place.strip_prefix(here).ok());
            keys.extend(
                [Some(place.as_path()), below]
                    .into_iter()
                    .flatten()
                    .map(text),
            );
        }
        keys.sort_unstable();
        keys.dedup();
        let own = text(path);
        keys.retain(|key| !key.is_empty() && *key != own);
        keys
    }

    /// Returns the keys of the file at `path` as named from each folder above it, the longest first.
    pub(crate) fn above(&mut self, path: &Path) -> Vec<String> {
        let mut keys = Vec::new();
        for place in self.places(path).into_iter().flatten() {
            let mut parts = place.components();
            // Removes the root, then one folder at a time. Each rest is a key.
            while parts.next().is_some() && !parts.as_path().as_os_str().is_empty() {
                keys.push(text(parts.as_path()));
            }
        }
        keys.sort_unstable_by(|a, b| Reverse(a.len()).cmp(&Reverse(b.len())).then(a.cmp(b)));
        keys.dedup();
        let own = text(path);
        keys.retain(|key| *key != own);
        keys
    }

    /// Returns the keys of the file at `path` under other paths, from any folder above it, and from the first few below
    /// each of these.
    pub(crate) fn upward(&mut self, path: &Path) -> Vec<String> {
        let mut keys = self.of(path);
        let mut above = self.above(path);
        keys.extend_from_slice(&above);
        above.push(text(path));
        let up = |count: usize| above.iter().map(move |key| "../".repeat(count) + key);
        keys.extend((1..=MOST_UPWARD).flat_map(up));
        keys
    }

    /// Returns the other keys of the file at `path` as named from each of these folders, with the folder.
    pub(crate) fn counted_from<'a, F: AsRef<Path>>(
        &mut self,
        path: &Path,
        folders: &'a [F],
    ) -> Vec<(String, &'a F)> {
        let mut keys = Vec::new();
        for place in self.places(path).into_iter().flatten() {
            let key = |folder: &F| Key::as_given(&path_from(&place, folder.as_ref())).text;
            keys.extend(folders.iter().map(|folder| (key(folder), folder)));
        }
        let own = text(path);
        keys.retain(|(key, _)| *key != own);
        keys
    }

    /// Returns the place of the file at `path`, as named and resolved.
    pub(crate) fn places(&mut self, path: &Path) -> [Option<PathBuf>; 2] {
        let named = match &self.current[0] {
            Some(here) => absolute(here.join(path)).ok(),
            None => None,
        };
        [named, self.resolved(path)]
    }

    /// Returns the path of the file at `path` without links.
    pub(crate) fn resolved(&mut self, path: &Path) -> Option<PathBuf> {
        let Some(name) = own_name(path) else {
            return fs::canonicalize(path).ok();
        };
        Some(self.resolved_folder(parent(path))?.join(name))
    }

    fn resolved_folder(&mut self, folder: &Path) -> Option<&Path> {
        let last = self
            .folder
            .take()
            .filter(|(last, _)| last == folder || last == parent(folder));
        let resolved = match last {
            Some((last, resolved)) if last == folder => Some(resolved),
            Some((_, resolved)) => own_name(folder).map(|name| resolved.join(name)),
            None => None,
        };
        let resolved = match resolved {
            Some(resolved) => resolved,
            None => fs::canonicalize(folder).ok()?,
        };
        let (_, resolved) = self.folder.insert((folder.to_owned(), resolved));
        Some(resolved)
    }
}

/// Returns the last part of a path if it is not a symbolic link. The resolved path has the same last part.
fn own_name(path: &Path) -> Option<&OsStr> {
    path.file_name().filter(|_| !path.is_symlink())
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn text(path: &Path) -> String {
    Key::of(path).text
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_are_those_of_resolving_each_path_by_itself_in_any_order() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        for file in ["one", "a/two", "a/b/three", "a/b/c/four"] {
            fs::write(root.join(file), file).unwrap();
        }
        symlink("a/b", root.join("near")).unwrap();
        symlink("../one", root.join("a/link")).unwrap();
        let paths = [
            "one",
            "a/two",
            "a/b/three",
            "a/b/c/four",
            "near/three",
            "near/c/four",
            "a/link",
            "a/../a/two",
            "near/../two",
            "a/b/../link",
            "near/c/../three",
            "a//b/./three",
        ];
        let mut names = OtherKeys::new();
        for first in paths {
            for second in paths {
                for path in [first, second].map(|path| root.join(path)) {
                    let resolved = fs::canonicalize(&path).unwrap();
                    let mut expected = [absolute(&path).unwrap(), resolved]
                        .map(|path| text(&path))
                        .to_vec();
                    expected.retain(|key| *key != text(&path));
                    expected.sort_unstable();
                    expected.dedup();
                    assert_eq!(
                        names.of(&path),
                        expected,
                        "{first} then {second}: {}",
                        path.display()
                    );
                }
            }
        }
    }

    #[test]
    fn a_path_from_above_begins_below_each_folder_on_the_way() {
        let root = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(root.path()).unwrap().join("a/b.txt");
        let keys = OtherKeys::new().above(&path);
        let own = text(&path);
        assert_eq!(keys.first().map(String::as_str), own.strip_prefix('/'));
        assert_eq!(keys.last().map(String::as_str), Some("b.txt"));
        assert_eq!(keys.len(), path.components().count() - 1);
        assert!(keys.iter().all(|key| own.ends_with(key) && *key != own));
    }
}
