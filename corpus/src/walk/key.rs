//! The key of a document, from the path of its file.

use std::borrow::Cow;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The key of a file's document.
///
/// In a name that is not UTF-8, each undecodable byte becomes U+FFFD and two hexadecimal digits, `\u{fffd}E9`. So
/// different names have different keys, and [`Key::path`] returns the name. If a name itself has U+FFFD before two
/// such digits, its three bytes are written in the same way.
///
/// ```
/// use dedupdb_corpus::Key;
/// use std::path::Path;
///
/// assert_eq!(Key::of(Path::new("./notes//a.txt")).text, "notes/a.txt");
/// # #[cfg(unix)] {
/// use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
///
/// let name = Path::new(OsStr::from_bytes(b"caf\xe9.txt"));
/// assert_eq!(Key::of(name).text, "caf\u{fffd}E9.txt");
/// assert_eq!(Key::path("caf\u{fffd}E9.txt").as_deref(), Some(name));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The path as given, with `/` between its parts and without `.`, empty parts and detours: `docs/../a.txt` is `a.txt`, as is
    /// `../docs/a.txt` from `docs`.
    pub text: String,
    /// Whether it contains bytes spelled as digits.
    pub lossy: bool,
}

impl Key {
    /// Returns the key of `path`.
    pub fn of(path: &Path) -> Key {
        let direct = direct(path);
        Key::as_given(direct.as_deref().unwrap_or(path))
    }

    /// Returns the key of a path that may lead from another folder than the current one.
    pub(crate) fn as_given(path: &Path) -> Key {
        let text = spelled(path);
        let lossy = matches!(text, Cow::Owned(_));
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

    /// Returns the path of the file of a key. Returns `None` if it is unknown: the key has a U+FFFD without digits, as
    /// the key of a record may, or the system has no such names.
    pub fn path(key: &str) -> Option<PathBuf> {
        if !key.contains(REPLACED) {
            return Some(PathBuf::from(key));
        }
        let mut parts = key.split(REPLACED);
        let mut bytes = parts.next()?.as_bytes().to_vec();
        for part in parts {
            let (digits, rest) = part.split_at_checked(DIGITS)?;
            bytes.push(hexadecimal(digits)?);
            bytes.extend_from_slice(rest.as_bytes());
        }
        named(bytes)
    }
}

/// Returns the path without detours, if it exists and leads upward anywhere.
fn direct(path: &Path) -> Option<PathBuf> {
    let is_up = |part| part == Component::ParentDir;
    let behind = path.components().rev().position(is_up)?;
    let mut parts = path.components();
    let upward = parts.clone().count() - behind;
    let upward: PathBuf = parts.by_ref().take(upward).collect();
    let place = fs::canonicalize(upward).ok()?.join(parts.as_path());
    if path.is_absolute() {
        return Some(place);
    }
    let here = fs::canonicalize(".").ok()?;
    Some(path_from(&place, &here))
}

/// Whether a key may lead to `place` from some folder.
pub(crate) fn may_lead_to(key: &str, place: &Path) -> bool {
    Path::new(key).is_relative() && place.ends_with(key.trim_start_matches("../"))
}

/// Returns the path that leads from a folder to a place, both absolute and without links.
pub(crate) fn path_from(place: &Path, folder: &Path) -> PathBuf {
    let shared = place.components().zip(folder.components());
    let shared = shared.take_while(|(a, b)| a == b).count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    up.chain(place.components().skip(shared)).collect()
}

/// The character that stands for bytes that are not UTF-8.
pub const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// The number of hexadecimal digits of a spelled byte.
const DIGITS: usize = 2;

/// Returns the path as text. Bytes that are not UTF-8 are spelled in digits, and so is a U+FFFD that would be mistaken
/// for such a byte.
fn spelled(path: &Path) -> Cow<'_, str> {
    let is_plain = |text: &&str| {
        let mut after = text.split(REPLACED).skip(1);
        !after.any(|after| after.get(..DIGITS).and_then(hexadecimal).is_some())
    };
    if let Some(text) = path.to_str().filter(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    let spell = |bytes: &[u8], text: &mut String| {
        text.extend(bytes.iter().map(|byte| format!("{REPLACED}{byte:02X}")));
    };
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        let mut parts = chunk.valid().split(REPLACED);
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            spell(REPLACED.to_string().as_bytes(), &mut text);
            text.push_str(part);
        }
        spell(chunk.invalid(), &mut text);
    }
    Cow::Owned(text)
}

/// Returns the byte for two hexadecimal digits in upper case.
fn hexadecimal(digits: &str) -> Option<u8> {
    let is_digit = |c: u8| matches!(c, b'0'..=b'9' | b'A'..=b'F');
    let is_byte = digits.len() == DIGITS && digits.bytes().all(is_digit);
    is_byte.then(|| u8::from_str_radix(digits, 16).ok())?
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn named(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

/// On other systems, names are not bytes.
#[cfg(not(unix))]
fn named(_: Vec<u8>) -> Option<PathBuf> {
    None
}

fn is_separator(c: char) -> bool {
    std::path::is_separator(c)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[cfg(unix)]
    #[test]
    fn two_names_have_two_keys_that_lead_back_to_them() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let names: [&[u8]; 8] = [
            b"a\xff.txt",
            b"a\xfe.txt",
            "a\u{fffd}FF.txt".as_bytes(),
            "a\u{fffd}EF\u{fffd}BF\u{fffd}BDFF.txt".as_bytes(),
            b"a\xef\xbf\xbd\xff.txt",
            b"a\xffFF",
            b"\xc3",
            "\u{e9}".as_bytes(),
        ];
        let mut keys = std::collections::HashSet::new();
        for name in names {
            let path = Path::new(OsStr::from_bytes(name));
            let key = Key::of(path);
            assert_eq!(key.lossy, key.text.contains(REPLACED), "{key:?}");
            assert_eq!(Key::path(&key.text).as_deref(), Some(path), "{key:?}");
            assert!(keys.insert(key.text));
        }
        // Kept as it is: it is indistinguishable from a byte that was replaced elsewhere.
        let plain = Key::of(Path::new("a\u{fffd}.txt"));
        assert_eq!((plain.text.as_str(), plain.lossy), ("a\u{fffd}.txt", false));
        assert_eq!(Key::path(&plain.text), None);
    }
}
