//! Keeps the habits that make English hard to read out of what people read: the pages, help, messages, comments, and
//! the Python package.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pages::all_pages;

/// Phrases that must not occur, each with what to write instead.
const HABITS: &[(&str, &str)] = &[
    (
        "so many",
        "the number, N, or \"at least\" and \"at most\" with it",
    ),
    ("is none that", "\"is not\" with what it is not"),
    ("are none that", "\"are not\" with what they are not"),
    ("that are none", "\"that are not\" with what they are not"),
    (
        "be told",
        "\"be reported\", \"be known\" or \"be distinguished\"",
    ),
    ("is told", "\"is reported\", \"learns\" or \"gets\""),
    ("are told", "\"are reported\", \"learn\" or \"get\""),
    ("told by", "\"identified by\" or \"decided by\""),
    ("nor what", "a sentence of its own"),
    ("manieth", "\"its number\""),
    (
        "what is like",
        "\"what resembles\" or \"similar documents\"",
    ),
    ("that is like", "\"that resembles\""),
    ("whoever", "a noun: \"a caller\", \"a reader\""),
    (
        "for whose sake",
        "\"in favour of\", or \"that it resembles\"",
    ),
    ("was begun", "\"unfinished\" or \"was started\""),
    ("but for the", "\"except for the\""),
    ("anew", "\"again\", or a verb with re-"),
    ("there whole or not at all", "\"complete or not at all\""),
    ("in masses", "\"thousands of\""),
    ("stands in where", "\"is used if\""),
    ("what became of", "\"the result of\" or \"the outcome of\""),
    ("goes on from there", "\"continues from there\""),
    ("for ever", "\"always\", or the limit"),
    ("for want of", "\"because there is no\""),
    ("takes note of", "\"records\""),
    ("broke off", "\"stopped early\""),
    ("is to be mended", "\"needs no repair\""),
    ("are to be mended", "\"need no repair\""),
];

/// A line that people read, and where it is.
struct Line {
    place: PathBuf,
    number: usize,
    text: String,
}

/// The phrases of a line that are habits, each with something better.
fn habits(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let text = text.to_lowercase();
    let is_letter = |letter: char| letter.is_alphanumeric();
    HABITS.iter().filter(move |(phrase, _)| {
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
        })
    })
}

fn collect(folder: &Path, ends: &[&str], files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, ends, files);
        } else if path
            .extension()
            .is_some_and(|end| ends.iter().any(|e| end == *e))
        {
            files.push(path);
        }
    }
}

/// The comment of a line of code, if it has one.
fn comment(line: &str) -> Option<&str> {
    let start = if line.trim_start().starts_with("//") {
        0
    } else {
        line.find(" // ")?
    };
    Some(&line[start..])
}

fn lines() -> Vec<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = Vec::new();
    let mut add = |place: &Path, number: usize, text: &str| {
        lines.push(Line {
            place: place.to_owned(),
            number,
            text: text.to_owned(),
        });
    };
    let mut whole = all_pages();
    // What was written about earlier versions stays.
    whole.retain(|page| page != Path::new("CHANGELOG.md"));
    let mut files = Vec::new();
    collect(&root.join("python/dedupdb"), &["py", "pyi"], &mut files);
    whole.extend(
        files
            .iter()
            .map(|file| file.strip_prefix(root).unwrap().to_owned()),
    );
    for place in whole {
        let text = fs::read_to_string(root.join(&place)).unwrap();
        for (index, line) in text.lines().enumerate() {
            add(&place, index + 1, line);
        }
    }
    // The messages of the program are in its code. The texts of tests are data.
    for (folder, is_whole) in [
        ("src", true),
        ("corpus/src", true),
        ("lab/src", true),
        ("bin/src", true),
        ("benches", true),
        ("examples", true),
        ("python/src", true),
        ("tests", false),
        ("corpus/tests", false),
        ("lab/tests", false),
        ("bin/tests", false),
    ] {
        let mut sources = Vec::new();
        collect(&root.join(folder), &["rs"], &mut sources);
        for source in sources {
            let text = fs::read_to_string(&source).unwrap();
            let place = source.strip_prefix(root).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                let read = if is_whole { Some(line) } else { comment(line) };
                if let Some(read) = read {
                    add(place, number, read);
                }
            }
        }
    }
    lines
}

#[test]
fn what_people_read_is_plain_english() {
    let lines = lines();
    assert!(lines.len() > 8_000, "{} lines", lines.len());
    let mut found = Vec::new();
    for line in &lines {
        for (phrase, better) in habits(&line.text) {
            let (place, number) = (line.place.display(), line.number);
            found.push(format!("{place}:{number}: {phrase:?}; write {better}"));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn habits_are_whole_words_of_comments() {
    let count = |text: &str| habits(text).count();
    assert_eq!(count("Takes so many bytes, as it is told."), 2);
    assert_eq!(count("Also manythings, anewer one."), 0);
    assert_eq!(comment("    /// One."), Some("    /// One."));
    assert_eq!(comment("fn a() {} // two"), Some(" // two"));
    assert_eq!(comment("let b = \"c\";"), None);
}
