//! `docs/reference/doors.md` names commands, options and methods that exist, and every option that answers depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The commands whose options all have a row.
const ANSWERING: [&str; 7] = [
    "add",
    "query",
    "passages",
    "pairs",
    "clusters",
    "dedup",
    "decontaminate",
];

/// Options about the place and the form of outputs.
const OF_OUTPUT: [&str; 11] = [
    "--escaped",
    "--force",
    "--help",
    "--json",
    "--output",
    "--print0",
    "--quiet",
    "--skipped",
    "--store",
    "--timings",
    "--verbose",
];

/// The names in the cells of a column of the page.
fn names(column: usize) -> Vec<String> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/reference/doors.md")).unwrap();
    let mut names = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 5, "{row}");
        let spans = cells[column].split('`').skip(1).step_by(2);
        names.extend(spans.map(str::to_owned));
    }
    assert!(names.len() > 50, "{} names", names.len());
    names
}

/// The long options in the help of each command.
fn options(sandbox: &Sandbox) -> BTreeMap<String, BTreeSet<String>> {
    let of = |verb: &str| {
        let help = sandbox.run(&[verb, "--help"]).expect(0).stdout;
        // Descriptions are indented further, and the text below the options is not.
        let listed = help.lines().filter_map(|line| {
            let long = line.strip_prefix("      --");
            long.or_else(|| line.strip_prefix("  -")?.split_once(", --").map(|it| it.1))
        });
        let names = listed.filter_map(|line| line.split(' ').next());
        names.map(|name| format!("--{name}")).collect()
    };
    let verbs = crate::help::verbs(sandbox).into_iter();
    verbs.map(|verb| (verb.clone(), of(&verb))).collect()
}

#[test]
fn commands_and_options_of_the_table_exist_and_none_is_missing() {
    let options = options(&Sandbox::new());
    let mut named: BTreeSet<(String, String)> = BTreeSet::new();
    for name in names(1).iter().filter(|name| *name != "-") {
        let (verb, option) = match name.split_once(' ') {
            _ if name.starts_with("--") => (None, Some(name.as_str())),
            Some((verb, option)) => (Some(verb), Some(option)),
            None => (Some(name.as_str()), None),
        };
        let verbs = options.iter().filter(|(other, has)| {
            verb.is_none_or(|verb| verb == *other) && option.is_none_or(|it| has.contains(it))
        });
        let verbs: Vec<&String> = verbs.map(|(verb, _)| verb).collect();
        assert!(!verbs.is_empty(), "there is no {name}");
        let option = option.unwrap_or_default();
        named.extend(verbs.into_iter().map(|it| (it.clone(), option.to_owned())));
    }
    for verb in ANSWERING {
        for option in &options[verb] {
            let is_there = named.contains(&(verb.to_owned(), option.clone()));
            let has_row = is_there || OF_OUTPUT.contains(&option.as_str());
            assert!(
                has_row,
                "docs/reference/doors.md has no row for {verb} {option}"
            );
        }
    }
}

#[test]
fn methods_of_the_table_exist() {
    let sources = ["src", "corpus/src", "lab/src"]
        .into_iter()
        .flat_map(|folder| {
            let files = walkdir::WalkDir::new(Path::new(ROOT).join(folder));
            files.into_iter().map(|entry| entry.unwrap().into_path())
        });
    let sources = sources.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let sources: Vec<String> = sources
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let is_word = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let after = text[at + word.len()..].chars().next();
            !after.is_some_and(|after| after.is_alphanumeric() || after == '_')
        })
    };
    for name in names(2) {
        let (class, method) = name.split_once("::").unwrap_or((&name, ""));
        let has = |source: &&String| {
            let has_class = ["struct ", "enum ", "impl ", "impl<'a> ", "impl<'_> "]
                .iter()
                .any(|kind| is_word(source, &format!("{kind}{class}")));
            has_class && (method.is_empty() || is_word(source, &format!("pub fn {method}")))
        };
        assert!(
            sources.iter().any(|source| has(&source)),
            "there is no {name}"
        );
    }
}
