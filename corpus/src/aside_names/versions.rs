//! What the names of a file and its folders say of its version.

use std::path::Path;

use super::{
    COPY_WORDS, JOINED_COPY_WORDS, OF_WORDS, OLD_WORDS, PART_ENDS, begins_with_one_of, conflict,
    ends_with_one, is_copy_of_file, is_folder_aside, is_number, names, words,
};
use crate::is_compressed;

/// The path of a file from where it parts from that of another one.
pub(crate) struct PartedPath<'a> {
    pub(crate) path: &'a Path,
    /// How many of its first names are not below what was named.
    pub(crate) above: usize,
}

/// Whether two files may be versions of one text, by their names and those of their folders: they have the same numbers, the
/// same words, and the same extension, and lie in folders of the same names or one in more folders above these. Other numbers
/// tell versions, other words what a text is for, other folders whose it is, and other extensions files of other uses. A copy may
/// have a number, words and an extension of its own that tell it, and folders of copies any names and other numbers than those
/// of the originals, or none.
pub(crate) fn is_of_one_text(file: &PartedPath<'_>, other: &PartedPath<'_>) -> bool {
    let [own, others] = [file, other].map(VersionSigns::of);
    own.fit(&others)
}

/// What the names of a file and its folders say of its version.
#[derive(Default)]
struct VersionSigns {
    /// The numbers that only tell copies apart.
    marks: Vec<String>,
    /// The other numbers.
    all: Vec<String>,
    /// Those of them that the original must have, too: not those of folders above what was named, of folders of copies, and of
    /// folders in these.
    sure: Vec<String>,
    /// The folders below what was named that are not of copies, in small letters.
    folders: Vec<String>,
    original: OriginalName,
}

impl VersionSigns {
    fn of(file: &PartedPath<'_>) -> VersionSigns {
        let mut found = VersionSigns::default();
        let mut names = names(file.path);
        let name = names.next_back().unwrap_or_default();
        let mut is_aside = false;
        for (depth, folder) in names.enumerate() {
            let (is_copy, is_below) = (is_folder_aside(&folder), depth >= file.above);
            is_aside |= is_copy && is_below;
            if !is_copy && is_below {
                found.folders.push(folder.to_lowercase());
            }
            found.take(&folder, is_copy, is_below && !is_aside);
        }
        let is_copy = is_copy_of_file(&name);
        found.take(&name, is_copy, true);
        found.original = if is_copy {
            OriginalName::of(&name)
        } else {
            let (stem, end) = name.rsplit_once('.').unwrap_or((&name, ""));
            let words = name_words(stem);
            OriginalName {
                sure: words.len(),
                words,
                extension: Some(end.to_lowercase()),
            }
        };
        found
    }

    /// Takes the numbers of a name, which may be that of a copy.
    fn take(&mut self, name: &str, is_copy: bool, is_sure: bool) {
        for (start, digits) in runs_of_digits(name) {
            if is_copy && is_of_copy(name, start, digits) {
                self.marks.push(digits.to_owned());
                continue;
            }
            self.all.push(digits.to_owned());
            if is_sure {
                self.sure.push(digits.to_owned());
            }
        }
    }

    fn fit(&self, others: &VersionSigns) -> bool {
        let is_marked_alike =
            self.marks.is_empty() || others.marks.is_empty() || self.marks == others.marks;
        let is_same = self.all == others.all || self.sure == others.all || self.all == others.sure;
        let [own, other] = [&self.folders, &others.folders];
        let are_folders_alike = own.ends_with(other) || other.ends_with(own);
        is_marked_alike && is_same && are_folders_alike && self.original.fits(&others.original)
    }
}

/// Returns the words of a name without its extension, in small letters. Numbers at their ends are not part of them.
fn name_words(stem: &str) -> Vec<String> {
    let letters = |word: &str| word.trim_end_matches(char::is_numeric).to_lowercase();
    let words = words(stem).map(letters);
    words.filter(|word| !word.is_empty()).collect()
}

/// What the name of a copy says of its original.
#[derive(Default)]
struct OriginalName {
    /// Its words, and maybe last ones such as `copy`, `old` or `draft`.
    words: Vec<String>,
    /// How many of these words are left without such last ones.
    sure: usize,
    /// Its extension, if the name has that.
    extension: Option<String>,
}

impl OriginalName {
    /// Whether these may be names of one text: with one extension, if both have one, and the same words but for last ones that
    /// tell a copy.
    fn fits(&self, others: &OriginalName) -> bool {
        let mut extensions = self.extension.iter().zip(&others.extension);
        let is_of_one_use = extensions.all(|(own, other)| own == other);
        let is_named_alike = self.words == others.words
            || self.words[..self.sure] == others.words[..]
            || self.words[..] == others.words[..others.sure];
        is_of_one_use && is_named_alike
    }

    fn of(name: &str) -> OriginalName {
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        let mut extension = Some(self::words(end).next().unwrap_or_default());
        let mut stem = conflict(name).map_or(stem, |place| &name[..place]);
        let is_part = PART_ENDS.have(end);
        let is_behind = is_part || ends_with_one(end, OLD_WORDS) || is_number(end);
        if is_behind || is_compressed(Path::new(name)) {
            // The extension of the original stands before that of the copy.
            let inner = stem.rsplit_once('.');
            let inner = inner.filter(|(_, end)| !end.contains(char::is_whitespace));
            stem = inner.map_or(stem, |(stem, _)| stem);
            extension = inner.map(|(_, end)| end).or(extension.filter(|_| is_part));
        }
        let mut bare = stem.to_owned();
        while let Some(bracketed) = copy_brackets(&bare) {
            bare.replace_range(bracketed, " ");
        }
        let bare = JOINED_COPY_WORDS
            .iter()
            .fold(&*bare, |bare, word| bare.trim_end_matches(word));
        let mut words = name_words(bare);
        if begins_with_one_of(bare, COPY_WORDS) {
            let has_of = words.get(1).is_some_and(|word| OF_WORDS.have(word));
            let marks = if has_of { 2 } else { 1 };
            words.drain(..marks.min(words.len()));
        }
        let marks = words
            .iter()
            .rev()
            .take_while(|word| tells_copy(word))
            .count();
        OriginalName {
            sure: words.len() - marks,
            words,
            extension: extension.map(str::to_lowercase),
        }
    }
}

/// Whether a word tells a copy or an earlier version.
fn tells_copy(word: &str) -> bool {
    COPY_WORDS.have(word) || OLD_WORDS.have(word)
}

/// Returns the place of the first brackets that have nothing but words that tell a copy and numbers, or such a word and a date.
fn copy_brackets(name: &str) -> Option<std::ops::Range<usize>> {
    name.match_indices(['(', '[']).find_map(|(start, _)| {
        let len = name[start..].find([')', ']'])? + 1;
        let inside = &name[start..start + len];
        let is_numbered = |word: &str| word.starts_with(char::is_numeric);
        let is_mark = |word: &str| tells_copy(word) || is_numbered(word) || word == "conflicted";
        let has_date = runs_of_digits(inside).any(|(_, digits)| digits.len() == 4);
        let is_dated = has_date && words(inside).any(tells_copy);
        (is_dated || words(inside).all(is_mark)).then_some(start..start + len)
    })
}

/// Whether a number in the name of a copy is one that tells copies apart: `(2)`, `copy 2`, `.bak1`, or the date of a conflict.
fn is_of_copy(name: &str, start: usize, digits: &str) -> bool {
    let (before, behind) = name.split_at(start);
    let behind = &behind[digits.len()..];
    let is_last = behind.is_empty() || name.rfind('.') == Some(start + digits.len());
    let follows = words(before).next_back().is_some_and(tells_copy)
        || before.ends_with('~')
        || before.ends_with('.') && behind.is_empty();
    let is_short = digits.len() <= 2;
    let of_conflict = conflict(name).is_some_and(|place| place < start);
    let opened = before.rfind(['(', '[']).map(|place| &before[place + 1..]);
    let closed = behind.find([')', ']']).map(|place| &behind[..place]);
    let is_in_brackets = |(opened, closed): (&str, &str)| {
        let is_alone = is_short && opened.is_empty() && closed.is_empty();
        let has_word = [opened, closed].iter().any(|it| words(it).any(tells_copy));
        !opened.contains([')', ']']) && (is_alone || has_word)
    };
    is_short && is_last && follows || of_conflict || opened.zip(closed).is_some_and(is_in_brackets)
}

/// Returns the numbers in a name, each behind its place.
fn runs_of_digits(name: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let pieces = name.split_inclusive(|letter: char| !letter.is_numeric());
    let runs = pieces.map(move |piece| {
        let place = start;
        start += piece.len();
        (
            place,
            piece.trim_end_matches(|letter: char| !letter.is_numeric()),
        )
    });
    runs.filter(|(_, digits)| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether two files may be versions of one text. `above` of the first names of each are above what was named.
    fn is_of_one(file: &str, other: &str, above: usize) -> bool {
        let [file, other] = [file, other].map(|path| PartedPath {
            path: Path::new(path),
            above,
        });
        let is_so = is_of_one_text(&file, &other);
        assert_eq!(is_so, is_of_one_text(&other, &file));
        is_so
    }

    #[test]
    fn names_of_one_text_have_its_numbers_and_words_but_for_those_of_a_copy() {
        for (file, other, above) in [
            ("2024-03-10 minutes (1).txt", "2024-03-10 minutes.txt", 0),
            ("Kapitel 3 Entwurf.txt", "Buch/Kapitel 3.txt", 0),
            ("v2_old/x.py", "v2/x.py", 0),
            ("minutes (conflicted copy 2024-05-01).txt", "minutes.txt", 0),
            (
                "minutes.sync-conflict-20240501-120000-AB1.txt",
                "minutes.txt",
                0,
            ),
            ("Backup/2021/minutes.txt", "minutes.txt", 0),
            ("Backup/2021/minutes.txt", "2021/minutes.txt", 0),
            ("Backup 2021/minutes.txt", "minutes.txt", 0),
            ("Steuer 2019 (1)/x.txt", "Steuer 2019/x.txt", 0),
            ("thesis copy 2.txt", "thesis.txt", 0),
            ("thesis.txt.bak1", "thesis.txt", 0),
            ("Copy (2) of thesis 3.txt", "thesis 3.txt", 0),
            ("Kapitel 3.bak", "Kapitel 3.txt", 0),
            ("tale.txt.1", "tale.txt", 0),
            ("Contract Meier (1).txt", "Contract Meier.txt", 0),
            ("Kopie von Brief Anna.txt", "Brief Anna.txt", 0),
            ("Brief Anna.txt.bak", "Brief Anna.txt", 0),
            ("Brief Anna.bak", "Brief Anna.md", 0),
            ("Brief Anna.txt - Kopie", "Brief Anna.txt", 0),
            (".Brief Anna.txt", "Brief Anna.txt", 0),
            ("Brief Anna_old.txt.gz", "Brief Anna.txt", 0),
            ("Essay副本.txt", "Essay.txt", 0),
            (
                "Letter from Old Town draft.txt",
                "Letter from Old Town.txt",
                0,
            ),
            (
                "minutes (Bob's conflicted copy 2024-05-01).txt",
                "minutes.txt",
                0,
            ),
            ("thesis (3rd copy).txt", "thesis.txt", 0),
            (
                "app.dev.sync-conflict-20240501-120000-AB1.yml",
                "app.dev.yml",
                0,
            ),
            ("Copia de Plan Di.txt", "Plan Di.txt", 0),
            ("config.prod.ini.bak", "config.prod.ini", 0),
            ("LETTER~1.TXT", "Letter.txt", 0),
            ("Brief-LAPTOP-7ABC.txt", "Brief.txt", 0),
            ("2024/Will.txt", "backup/Will.txt", 1),
            ("taxes 2024/2024 return.txt", "backup/2024 return.txt", 1),
        ] {
            assert!(is_of_one(file, other, above), "{file} of {other}");
        }
    }

    #[test]
    fn names_with_other_numbers_or_words_are_of_other_texts() {
        for (file, other, above) in [
            ("minutes.txt", "minutes signed.txt", 0),
            ("minutes (1).txt", "minutes signed.txt", 0),
            ("Untitled 1.txt", "Brief 1.txt", 0),
            ("Thesis2a.txt", "thesis2.txt", 0),
            ("Will 2019.txt", "Will 2024.txt", 0),
            ("2019/Will.txt", "2024/Will.txt", 0),
            ("2019/Will.txt", "2024/Will.txt", 1),
            ("2019/Tax/Will.txt", "2024/Tax/Will.txt", 2),
            (
                "Downloads 2023/statement.txt",
                "Downloads 2024/statement.txt",
                0,
            ),
            ("Downloads/Invoices 2023/Will.txt", "Archive/Will.txt", 1),
            ("Steuer 2019 (1)/x.txt", "Steuer 2020 (1)/x.txt", 0),
            ("Rechnung 40 - Kopie.txt", "Rechnung.txt", 0),
            ("Rechnung 4 Entwurf.txt", "Mahnung.txt", 0),
            ("2024-03-04 Protokoll Entwurf.txt", "2024 Protokoll.txt", 0),
            ("minutes 03-04.txt", "minutes 04-03.txt", 0),
            ("thesis (2024) copy.txt", "thesis.txt", 0),
            ("notes.md", "notes.txt", 0),
            ("Letter Anna.txt", "Letter Bob.txt", 0),
            ("Letter Paul.txt", "Letter Paula.txt", 0),
            ("LETTER PAUL.txt", "LETTER PAULA.txt", 0),
            ("Contract Meier (1).txt", "Contract Schulz.txt", 0),
            ("Contract Meier (1).txt", "Contract Schulz (1).txt", 0),
            (
                "Contract (Meier 20) copy.txt",
                "Contract (Schulz 20).txt",
                0,
            ),
            ("Letter Anna.txt.bak", "Letter Bob.txt", 0),
            ("Max M.txt", "Max S.txt", 0),
            ("Annex A (1).txt", "Annex B.txt", 0),
            ("Notes Java.txt", "Notes JavaScript.txt", 0),
            ("strings_de (1).txt", "strings_fr.txt", 0),
            ("Kopie von Plan Di.txt", "Plan Mo.txt", 0),
            ("Kopie von Plan Mo.txt", "Plan Di.txt", 0),
            ("de.bak", "en.txt", 0),
            ("old town map (1).txt", "new town map.txt", 0),
            ("config.prod.bak", "config.dev.ini", 0),
            ("Dockerfile.prod~", "Dockerfile.dev", 0),
            ("Letter.Anna.bak", "Letter.Bob.txt", 0),
            ("letter.anna.txt~", "letter.bob.txt", 0),
            ("notes.txt.bak", "notes.md", 0),
            ("notes (1).txt", "notes.md", 0),
            ("Copy of Letter Anna.txt", "Letter Bob.txt", 0),
            ("Letter Dr. Meier.bak", "Letter Dr. Schulz.txt", 0),
            ("minutes january.txt", "Minutes February.txt", 0),
            ("Book (1)/Chapter 2/scene.md", "Book/Chapter 1/scene.md", 0),
            ("Backup 2023/2022/Tax.txt", "2023/Tax.txt", 0),
            ("Backup 2023/2022/Tax.txt", "2023/Tax.txt", 1),
            ("Backup/2023/2022/Tax.txt", "2023/Tax.txt", 0),
            ("old/chapter 3/text copy 4.txt", "chapter 4/text.txt", 0),
            ("Chapter 1 (2).txt", "docs (1)/Chapter 2.txt", 0),
            ("v1/spec (2).txt", "Backup 1/v2/spec.txt", 0),
            (
                "Tax (Bob's conflicted copy 2023-05-01).txt",
                "Tax 2023.txt",
                0,
            ),
        ] {
            assert!(!is_of_one(file, other, above), "{file} of {other}");
        }
    }

    #[test]
    fn folders_of_other_names_have_other_texts() {
        for (file, other, is_so) in [
            ("Anna/Plan old.txt", "Bob/Plan.txt", false),
            ("March/Rota (1).txt", "April/Rota.txt", false),
            ("Backup/May/Rota.txt", "June/Rota.txt", false),
            ("Volume I/Notes (1).txt", "Volume II/Notes.txt", false),
            ("de/strings.xml.bak", "en/strings.xml", false),
            ("Old/Anna/Budget.txt", "Bob/Budget.txt", false),
            ("docs_old/ch/x.txt", "docs/ch/x.txt", true),
            ("Laptop Backup/me/Docs/x.txt", "docs/x.txt", true),
            ("Anna/Plan old.txt", "Plan.txt", true),
        ] {
            assert_eq!(is_of_one(file, other, 0), is_so, "{file} of {other}");
        }
    }

    #[test]
    fn a_word_for_a_copy_may_tell_what_a_text_is_for() {
        for (file, other, above) in [
            ("김민.txt", "김민수.txt", 0),
            ("Lease (tenant copy).txt", "Lease (landlord copy).txt", 0),
            ("Kyrie Alt.txt", "Kyrie Sopran.txt", 0),
            ("backup.sh", "deploy.sh", 0),
            ("test_backup.py", "test_copy.py", 0),
            ("sensor.temp", "sensor.hum", 0),
            (
                "app.dev.sync-conflict-20240102-123456-AB1.yml",
                "app.prod.yml",
                0,
            ),
            ("software-LAPTOP-ANNA.txt", "software-LAPTOP-BOB.txt", 0),
        ] {
            assert!(!is_of_one(file, other, above), "{file} of {other}");
        }
    }

    proptest! {
        #[test]
        fn any_two_names_are_compared(
            names in proptest::array::uniform2(proptest::collection::vec(
                prop_oneof![
                    "[a-zA-Z0-9äß(\\[\\])~#.$ _-]{0,4}",
                    proptest::sample::select(vec![
                        "Копия ", "copy", "Copy of ", "von ", " (1)", ".txt", ".bak", "old", "-LAPTOP-", "副本", ".gz",
                    ])
                    .prop_map(str::to_owned),
                ],
                0..6,
            )),
        ) {
            let [file, other] = names.map(|parts| parts.concat());
            let is_so = is_of_one(&file, &other, 0);
            prop_assert!(is_so || file != other);
        }
    }
}
