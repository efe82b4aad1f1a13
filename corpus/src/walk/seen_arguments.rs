//! The files that a run has already met.

use std::collections::HashSet;

use crate::walk::key::Key;

/// Detects files that are met a second time, without keeping the name of every file.
///
/// A file is met again only if two arguments lead to it. The keys of the arguments reveal that, because two files have
/// two keys.
#[derive(Debug, Default)]
pub(crate) struct SeenArguments {
    /// The keys of the arguments that are finished and do not contain links.
    arguments: HashSet<String>,
}

impl SeenArguments {
    /// Records that everything below an argument has been met.
    pub(crate) fn finish(&mut self, argument: Key) {
        self.arguments.insert(argument.text);
    }

    /// Whether an earlier argument led to a file. A file reached `by_link` was not met with the folder that contains
    /// the link.
    pub(crate) fn again(&self, key: &Key, by_link: bool) -> bool {
        !by_link && !self.arguments.is_empty() && self.is_below_argument(&key.text)
    }

    fn is_below_argument(&self, key: &str) -> bool {
        // The key of `.` is empty. Every relative key is below it, and every absolute one is below `/`.
        let root = if key.starts_with('/') { "/" } else { "" };
        let ends = key.match_indices('/').map(|(end, _)| end);
        let parents = ends.filter(|&end| end > 0).map(|end| &key[..end]);
        // `..` leads out of the folder before it, so only the parts below `..` are compared.
        parents
            .chain([key, root])
            .any(|parent| self.covers(parent, key))
    }

    fn covers(&self, argument: &str, key: &str) -> bool {
        let below = &key[argument.len().min(key.len())..];
        self.arguments.contains(argument) && !below.split('/').any(|part| part == "..")
    }
}

#[cfg(test)]
mod tests {
    use super::SeenArguments;
    use crate::walk::key::Key;

    fn key(text: &str) -> Key {
        Key {
            text: text.to_owned(),
            lossy: false,
        }
    }

    #[test]
    fn a_file_below_an_earlier_argument_is_met_again() {
        let mut seen = SeenArguments::default();
        assert!(!seen.again(&key("a/b.txt"), false));
        seen.finish(key("a"));
        assert!(seen.again(&key("a/b.txt"), false));
        assert!(!seen.again(&key("a/../b.txt"), false));
        assert!(!seen.again(&key("ab.txt"), false));
        assert!(!seen.again(&key("a/link/b.txt"), true));
        seen.finish(key(""));
        assert!(seen.again(&key("ab.txt"), false));
        assert!(!seen.again(&key("../ab.txt"), false));
        assert!(!seen.again(&key("/ab.txt"), false));
        seen.finish(key("/"));
        assert!(seen.again(&key("/ab.txt"), false));
    }
}
