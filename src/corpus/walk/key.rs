//! From a file's path to its document's key.

use std::fs;
use std::path::Path;

/// The key of a file's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The path as given, with `/` between its parts and without `.` and empty ones.
    pub text: String,
    /// Whether bytes that are no UTF-8 were replaced.
    pub lossy: bool,
}

impl Key {
    /// The key of `path`.
    pub fn of(path: &Path) -> Key {
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

    /// Other keys that the file at `path` has where it is named by another path: the one from the
    /// root, the one from the current folder, and both without symbolic links.
    pub fn others(path: &Path) -> Vec<String> {
        let here = std::path::absolute("");
        let forms = [
            (std::path::absolute(path), here),
            (fs::canonicalize(path), fs::canonicalize(".")),
        ];
        let mut paths = Vec::new();
        for (path, here) in forms {
            let Ok(path) = path else { continue };
            let below = here
                .ok()
                .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
            paths.extend([Some(path), below].into_iter().flatten());
        }
        let mut keys: Vec<String> = paths.iter().map(|path| Key::of(path).text).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|key| !key.is_empty() && *key != Key::of(path).text);
        keys
    }
}

/// What stands for bytes that are no UTF-8.
pub const REPLACED: char = char::REPLACEMENT_CHARACTER;

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
