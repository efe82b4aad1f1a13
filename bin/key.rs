//! From a file's path to its document's key.

use std::path::Path;

/// The key of a file's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The path as given, with `/` between its parts and without `.` and empty ones.
    pub(crate) text: String,
    /// Whether bytes that are no UTF-8 were replaced.
    pub(crate) lossy: bool,
}

impl Key {
    /// The key of `path`.
    pub(crate) fn of(path: &Path) -> Key {
        let text = path.to_string_lossy();
        let lossy = path.to_str().is_none();
        let mut key = String::with_capacity(text.len());
        if text.starts_with(is_separator) {
            key.push('/');
        }
        for part in text.split(is_separator) {
            if part.is_empty() || part == "." {
                continue;
            }
            if !key.is_empty() && !key.ends_with('/') {
                key.push('/');
            }
            key.push_str(part);
        }
        Key { text: key, lossy }
    }
}

/// What stands for bytes that are no UTF-8.
pub(crate) const REPLACED: char = char::REPLACEMENT_CHARACTER;

fn is_separator(c: char) -> bool {
    std::path::is_separator(c)
}

#[cfg(test)]
mod tests {
    use super::Key;
    use std::path::Path;

    #[test]
    fn paths_are_normalized_as_typed() {
        for (path, key) in [
            ("a.txt", "a.txt"),
            ("./a.txt", "a.txt"),
            ("a//b/./c.txt", "a/b/c.txt"),
            ("../a/../b", "../a/../b"),
            ("//x//y", "/x/y"),
            ("/", "/"),
            (".", ""),
            ("a/", "a"),
        ] {
            assert_eq!(Key::of(Path::new(path)).text, key, "{path}");
        }
    }
}
