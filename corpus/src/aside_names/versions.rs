//! What the names of a file and its folders say of its original.

use std::iter;
use std::path::Path;

use super::{
    BACKUP_WORDS, COPY_WORDS, DEVICES, JOINED_COPY_WORDS, OF_WORDS, OLD_WORDS, PART_ENDS,
    TEXT_ENDS, begins_with_one_of, conflict, holds_copies, is_copy_of_file, is_folder_aside,
    is_number, is_short, names, words,
};
use crate::is_compressed;

/// The path of a file from where it parts from that of another one.
pub(crate) struct PartedPath<'a> {
    pub(crate) path: &'a Path,
    /// How many of its first names are not below what was named.
    pub(crate) above: usize,
}

/// Whether a file may be a copy of another one by the names of both and of their folders: without what tells a copy, its name
/// is that of the other one, and so are those of its folders. Folders that only hold copies do not count.
pub(crate) fn is_copy_of(file: &PartedPath<'_>, other: &PartedPath<'_>) -> bool {
    let [own, others] = [file, other].map(numbers_above);
    let is_of_one_year = own == others || own.is_empty() || others.is_empty();
    let originals = folders(file).filter_map(|folder| original_folder(&folder));
    let are_folders_alike = originals.eq(folders(other).map(|folder| parts(&folder)));
    is_of_one_year && are_folders_alike && is_copied_name(file.path, other.path)
}

/// The words, numbers and signs of a name.
type NameParts = Vec<String>;

/// Returns the numbers in the names of folders above what was named. Their words are those of another place, not of a text.
fn numbers_above(file: &PartedPath<'_>) -> Vec<String> {
    let folders = names(file.path).take(file.above);
    let folders = folders.filter(|folder| !is_folder_aside(folder));
    let parts = folders.flat_map(|folder| parts(&folder));
    parts.filter(|part| is_number(part)).collect()
}

/// Returns the names of the folders of a file that are below what was named.
fn folders(file: &PartedPath<'_>) -> impl Iterator<Item = String> {
    let mut names = names(file.path);
    names.next_back();
    names.skip(file.above)
}

/// Returns the name of the original of a folder, or of the folder itself, or `None` if it only holds copies.
fn original_folder(name: &str) -> Option<NameParts> {
    if !is_folder_aside(name) {
        return Some(parts(name));
    }
    let is_of_all = |word: &str| {
        tells_copy(word) || DEVICES.have(word) || OF_WORDS.have(word) || is_number(word)
    };
    if holds_copies(name) || words(name).all(is_of_all) {
        return None;
    }
    let originals = iter::successors(Some(name.to_owned()), |name| without_mark(name));
    originals.last().map(|original| parts(&original))
}

/// Whether the name of a file, maybe without what tells a copy, is that of another one.
fn is_copied_name(file: &Path, other: &Path) -> bool {
    let last = |path: &Path| names(path).next_back().unwrap_or_default();
    let (name, other) = (last(file), last(other));
    let (stem, extension) = split_extension(&other);
    let is_it = |original: &OriginalName| {
        let own = original.extension.as_deref();
        let is_alike = match own {
            Some(own) => own.eq_ignore_ascii_case(extension),
            None => extension.is_empty() || TEXT_ENDS.have(extension),
        };
        is_alike && parts(&original.stem) == parts(stem)
    };
    let most = if is_copy_of_file(&name) {
        usize::MAX
    } else {
        1
    };
    let originals = iter::successors(Some(OriginalName::of(&name)), OriginalName::without_mark);
    originals.take(most).any(|original| is_it(&original))
}

/// The name of a file, or that of which it may be a copy.
struct OriginalName {
    stem: String,
    /// None if a mark may have taken its place.
    extension: Option<String>,
}

impl OriginalName {
    fn of(name: &str) -> OriginalName {
        let (stem, extension) = split_extension(name);
        OriginalName {
            stem: stem.to_owned(),
            extension: Some(extension.to_owned()),
        }
    }

    /// Returns the name without one of the marks of a copy, if it has any.
    fn without_mark(&self) -> Option<OriginalName> {
        let Some(end) = self.extension.as_deref().filter(|end| !end.is_empty()) else {
            // A log that was put away has a number behind its extension.
            if let Some((before, end)) = self.stem.rsplit_once('.')
                && is_number(end)
                && !split_extension(before).1.is_empty()
            {
                return Some(OriginalName::of(before));
            }
            let name = OriginalName::of(&without_mark(&self.stem)?);
            let own = name.extension.filter(|end| !end.is_empty());
            let extension = own.or(self.extension.clone());
            return Some(OriginalName { extension, ..name });
        };
        let name = format!("{}.{end}", self.stem);
        if let Some(place) = conflict(&name) {
            let stem = name[..place].to_owned();
            let extension = Some(end.to_owned()).filter(|_| place < self.stem.len());
            return Some(OriginalName { stem, extension });
        }
        let is_part = PART_ENDS.have(end);
        let is_old = OLD_WORDS.have(end.trim_end_matches(|it: char| it.is_ascii_digit()));
        if is_part || is_old || is_compressed(Path::new(&name)) {
            let inner = OriginalName::of(&self.stem);
            let has_extension = inner.extension.as_deref() != Some("");
            // The extension of the original stands before that of the copy, or was replaced by it.
            return (has_extension || !is_part).then_some(OriginalName {
                extension: inner.extension.filter(|_| has_extension),
                ..inner
            });
        }
        if let Some(name) = without_mark(&name) {
            return Some(OriginalName::of(&name));
        }
        let stem = without_mark(&self.stem)?;
        let extension = self.extension.clone();
        Some(OriginalName { stem, extension })
    }
}

/// Splits a name from its extension, which has a letter and no spaces.
fn split_extension(name: &str) -> (&str, &str) {
    let split = name.rsplit_once('.');
    let split = split
        .filter(|(_, end)| end.contains(char::is_alphabetic) && !end.contains(char::is_whitespace));
    split.unwrap_or((name, ""))
}

/// Returns a name without the first or the last mark of a copy, if it has any and is not only that.
fn without_mark(name: &str) -> Option<String> {
    let mut rests = vec![
        name.strip_suffix('~'),
        name.strip_prefix("~$"),
        name.strip_prefix('#').and_then(|it| it.strip_suffix('#')),
        name.strip_prefix('.'),
        bracketed(name)
            .filter(|(_, inside)| is_mark(inside))
            .map(|(before, _)| before),
        without_last_words(name),
        without_first_words(name),
    ];
    rests.extend(JOINED_COPY_WORDS.iter().map(|word| name.strip_suffix(word)));
    if is_short(name) {
        rests.push(name.rsplit_once('~').map(|(before, _)| before));
    }
    let rests = rests.into_iter().flatten();
    let mut named = rests.filter(|rest| rest.contains(char::is_alphanumeric));
    let is_between = |letter: char| letter.is_whitespace() || "-_".contains(letter);
    named
        .next()
        .map(|rest| rest.trim_matches(is_between).to_owned())
}

/// Splits a name from the brackets at its end.
fn bracketed(name: &str) -> Option<(&str, &str)> {
    let inside = name.trim_end().strip_suffix([')', ']'])?;
    let start = inside.rfind(['(', '['])?;
    Some((&name[..start], &inside[start + 1..]))
}

/// Whether brackets have nothing but a small number, words that tell a copy and maybe such a number, or a conflict and its
/// date.
fn is_mark(inside: &str) -> bool {
    let is_copy = |word: &str| tells_copy(word) || word == "conflicted";
    let is_small = |word: &str| {
        let ordinal = word.trim_start_matches(char::is_numeric);
        digits(word).count() <= 2 && ["", "st", "nd", "rd", "th"].contains(&ordinal)
    };
    let has_copy = words(inside).any(is_copy);
    let is_bare = !inside.is_empty() && inside.chars().all(char::is_numeric);
    let numbers = words(inside).filter(|word| !is_copy(word));
    let is_numbered = numbers.clone().all(is_small) && numbers.count() <= 1;
    let is_of_conflict = words(inside).any(|word| word == "conflicted")
        && words(inside).any(|word| is_number(word) && word.len() == 4);
    is_of_conflict || is_numbered && (has_copy || is_bare)
}

/// Returns a name without a last word that tells a copy, and without a small number behind that.
fn without_last_words(name: &str) -> Option<&str> {
    let mut last = words(name).next_back()?;
    let mut rest = &name[..place(name, last)];
    if is_number(last) && last.len() <= 2 {
        last = words(rest).next_back()?;
        rest = &rest[..place(name, last)];
    }
    let is_small = digits(last).count() <= 2;
    let bare = last.trim_end_matches(char::is_numeric);
    (is_small && tells_copy(bare)).then_some(rest)
}

/// Returns a name without `Copy of` or `Copy (2) of` at its start.
fn without_first_words(name: &str) -> Option<&str> {
    if !begins_with_one_of(name, COPY_WORDS) && !begins_with_one_of(name, BACKUP_WORDS) {
        return None;
    }
    let mut words = words(name).skip(1).skip_while(|word| is_number(word));
    let first = words.next()?;
    let behind = place(name, first);
    let of = if OF_WORDS.have(first) { first.len() } else { 0 };
    Some(&name[behind + of..])
}

/// Whether a word tells a copy or an earlier version.
fn tells_copy(word: &str) -> bool {
    COPY_WORDS.have(word) || OLD_WORDS.have(word) || BACKUP_WORDS.have(word)
}

/// The place of a part of a name.
fn place(name: &str, part: &str) -> usize {
    part.as_ptr().addr() - name.as_ptr().addr()
}

fn digits(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|letter| letter.is_numeric())
}

/// Returns the words, numbers and signs of a name, in small letters, but not what only stands between them.
fn parts(name: &str) -> NameParts {
    let lower = name.to_lowercase();
    let mut found = NameParts::new();
    let mut last = None;
    for letter in lower.chars() {
        let kind = (letter.is_alphabetic(), letter.is_numeric());
        let is_between = letter.is_whitespace() || "-_.,'’()[]~".contains(letter);
        match found.last_mut() {
            _ if is_between => {}
            Some(part) if last == Some(kind) => String::push(part, letter),
            _ => found.push(letter.to_string()),
        }
        last = Some(kind).filter(|_| !is_between);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether a file may be a copy of another one. `above` of the first names of each are above what was named.
    fn is_copy(file: &str, other: &str, above: usize) -> bool {
        let [file, other] = [file, other].map(|path| PartedPath {
            path: Path::new(path),
            above,
        });
        is_copy_of(&file, &other)
    }

    #[test]
    fn names_of_one_text_have_its_numbers_and_words_but_for_those_of_a_copy() {
        for (file, other, above) in [
            ("2024-03-10 minutes (1).txt", "2024-03-10 minutes.txt", 0),
            ("Buch/Kapitel 3 Entwurf.txt", "Buch/Kapitel 3.txt", 0),
            ("v2_old/x.py", "v2/x.py", 0),
            ("minutes (conflicted copy 2024-05-01).txt", "minutes.txt", 0),
            (
                "minutes.sync-conflict-20240501-120000-AB1.txt",
                "minutes.txt",
                0,
            ),
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
            ("Letter to Mr. Smith old", "Letter to Mr. Smith", 0),
            ("Protokoll 03.04 (1)", "Protokoll 03.04", 0),
            ("hosts.bak", "hosts", 0),
            ("Timetable (5a) - Copy.txt", "Timetable (5a).txt", 0),
            ("example.com_old", "example.com", 0),
            ("README.de old", "README.de", 0),
            ("a.txt_bak", "a.txt", 0),
            ("C# notes (1).txt", "C# notes.txt", 0),
            ("Lease (1) - Copy (2).txt", "Lease.txt", 0),
            ("Lease (1) - Copy (2).txt", "Lease (1).txt", 0),
            ("~$letter.txt", "letter.txt", 0),
            ("#report#", "report", 0),
            ("Brief-LAPTOP-7ABC.txt", "Brief.txt", 0),
            ("2024/Will.txt", "backup/Will.txt", 1),
            ("taxes 2024/2024 return.txt", "backup/2024 return.txt", 1),
        ] {
            assert!(is_copy(file, other, above), "{file} of {other}");
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
            assert!(!is_copy(file, other, above), "{file} of {other}");
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
            ("Laptop Backup/me/Docs/x.txt", "docs/x.txt", false),
            ("Laptop Backup/Docs/x.txt", "docs/x.txt", true),
            ("Laptop Backup Anna/x.txt", "x.txt", false),
            ("Backup/2021/x.txt", "x.txt", false),
            ("old/2020/Taxes/x.txt", "Taxes/x.txt", false),
            ("Class (5a) - Copy/x.txt", "Class/x.txt", false),
            ("Class (5a) - Copy/x.txt", "Class (5a)/x.txt", true),
            ("Anna/Plan old.txt", "Plan.txt", false),
            ("Kapitel 3 Entwurf.txt", "Buch/Kapitel 3.txt", false),
            ("Customers/Form.txt", "Customers/Miller/Form.txt", false),
            ("Downloads/Form.txt", "Customers/Miller/Form.txt", false),
            ("Downloads/Form.txt", "Form.txt", true),
            (
                "Customers/Miller (old)/x.txt",
                "Customers/Smith/x.txt",
                false,
            ),
            (
                "Customers/Miller (old)/x.txt",
                "Customers/Miller/x.txt",
                true,
            ),
            ("Anna (2)/Homework.txt", "Ben/Homework.txt", false),
            ("Miller Backup/x.txt", "Smith/x.txt", false),
            ("Miller Backup/x.txt", "Miller/x.txt", true),
            ("Copy of Anna/Plan.txt", "Ben/Plan.txt", false),
            ("Copy of Anna/Plan.txt", "Anna/Plan.txt", true),
            ("Backup of Anna/Plan.txt", "Anna/Plan.txt", true),
            ("web_old/nginx.conf", "mail/nginx.conf", false),
            ("New folder (2)/Form.txt", "Smith/Form.txt", false),
            ("A/a (1)/Letter.txt", "B/a/Letter.txt", false),
            ("Anna/Backup/Docs/x.txt", "Docs/x.txt", false),
            ("Anna/Backup/Docs/x.txt", "Anna/Docs/x.txt", true),
            ("Backup/Anna/x.txt", "x.txt", false),
            ("Old laptop/Docs/x.txt", "Docs/x.txt", true),
            ("Backup of laptop/Docs/x.txt", "Docs/x.txt", true),
        ] {
            assert_eq!(is_copy(file, other, 0), is_so, "{file} of {other}");
        }
    }

    #[test]
    fn a_word_for_a_copy_may_tell_what_a_text_is_for() {
        for (file, other, above) in [
            ("김민.txt", "김민수.txt", 0),
            ("Letter to Mr. Smith old", "Letter to Mr. Jones", 0),
            ("example.com_old", "example.org", 0),
            ("config.prod_bak", "config.dev", 0),
            ("Dockerfile.web-old", "Dockerfile.worker", 0),
            ("Rechnung.Januar alt", "Rechnung.Februar", 0),
            ("README.de old", "README.en", 0),
            ("Plan.txt for Bob (1)", "Plan.txt", 0),
            ("Geschenke 👦 (1).txt", "Geschenke 👧.txt", 0),
            ("C# notes (1).txt", "C notes.txt", 0),
            ("test_copy (1).py", "test.py.bak", 0),
            ("Protokoll 03.04 (1)", "Protokoll 03.05", 0),
            ("Report 1.2_old", "Report 1.3", 0),
            ("Tagebuch.2021-03-04~", "Tagebuch.2021-03-05", 0),
            ("Order.17 - Copy", "Order", 0),
            ("notes.2020.bak", "notes.2021", 0),
            ("Plan.2021.bak", "Plan", 0),
            ("hosts.bak", "hosts.pc2", 0),
            ("README.orig", "README.de", 0),
            ("settings.old", "settings.production", 0),
            ("Timetable (5a) - Copy.txt", "Timetable.txt", 0),
            ("Minutes (4.3.) - Copy.txt", "Minutes.txt", 0),
            ("Minutes (2021-03-04 copy).txt", "Minutes.txt", 0),
            ("Plan (2021 old).txt", "Plan.txt", 0),
            ("List (5a old).txt", "List.txt", 0),
            ("Contract (50%) copy.txt", "Contract.txt", 0),
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
            assert!(!is_copy(file, other, above), "{file} of {other}");
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
            let is_so = is_copy(&file, &other, 0);
            prop_assert!(is_so || file != other);
        }
    }
}
