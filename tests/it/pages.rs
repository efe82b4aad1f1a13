//! The written pages: their links lead somewhere, and the book has all of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages below a folder, or the page itself, as paths from the root.
pub(crate) fn pages(place: &str) -> Vec<PathBuf> {
    let path = root().join(place);
    if path.is_file() {
        return vec![place.into()];
    }
    let mut pages = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let below = format!("{place}/{name}");
        let is_page = Path::new(&name).extension().is_some_and(|end| end == "md");
        if is_page || root().join(&below).is_dir() {
            pages.extend(self::pages(&below));
        }
    }
    pages.sort();
    pages
}

/// Every page that a person reads.
pub(crate) fn all_pages() -> Vec<PathBuf> {
    let places = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs",
        "benches/README.md",
        "benches/compare/README.md",
        "examples/spark/README.md",
        "examples/ray/README.md",
        "python/README.md",
        "testdata/README.md",
    ];
    places.into_iter().flat_map(pages).collect()
}

/// The lines of a page that are not in a block of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            return None;
        }
        (!in_block).then_some((index + 1, line))
    })
}

/// The targets of the links on a line.
fn targets(line: &str) -> Vec<&str> {
    let links = line.split("](").skip(1);
    links.filter_map(|rest| rest.split(')').next()).collect()
}

/// The name by which a heading can be linked.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    kept.collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{}", path.display()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn no_page_has_two_versions_of_a_passage() {
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        let is_marker = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
        let marker = text.lines().position(is_marker);
        assert_eq!(marker, None, "{}: a merge is not finished", page.display());
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut checked = 0;
    for page in all_pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for (number, line) in prose(&text) {
            for target in targets(line) {
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                let place = format!("{}:{number}: {target}", page.display());
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let file = match file {
                    "" => page.clone(),
                    file => plain(&page.parent().unwrap().join(file)),
                };
                assert!(
                    root().join(&file).exists(),
                    "{place}: there is no such file"
                );
                if !heading.is_empty() {
                    let text = fs::read_to_string(root().join(&file)).unwrap();
                    let mut headings = prose(&text).filter(|(_, line)| line.starts_with('#'));
                    let is_there = headings.any(|(_, line)| anchor(line) == heading);
                    assert!(is_there, "{place}: there is no such heading");
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 60, "{checked} links");
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "rs")
}

/// Every file of code below a folder.
fn code(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                code(&path, found);
            }
        } else if is_rust(&path) {
            found.push(format!("/{}", path.strip_prefix(root()).unwrap().display()));
        }
    }
}

#[test]
fn files_that_pages_name_exist() {
    let mut files = Vec::new();
    code(root(), &mut files);
    let mut checked = 0;
    for page in all_pages() {
        if page == Path::new("CHANGELOG.md") {
            continue;
        }
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for (number, line) in prose(&text) {
            let quoted = line.split('`').skip(1).step_by(2);
            // A name in capitals stands for any.
            let names = quoted
                .filter(|name| is_rust(Path::new(name)) && !name.contains(char::is_uppercase));
            for name in names.filter(|name| !name.contains(char::is_whitespace)) {
                let end = format!("/{name}");
                let exists = files.iter().any(|file| file.ends_with(&end));
                assert!(exists, "{}:{number}: there is no {name}", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked} files");
}

#[test]
fn the_book_has_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let linked = summary.lines().flat_map(targets);
    let linked: BTreeSet<PathBuf> = linked.map(|page| Path::new("docs").join(page)).collect();
    let mut pages: BTreeSet<PathBuf> = pages("docs").into_iter().collect();
    pages.remove(Path::new("docs/SUMMARY.md"));
    assert_eq!(linked, pages);
}

/// A published book has no files from outside its folder, so a link there would lead nowhere.
#[test]
fn the_book_links_to_its_own_files() {
    for page in pages("docs") {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for (number, line) in prose(&text) {
            for target in targets(line) {
                if target.contains("://") {
                    continue;
                }
                let file = plain(&page.parent().unwrap().join(target));
                let place = format!("{}:{number}: {target}", page.display());
                assert!(file.starts_with("docs"), "{place} is not in the book");
            }
        }
    }
}

#[test]
fn headings_have_the_anchors_that_they_have_on_the_web() {
    assert_eq!(anchor("## What it finds"), "what-it-finds");
    assert_eq!(anchor("# `a_b`, and (c-d)!"), "a_b-and-c-d");
    assert_eq!(targets("[a](b.md) and [c](d.md#e)"), ["b.md", "d.md#e"]);
}
