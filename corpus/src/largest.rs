//! The order in which similar documents are worth keeping.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Component, Path};

use crate::garbled::garbled_places;
use crate::{SourcedText, is_compressed};
use dedupdb::sketching::{Shingler, seen_characters};
use dedupdb::{Result, Schema};

/// Words that file managers put into the name of a copy: `a copy 2.txt`, `Kopie von a.txt`.
const COPY_WORDS: [&str; 9] = [
    "copia",
    "copie",
    "copy",
    "cópia",
    "duplicate",
    "kopia",
    "kopie",
    "копия",
    "副本",
];

/// Words between such a word and the name of the original.
const OF_WORDS: [&str; 6] = ["da", "de", "di", "do", "of", "von"];

/// Last words of the names that people and programs give to earlier versions: `a_old.txt`, `a.txt.bak`.
const OLD_WORDS: [&str; 7] = ["bak", "backup", "old", "orig", "sav", "save", "swp"];

/// Extensions of files that are not complete yet, or not to be kept.
const PART_ENDS: [&str; 6] = ["crdownload", "download", "part", "partial", "temp", "tmp"];

/// Last words of the names of folders with copies: `Laptop Backup`, `docs_old`.
const BACKUP_WORDS: [&str; 8] = [
    "backup",
    "backups",
    "bak",
    "datensicherung",
    "old",
    "orig",
    "sauvegarde",
    "sicherung",
];

/// Names of folders of what was thrown away, or is thrown away later.
const TRASH_FOLDERS: [&str; 17] = [
    "$recycle.bin",
    ".trash",
    "cestino",
    "corbeille",
    "kosz",
    "deleted items",
    "deleted messages",
    "gelöscht",
    "junk",
    "junk e-mail",
    "papelera",
    "papierkorb",
    "recycled",
    "recycler",
    "spam",
    "trash",
    "корзина",
];

/// Names of folders of copies, or of files that programs put there.
const SIDE_FOLDERS: [&str; 41] = [
    "__macosx",
    "_build",
    "_site",
    "archiv",
    "archive",
    "backup",
    "backups",
    "bak",
    "bower_components",
    "build",
    "cache",
    "copies",
    "descargas",
    "dist",
    "download",
    "downloads",
    "draft",
    "drafts",
    "duplicates",
    "found.000",
    "kopien",
    "lost+found",
    "node_modules",
    "obj",
    "old",
    "out",
    "pobrane",
    "scaricati",
    "sicherung",
    "site-packages",
    "target",
    "temp",
    "third-party",
    "third_party",
    "tmp",
    "téléchargements",
    "vendor",
    "venv",
    "загрузки",
    "下载",
    "ダウンロード",
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
    /// each comes twice: a text that was pasted twice says no more. The last word may be cut off, so it does not count;
    /// nor do words that were decoded wrongly. A text that a store refuses says nothing.
    pub(crate) fn count(&self, text: &str) -> Content {
        let mut shingles = self.shingler.in_order(text).unwrap_or_default();
        if shingles.len() > 1 {
            shingles.pop();
        }
        let all = shingles.len() as u64;
        let garbled = garbled_places(text);
        let shingles = self.decoded(shingles, text, &garbled);
        // Whether a shingle came again.
        let mut met = HashMap::with_capacity(shingles.len());
        // New shingles in a row, and those behind them that came before.
        let (mut run, mut again) = (0, 0);
        let (mut count, mut once) = (0, 0_usize);
        for &shingle in &shingles {
            match met.entry(shingle) {
                Entry::Vacant(new) => {
                    new.insert(false);
                    once += 1;
                    if again > 0 {
                        count += self.said(run, again);
                        (run, again) = (0, 0);
                    }
                    run += 1;
                }
                Entry::Occupied(mut known) => {
                    once -= usize::from(!known.insert(true));
                    again += 1;
                }
            }
        }
        count += self.said(run, again);
        // Those that join both passages come once, and the last one, which did not count.
        let is_twice = once <= self.k && shingles.len() >= 2 * count.max(1);
        let count = count.saturating_sub(is_twice.into()) as u64;
        // Of texts with such words everywhere, the one with more of them.
        let undecoded = if count < all / 10 { all } else { 0 };
        // A text that was cut off where it only repeats itself says as much, in fewer words.
        let length = if is_twice { 0 } else { shingles.len() as u64 };
        (
            Reverse(count),
            is_twice,
            Reverse(undecoded),
            Reverse(length),
            garbled.len(),
        )
    }

    /// The number of new shingles in a row that say something: as many as a shingle has words, but one, may reach into the
    /// passage that comes `again` behind them.
    fn said(&self, run: usize, again: usize) -> usize {
        run.saturating_sub(again.min(self.k - 1))
    }

    /// The shingles, in order, without those that have a word which was decoded wrongly.
    fn decoded(&self, shingles: Vec<u32>, text: &str, garbled: &[usize]) -> Vec<u32> {
        let parts = garbled.iter();
        let garbled: Vec<Range<usize>> = parts
            .map(|&place| part_of_word(text.as_bytes(), place))
            .collect();
        if garbled.is_empty() {
            return shingles;
        }
        let tokens = self.shingler.places(text);
        // How many garbled tokens there are before each.
        let mut sums = Vec::with_capacity(tokens.len() + 1);
        let (mut sum, mut at) = (0_usize, 0);
        sums.push(0);
        for token in &tokens {
            while garbled.get(at).is_some_and(|part| part.end <= token.start) {
                at += 1;
            }
            let touches = |part: &Range<usize>| part.start < token.end;
            sum += usize::from(garbled.get(at).is_some_and(touches));
            sums.push(sum);
        }
        let is_decoded = |first: usize| {
            let last = (first + self.k).min(tokens.len());
            sums.get(first) == sums.get(last)
        };
        let shingles = shingles.into_iter().enumerate();
        let decoded = shingles.filter(|(first, _)| is_decoded(*first));
        decoded.map(|(_, shingle)| shingle).collect()
    }
}

/// What a text says: the number of distinct shingles, whether it says all of it at least twice, the number of all
/// shingles if nearly all have words that were decoded wrongly, and the number of the others, with those that come again,
/// unless it says all of it twice, and the number of places that were decoded wrongly. The lesser one is worth keeping.
pub(crate) type Content = (Reverse<u64>, bool, Reverse<u64>, Reverse<u64>, usize);

/// Of two documents, the one with the lesser rank is worth keeping: what it says, how many names tell that it is a copy, the
/// length of its text, and the lengths of its name and path.
pub(crate) type KeepRank = (Content, usize, Reverse<u64>, [usize; 2]);

/// Returns what sorts the document to keep first: the one that says most, by its number of distinct shingles; then the
/// one with more shingles, counted as often as they come; then the one with fewer names, of the file and its folders,
/// that are hidden or tell a copy or a program; then the one with the longer text, then the shorter name, then the
/// shorter path. A record, which is not a file of its own, counts as having one such name. Invisible characters do not
/// count as length.
pub(crate) fn rank_of(document: &SourcedText, content: Content) -> KeepRank {
    let is_record = document.record.is_some();
    rank_of_text(
        document.text(),
        content,
        Some((&document.source, is_record)),
    )
}

/// Returns the same for a text, which may be that of a file, or of a record in it.
pub(crate) fn rank_of_text(text: &str, content: Content, place: Option<(&Path, bool)>) -> KeepRank {
    // Signs that are seen, and not bytes: one sign for two letters is no longer than these. Of white space, only the
    // indentation of some lines by more than others says something, and quotation marks of mail say nothing.
    let (mut indents, mut quotes, mut least, mut lines) = (0, 0, usize::MAX, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let before = line.len() - line.trim_start_matches(['>', ' ', '\t']).len();
        let quoted = line[..before].matches('>').count();
        (indents, quotes) = (indents + before - quoted, quotes + quoted);
        (least, lines) = (least.min(before - quoted), lines + 1);
    }
    let indentation = indents.saturating_sub(least.saturating_mul(lines));
    let length = seen_characters(text).saturating_sub(quotes) + indentation;
    let (_, aside, _, lengths) = stored_rank(0, 0, place);
    (content, aside, Reverse(length as u64), lengths)
}

/// Returns the same without the text.
pub(crate) fn stored_rank(shingles: u64, bytes: u64, place: Option<(&Path, bool)>) -> KeepRank {
    let path = place.and_then(|(path, is_record)| (!is_record).then_some(path));
    let name = path.and_then(Path::file_name);
    let lengths = [name, path.map(Path::as_os_str)].map(|it| it.map_or(0, OsStr::len));
    let aside = place.map_or(0, |(path, is_record)| {
        set_aside(path) + usize::from(is_record)
    });
    (
        (Reverse(shingles), false, Reverse(0), Reverse(0), 0),
        aside,
        Reverse(bytes),
        lengths,
    )
}

/// The bytes at a place that was decoded wrongly, with the one before it and those behind it, in the same word.
fn part_of_word(text: &[u8], place: usize) -> Range<usize> {
    const BEHIND: usize = 12;
    let is_blank = |at: usize| text.get(at).is_none_or(u8::is_ascii_whitespace);
    let start = match place.checked_sub(1) {
        Some(before) if !is_blank(before) => before,
        _ => place,
    };
    let end = (place + 1..place + BEHIND).find(|&at| is_blank(at));
    start..end.unwrap_or(place + BEHIND)
}

/// How many of the names of the file and its folders say that it is hidden, a copy, or not a person's: a backup, a library,
/// what a build made. A compressed file is one, too; trash counts twice.
fn set_aside(path: &Path) -> usize {
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let file = names.next_back();
    let is_aside = file.is_some_and(|name| is_file_aside(&name) || is_compressed(path));
    let folders = names.map(|name| {
        if is_one(&name, &TRASH_FOLDERS) {
            2
        } else {
            usize::from(is_folder_aside(&name))
        }
    });
    usize::from(is_aside) + folders.sum::<usize>()
}

/// Whether the name of a file is that of a hidden file or of a copy.
fn is_file_aside(name: &str) -> bool {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let before = stem.rsplit_once('.').map_or("", |(_, before)| before);
    // A number at the end of a date is not that of a rotated log.
    let is_rotated = before.contains(char::is_alphabetic) && end.parse::<u32>().is_ok();
    let is_old = [end, stem].iter().any(|it| ends_with_one(it, &OLD_WORDS));
    let is_part = is_one(end, &PART_ENDS) || name.contains(".sync-conflict-");
    is_hidden(name) || is_copy(stem) || is_old || is_rotated || is_part
}

/// Whether the name of a folder is that of a hidden folder, of copies, or of a program's files.
fn is_folder_aside(name: &str) -> bool {
    // "old-town" is not a folder of old files.
    let numberless = name.trim_end_matches(|c: char| !c.is_alphabetic());
    let is_side = [name, numberless]
        .iter()
        .any(|it| is_one(it, &SIDE_FOLDERS) || is_one(it, &OLD_WORDS));
    let is_backup = ends_with_one(name, &BACKUP_WORDS) || begins_with_one_of(name, &BACKUP_WORDS);
    is_side || is_hidden(name) || is_copy(name) || is_backup
}

fn is_one(name: &str, known: &[&str]) -> bool {
    let lower = name.to_lowercase();
    known.contains(&&*lower)
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || name.starts_with('#') && name.ends_with('#')
}

/// Whether a file manager named a copy: the name ends in a word such as `copy`, maybe with a number behind it, or in a
/// small number in brackets, or begins with `Copy of` or `Copy (2) of`.
fn is_copy(name: &str) -> bool {
    let is_numbered = [('(', ')'), ('[', ']')].iter().any(|&(open, close)| {
        let number = name.strip_suffix(close).and_then(|it| it.rsplit_once(open));
        number.is_some_and(|(name, number)| {
            let is_small = (1..=2).contains(&number.len());
            is_small && number.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty()
        })
    });
    is_numbered || ends_with_one(name, &COPY_WORDS) || begins_with_one_of(name, &COPY_WORDS)
}

/// Whether a name begins with one of these words, maybe a number, and a word such as `of`.
fn begins_with_one_of(name: &str, known: &[&str]) -> bool {
    let mut words = words(name);
    let first = words.next().unwrap_or_default();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let second = words.find(|word| !is_number(word)).unwrap_or_default();
    is_one(first, known) && is_one(second, &OF_WORDS)
}

/// Whether the last word of a name is one of these, maybe with a number behind it.
fn ends_with_one(name: &str, known: &[&str]) -> bool {
    let numberless = |word: &'_ str| word.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    let mut words = words(name).rev().map(|word| &word[..numberless(word)]);
    let last = words.find(|word| !word.is_empty());
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
            "report.ORIG",
            "bak.txt",
            "p.bak.txt",
            "Report Kopie.txt",
            "copy.txt",
            "tale.txt.1",
            "a.txt.crdownload",
            "report.txt.gz",
            "node_modules/u/util.js",
            "Backup 2022/a.txt",
            "backup/a.txt",
            "notes - Copy/a.txt",
            "thesis copy 2.txt",
            "thesis - Copy (2).txt",
            "thesis (3rd copy).txt",
            "Kopie von thesis.txt",
            "Copie de thesis.txt",
            "thesis_old.txt",
            "CÓPIA de thesis.txt",
            "kopie2.txt",
            "Laptop Backup/a.txt",
            "Téléchargements/a.txt",
            "thesis (1).txt",
            "thesis(12).txt",
            "thesis [2].txt",
            "Docs (1)/a.txt",
            "Copy (2) of thesis.txt",
            "thesis duplicate.txt",
            "thesis 副本.txt",
            "a.txt_bak",
            "a.txt.bak1",
            "a.txt.partial",
            "a.sync-conflict-20240101-120000-ABC.txt",
            "Backup of laptop/a.txt",
            "Download/a.txt",
            "__MACOSX/a.txt",
            "Windows.old/a.txt",
            "Datensicherung 2024/a.txt",
            "found.000/a.txt",
            "draft/a.txt",
            "Duplicates/a.txt",
        ] {
            assert_eq!(set_aside(Path::new(aside)), 1, "{aside}");
        }
    }

    #[test]
    fn names_of_trash_count_twice_and_others_not() {
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
            "thesis (2024).txt",
            "(1).txt",
            "minutes 12.03.2024",
            "a#b",
            "./report.txt",
            "../report.txt",
        ] {
            assert_eq!(set_aside(Path::new(other)), 0, "{other}");
        }
        for trash in [
            ".trash/a.txt",
            "$RECYCLE.BIN/a.txt",
            "old/backup/a.txt",
            "Spam/a.eml",
            "Junk E-mail/a.eml",
            "Junk/a.eml",
            "Deleted Messages/a.eml",
        ] {
            assert_eq!(set_aside(Path::new(trash)), 2, "{trash}");
        }
    }

    #[test]
    fn folders_that_end_in_a_word_for_earlier_versions_are_set_aside() {
        for aside in [
            "docs_old",
            "docs-old",
            "docs.bak",
            "docs OLD 2",
            "notes.orig",
        ] {
            assert_eq!(set_aside(&Path::new(aside).join("a.txt")), 1, "{aside}");
        }
        for other in ["threshold", "old-town", "docs"] {
            assert_eq!(set_aside(&Path::new(other).join("a.txt")), 0, "{other}");
        }
    }

    #[test]
    fn what_is_cut_off_says_less_and_what_is_repeated_says_no_more() {
        let counter = ShingleCounter::of(&Schema::default()).unwrap();
        let words = |name: &str, count: usize| {
            let words = (0..count).map(|word| format!("{name}{word} "));
            words.collect::<String>()
        };
        let (verse, refrain) = (words("verse", 60), words("refrain", 30));
        let song = format!("{verse}{refrain}{refrain}{refrain}");
        let rank = |text: &str| rank_of_text(text, counter.count(text), None);
        for share in [40, 50, 70, 80, 90, 99] {
            let cut = &song[..song.len() * share / 100];
            assert!(rank(&song) < rank(cut), "{share}");
        }
        let twice = format!("{verse}{verse}");
        assert!(rank(&verse) < rank(&twice));
        let garbled = verse.replacen("verse7 ", "verse\u{fffd} ", 1);
        assert!(rank(&verse) < rank(&garbled));
        assert!(rank(&garbled) < rank(&verse[..verse.len() / 2]));
        let named = |text: &str, name| {
            rank_of_text(text, counter.count(text), Some((Path::new(name), false)))
        };
        for share in [70, 80, 90, 99] {
            let cut = &song[..song.len() * share / 100];
            assert!(named(&song, "song (1).bak") < named(cut, "song"), "{share}");
        }
        let with_garbled = format!("{verse}{refrain}{}", refrain.replace("n7 ", "n\u{fffd}7 "));
        let clean = format!("{verse}{refrain}{refrain}");
        assert!(named(&clean, "song (1).bak") < named(&with_garbled, "song"));
        // The name decides about the same words, and about how often a text was pasted.
        for copy in [
            song.replace(' ', "\r\n"),
            song.replace(' ', "   "),
            format!("\u{feff}{song}"),
            format!("{song}\n\n-- \n   \n"),
            song.replace("verse", "\n> verse"),
        ] {
            assert!(
                named(&song, "song") < named(&copy, "song (1).bak"),
                "{copy}"
            );
        }
        let often = verse.repeat(3);
        assert!(named(&twice, "song") < named(&often, "song (1).bak"));
        // What is added counts at least nothing, whatever it is.
        for more in [
            "see https://example.org/index.php?id=12 and https://example.org/index.php?id=13",
            "Smith &amp; Sons and Jones &amp; Co. sent it",
            "proxy=\nuser=anna\npassword=Sesame17",
            "let x=a?b:c; let y=d?e:f;",
            "as verse1 verse2 verse3 verse4 verse5 says",
            r#""M\u00fcller", "J\u00e4ger""#,
        ] {
            let whole = format!("{verse}and then it goes on like that, {more}\n");
            let cut = format!("{verse}and then it goes on like that,\n");
            assert!(rank(&whole) < rank(&cut), "{more}");
        }
        let dense: Vec<String> = (0..60).map(|word| format!("\\u00fcber{word}")).collect();
        let dense = dense.join(" ");
        assert!(rank(&dense) < rank(&dense[..dense.len() * 9 / 10]));
    }
}
