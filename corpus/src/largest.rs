//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Component, Path};

use crate::{SourcedText, is_compressed};
use dedupdb::sketching::{Shingler, unseen_bytes};
use dedupdb::{Result, Schema};

/// Words that file managers put into the name of a copy: `a copy 2.txt`, `Kopie von a.txt`.
const COPY_WORDS: [&str; 6] = ["copia", "copie", "copy", "cópia", "kopia", "kopie"];

/// Words between such a word and the name of the original.
const OF_WORDS: [&str; 6] = ["da", "de", "di", "do", "of", "von"];

/// Last words of the names that people and programs give to earlier versions: `a_old.txt`, `a.txt.bak`.
const OLD_WORDS: [&str; 7] = ["bak", "backup", "old", "orig", "sav", "save", "swp"];

/// Extensions of files that are not complete yet, or not to be kept.
const PART_ENDS: [&str; 4] = ["crdownload", "part", "temp", "tmp"];

/// Names of folders of such files, or of files that programs put there.
const SIDE_FOLDERS: [&str; 24] = [
    "$recycle.bin",
    "archiv",
    "archive",
    "backup",
    "backups",
    "bak",
    "build",
    "cache",
    "dist",
    "downloads",
    "drafts",
    "lost+found",
    "node_modules",
    "old",
    "recycler",
    "sicherung",
    "site-packages",
    "target",
    "temp",
    "third_party",
    "tmp",
    "trash",
    "vendor",
    "venv",
];

/// Counts what texts say.
#[derive(Debug)]
pub(crate) struct ShingleCounter {
    shingler: Shingler,
    /// The number of tokens of a shingle.
    k: usize,
}

impl ShingleCounter {
    /// Counts the shingles of a schema.
    ///
    /// # Errors
    ///
    /// Those of [`Schema::shingler`].
    pub(crate) fn of(schema: &Schema) -> Result<ShingleCounter> {
        Ok(ShingleCounter {
            shingler: schema.shingler()?,
            k: schema.shingling().k().into(),
        })
    }

    /// Counts the distinct shingles, without those that only join two passages which the text had before, and looks whether
    /// each comes twice: a text that was pasted twice says no more. A text that a store refuses says nothing.
    pub(crate) fn count(&self, text: &str) -> Content {
        let shingles = self.shingler.in_order(text).unwrap_or_default();
        let mut met = HashSet::with_capacity(shingles.len());
        let (mut count, mut run) = (0, 0_usize);
        for shingle in &shingles {
            if met.insert(shingle) {
                run += 1;
            } else {
                // As many as a shingle has words, but one, reach into the passage that comes again.
                count += std::mem::take(&mut run).saturating_sub(self.k - 1);
            }
        }
        count += run;
        (Reverse(count as u64), shingles.len() >= 2 * count.max(1))
    }
}

/// What a text says: the number of distinct shingles, and whether it says it at least twice. The lesser one is worth
/// keeping.
pub(crate) type Content = (Reverse<u64>, bool);

/// Of two documents, the one with the lesser rank is worth keeping: whether it is garbled, what it says, whether
/// its name tells a copy, the length of its text, and the lengths of its name and path.
pub(crate) type KeepRank = (bool, Content, bool, Reverse<u64>, [usize; 2]);

/// Returns what sorts the document to keep first: one that is not garbled, then the one that says most, by its number of
/// distinct shingles; then one that is neither hidden nor by its name a copy or of a program, then the one with the longer
/// text, then the shorter name, then the shorter path. What nobody sees makes no text longer.
pub(crate) fn rank_of(document: &SourcedText, content: Content) -> KeepRank {
    let path = (document.record.is_none()).then_some(Path::new(&document.key));
    rank_of_text(document.text(), content, path)
}

/// Returns the same for a text, which may be that of a file.
pub(crate) fn rank_of_text(text: &str, content: Content, path: Option<&Path>) -> KeepRank {
    // White space is seen, except that of the line ends of Windows.
    let (is_garbled, length) = if text.is_ascii() {
        (false, text.bytes().filter(|&byte| byte != b'\r').count())
    } else {
        let blanks = text.chars().filter(|&c| c.is_whitespace() && c != '\r');
        let seen = text.len().saturating_sub(unseen_bytes(text));
        (is_garbled(text), seen + blanks.count())
    };
    let (_, _, aside, _, lengths) = stored_rank(0, 0, path);
    let length = Reverse(length as u64);
    (is_garbled, content, aside, length, lengths)
}

/// Returns the same without the text. `path` is that of a file that is one document.
pub(crate) fn stored_rank(shingles: u64, bytes: u64, path: Option<&Path>) -> KeepRank {
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    let is_aside = path.is_some_and(is_set_aside);
    (
        false,
        (Reverse(shingles), false),
        is_aside,
        Reverse(bytes),
        lengths,
    )
}

/// Whether a text has characters in place of bytes that could not be decoded, or UTF-8 that was read as Latin-1 or
/// Windows-1252, such as `Ã¼` for `ü` and `â€™` for `’`.
fn is_garbled(text: &str) -> bool {
    let is_pair = |it: &[u8]| {
        matches!(
            it,
            [0xc3, 0x82 | 0x83, 0xc2 | 0xc5 | 0xe2] | [0xc3, 0xa2, 0xe2]
        )
    };
    text.contains(char::REPLACEMENT_CHARACTER) || text.as_bytes().windows(3).any(is_pair)
}

/// Whether the name of the file or of one of its folders says that it is hidden, a copy, or not a person's: trash, a
/// backup, a library, what a build made. A compressed file is one, too.
fn is_set_aside(path: &Path) -> bool {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let file = names.next_back();
    let is_aside = file.is_some_and(|name| {
        let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
        let is_rotated = stem.contains('.') && end.parse::<u32>().is_ok();
        let is_old = is_one(end, &OLD_WORDS) || ends_with_one(stem, &OLD_WORDS);
        is_hidden(&name)
            || is_copy(stem)
            || is_old
            || is_rotated
            || is_one(end, &PART_ENDS)
            || is_compressed(path)
    });
    // An old town is no old folder.
    let is_side = |name: &str| {
        let numberless = name.trim_end_matches(|c: char| !c.is_alphabetic());
        [name, numberless]
            .iter()
            .any(|it| is_one(it, &SIDE_FOLDERS) || is_one(it, &OLD_WORDS))
    };
    is_aside || names.any(|name| is_hidden(&name) || is_copy(&name) || is_side(&name))
}

fn is_one(name: &str, known: &[&str]) -> bool {
    known.iter().any(|it| name.eq_ignore_ascii_case(it))
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || name.starts_with('#') && name.ends_with('#')
}

/// Whether a file manager named a copy: the name ends in a word such as `copy`, maybe with a number behind it, or begins
/// with `Copy of`.
fn is_copy(name: &str) -> bool {
    let mut words = words(name);
    let [first, second] = [(); 2].map(|()| words.next().unwrap_or_default());
    ends_with_one(name, &COPY_WORDS) || is_one(first, &COPY_WORDS) && is_one(second, &OF_WORDS)
}

/// Whether the last word of a name that is no number is one of these.
fn ends_with_one(name: &str, known: &[&str]) -> bool {
    let is_number = |word: &&str| word.bytes().all(|it| it.is_ascii_digit());
    let last = words(name).rev().find(|word| !is_number(word));
    last.is_some_and(|last| is_one(last, known))
}

fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_are_set_aside() {
        for aside in [
            "report.bak",
            "report.txt~",
            "#report#",
            "a/Old/report.txt",
            ".trash/a.txt",
            "report.ORIG",
            "bak.txt",
            "p.bak.txt",
            "Report Kopie.txt",
            "copy.txt",
            "tale.txt.1",
            "a.txt.crdownload",
            "report.txt.gz",
            "node_modules/u/util.js",
            "$RECYCLE.BIN/a.txt",
            "Backup 2022/a.txt",
            "backup/a.txt",
            "notes - Copy/a.txt",
            "thesis copy 2.txt",
            "thesis - Copy (2).txt",
            "thesis (3rd copy).txt",
            "Kopie von thesis.txt",
            "Copie de thesis.txt",
            "thesis_old.txt",
        ] {
            assert!(is_set_aside(Path::new(aside)), "{aside}");
        }
        for other in [
            "report.txt",
            "older/report.txt",
            "photocopying.txt",
            "chapter.1",
            "tmp.txt",
            "Old Testament.txt",
            "Old Testament/genesis.txt",
            "old town/walk.txt",
            "backup plans/a.txt",
            "copy editing.txt",
            "save the date.txt",
            "thesis (1).txt",
            "a#b",
            "./report.txt",
            "../report.txt",
        ] {
            assert!(!is_set_aside(Path::new(other)), "{other}");
        }
    }

    #[test]
    fn text_that_was_decoded_wrongly_is_garbled() {
        for garbled in ["fÃ¼r", "StraÃŸe", "Ã„rger", "itâ€™s", "a\u{fffd}b", "5 Â°C"]
        {
            assert!(is_garbled(garbled), "{garbled}");
        }
        for other in ["für", "IRMÃ", "NÃO", "Âge", "pâte", "it’s", "5 °C"] {
            assert!(!is_garbled(other), "{other}");
        }
    }
}
