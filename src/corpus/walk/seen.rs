//! Which files a run has met already.

use std::collections::HashSet;

use crate::corpus::walk::key::{Key, REPLACED};

/// Tells when a file is met a second time, without keeping the name of every file.
///
/// Two files have the same key only if one is reached from two arguments, which the keys of the
/// arguments tell, or if bytes of their names were replaced.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Keys of the arguments that were gone through and are not reached by links.
    arguments: HashSet<String>,
    /// Keys with a replacement character in them.
    replaced: HashSet<String>,
}

/// Why a file counts as met already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// An earlier argument led to it.
    SameFile,
    /// Another file has its key.
    SameKey,
}

impl Seen {
    /// Takes note that everything below an argument was met.
    pub(crate) fn finish(&mut self, argument: Key) {
        self.arguments.insert(argument.text);
    }

    /// Takes note of a file, unless it was met already. What is reached `by_link` was not met with the
    /// folder that the link is in.
    pub(crate) fn again(&mut self, key: &Key, by_link: bool) -> Option<Again> {
        let key = key.text.as_str();
        if !by_link && !self.arguments.is_empty() && self.is_below_argument(key) {
            return Some(Again::SameFile);
        }
        let is_new = !key.contains(REPLACED) || self.replaced.insert(key.to_owned());
        (!is_new).then_some(Again::SameKey)
    }

    fn is_below_argument(&self, key: &str) -> bool {
        // The key of `.` is empty; it has every relative key below it, and `/` every absolute one.
        let root = if key.starts_with('/') { "/" } else { "" };
        let ends = key.match_indices('/').map(|(end, _)| end);
        let parents = ends.filter(|&end| end > 0).map(|end| &key[..end]);
        // `..` leads out of the folder named before it, so only what is below `..` is compared.
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
    use super::{Again, Seen};
    use crate::corpus::walk::key::Key;

    fn key(text: &str) -> Key {
        Key {
            text: text.to_owned(),
            lossy: false,
        }
    }

    #[test]
    fn a_file_below_an_earlier_argument_is_met_again() {
        let mut seen = Seen::default();
        assert_eq!(seen.again(&key("a/b.txt"), false), None);
        seen.finish(key("a"));
        assert_eq!(seen.again(&key("a/b.txt"), false), Some(Again::SameFile));
        assert_eq!(seen.again(&key("a/../b.txt"), false), None);
        assert_eq!(seen.again(&key("ab.txt"), false), None);
        assert_eq!(seen.again(&key("a/link/b.txt"), true), None);
        seen.finish(key(""));
        assert_eq!(seen.again(&key("ab.txt"), false), Some(Again::SameFile));
        assert_eq!(seen.again(&key("../ab.txt"), false), None);
        assert_eq!(seen.again(&key("/ab.txt"), false), None);
        seen.finish(key("/"));
        assert_eq!(seen.again(&key("/ab.txt"), false), Some(Again::SameFile));
    }

    #[test]
    fn replaced_names_can_meet() {
        let mut seen = Seen::default();
        assert_eq!(seen.again(&key("x\u{fffd}"), false), None);
        assert_eq!(seen.again(&key("y\u{fffd}"), false), None);
        assert_eq!(seen.again(&key("x\u{fffd}"), false), Some(Again::SameKey));
    }
}
