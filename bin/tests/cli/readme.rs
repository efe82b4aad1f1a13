//! The commands in the README and the book print what these pages show.
//!
//! In blocks marked `console`, a line that begins with `$ ` is run in a shell, in a folder with a
//! copy of `testdata`, one after another from the first block of the page to the last. The lines
//! up to the next command are what it prints, standard error included. A line of `...` stands for
//! any lines, and `...` in a line for anything in it: times, sizes, and what would be too long.
//! Blanks at the end of a line do not count.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Ran, Sandbox};

/// The pages that show commands: the README and those of the book.
fn pages() -> Vec<String> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut pages = vec!["README.md".to_owned()];
    for entry in walkdir::WalkDir::new(root.join("docs")).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = path.strip_prefix(root).unwrap().to_str().unwrap();
            pages.push(page.to_owned());
        }
    }
    pages
}

/// A command and the lines that it should print.
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(file)).unwrap()
}

/// The lines in blocks of a language, with their numbers.
fn block_lines<'t>(text: &'t str, language: &str) -> Vec<(usize, &'t str)> {
    let mut lines = Vec::new();
    let mut block = None;
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), block) {
            (Some(opened), None) => block = Some(opened),
            (Some(_), Some(_)) => block = None,
            (None, Some(opened)) if opened == language => lines.push((index + 1, line)),
            (None, _) => {}
        }
    }
    lines
}

fn commands(text: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for (line, text) in block_lines(text, "console") {
        if let Some(command) = text.strip_prefix("$ ") {
            commands.push(Shown {
                line,
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else {
            let last = commands.last_mut().unwrap();
            last.output.push(text.to_owned());
        }
    }
    commands
}

/// Whether a line is as shown. `...` stands for anything.
fn line_fits(shown: &str, line: &str) -> bool {
    let line = line.trim_end();
    let Some((start, rest)) = shown.split_once("...") else {
        return shown == line;
    };
    let Some(line) = line.strip_prefix(start) else {
        return false;
    };
    let mut ends = line.char_indices().map(|(end, _)| end).chain([line.len()]);
    ends.any(|end| line_fits(rest, &line[end..]))
}

/// Whether the lines are as shown. A line of `...` stands for any lines.
fn fits(shown: &[String], lines: &[&str]) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, _) => lines.is_empty(),
        (Some((first, rest)), _) if first == "..." => {
            (0..=lines.len()).any(|from| fits(rest, &lines[from..]))
        }
        (Some((first, rest)), Some((line, lines))) => line_fits(first, line) && fits(rest, lines),
        (Some(_), None) => false,
    }
}

#[cfg(unix)]
#[test]
fn every_command_prints_what_is_shown() {
    let mut checked = 0;
    for page in pages() {
        let commands = commands(&read(&page));
        checked += commands.len();
        run_all(&page, &commands);
    }
    assert!(checked > 40, "{checked} commands");
}

/// The picture has the lines of a terminal, with tabs expanded and a rate in its summary.
#[cfg(unix)]
#[test]
fn the_picture_of_a_terminal_is_what_happens() {
    let picture = "docs/pictures/terminal.svg";
    let mut commands: Vec<Shown> = Vec::new();
    for (index, line) in read(picture).lines().enumerate() {
        let Some(line) = line.strip_suffix("</text>") else {
            continue;
        };
        let (_, text) = line.split_once("xml:space=\"preserve\">").unwrap();
        let text = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#x27;", "'"),
            ("&amp;", "&"),
        ]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        if let Some(command) = text.strip_prefix("$ ") {
            commands.push(Shown {
                line: index + 1,
                command: format!("{{ {command}; }} 2>&1 | expand"),
                output: Vec::new(),
            });
        } else {
            let rate = text.find(" read in ");
            let text = rate.map_or(text.clone(), |at| format!("{} read in ...", &text[..at]));
            commands.last_mut().unwrap().output.push(text);
        }
    }
    assert_eq!(commands.len(), 3, "docs/pictures/make.py draws it anew");
    run_all(picture, &commands);
}

/// A `PATH` that begins with the folder of the program.
#[cfg(unix)]
fn path() -> std::ffi::OsString {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_dedupdb"));
    let folder = program.parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap();
    std::env::join_paths([folder].into_iter().chain(std::env::split_paths(&others))).unwrap()
}

/// A record that cannot be read only changes the exit code of the script.
#[cfg(unix)]
#[test]
fn the_nightly_script_makes_a_backup_after_a_broken_record() {
    let page = read("docs/guide/nightly.md");
    let lines: Vec<&str> = block_lines(&page, "sh").iter().map(|line| line.1).collect();
    let script = [
        ("/srv/seen", "seen"),
        ("\"/srv/crawl/$(date +%F).jsonl.zst\"", "today.jsonl"),
        ("/mnt/backups", "backups"),
    ]
    .iter()
    .fold(lines.join("\n"), |script, (place, here)| {
        assert!(script.contains(place), "{place}");
        script.replace(place, here)
    });
    let sandbox = Sandbox::new();
    sandbox.write(
        "today.jsonl",
        "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\"",
    );
    fs::create_dir(sandbox.path("backups")).unwrap();
    let mut shell = sandbox.shell(&script);
    Ran::of(shell.env("PATH", path()).output().unwrap()).expect(2);
    let backups: Vec<PathBuf> = fs::read_dir(sandbox.path("backups"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(backups.len(), 1, "{backups:?}");
    let backup = backups[0].to_str().unwrap();
    let listed = sandbox.run(&["--store", backup, "list"]).expect(0);
    assert_eq!(listed.stdout, "a\n");
}

/// Runs commands one after another in a folder with the test data, and compares what they print.
#[cfg(unix)]
fn run_all(page: &str, commands: &[Shown]) {
    let path = path();
    let sandbox = Sandbox::new();
    sandbox.copy_testdata("testdata");
    for shown in commands {
        let mut shell = sandbox.shell(&format!("exec 2>&1; {}", shown.command));
        let ran = Ran::of(shell.env("PATH", &path).output().unwrap());
        assert!(
            fits(&shown.output, &ran.lines()),
            "{page}:{}: {}\nis shown to print\n{}\nand prints\n{}",
            shown.line,
            shown.command,
            shown.output.join("\n"),
            ran.stdout
        );
    }
}

/// Whether the options in a help text include this one.
fn has_option(help: &str, option: &str) -> bool {
    let lines = help.lines().map(str::trim_start);
    let mut listed = lines.filter(|line| line.starts_with('-'));
    listed.any(|line| line.split([' ', ',']).any(|word| word == option))
}

/// Every command and option in blocks of shell commands and in the help's examples exists.
#[test]
fn examples_use_what_there_is() {
    let sandbox = Sandbox::new();
    let help = |verb: &[&str]| {
        let ran = sandbox.run(&[verb, &["--help"]].concat());
        assert_eq!(ran.code, Some(0), "there is a command {verb:?}");
        ran.stdout
    };
    let mut examples: Vec<String> = Vec::new();
    for page in pages() {
        let text = read(&page);
        for language in ["sh", "console"] {
            let lines = block_lines(&text, language).into_iter();
            examples.extend(lines.map(|(_, line)| line.to_owned()));
        }
    }
    let verbs = crate::help::verbs(&sandbox);
    for verb in &verbs {
        let mut texts = vec![help(&[verb])];
        let parts = crate::help::listed(&texts[0]);
        texts.extend(parts.iter().map(|part| help(&[verb, part])));
        for text in &texts {
            let (_, after) = text.split_once("\nExamples:\n").unwrap();
            let lines = after.lines().take_while(|line| !line.is_empty());
            examples.extend(lines.map(str::to_owned));
        }
    }
    let mut checked = 0;
    for example in &examples {
        let command = example.split(" #").next().unwrap();
        let parts = command.split(['|', '&', ';', '(']).map(str::trim);
        for part in parts {
            let part = part.strip_prefix("$ ").unwrap_or(part);
            let Some(arguments) = part.strip_prefix("dedupdb ") else {
                continue;
            };
            let words: Vec<&str> = arguments.split_whitespace().collect();
            let mut words_after = words
                .iter()
                .skip_while(|word| verbs.iter().all(|verb| verb != *word));
            let verb = words_after.next();
            let verb = verb.unwrap_or_else(|| panic!("a command in {example:?}"));
            let mut help_text = help(&[verb]);
            if help_text.contains("\nCommands:\n")
                && let Some(part) = words_after.next()
            {
                help_text = help(&[verb, part]);
            }
            for word in words.iter().filter(|word| word.starts_with("--")) {
                let option = word.split('=').next().unwrap();
                let has = has_option(&help_text, option);
                assert!(has, "{option} of {verb} in {example:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked} options");
}

#[test]
fn the_wildcards_stand_for_anything_and_nothing_else_does() {
    assert!(line_fits("a ... s, ... kB", "a 0.1 s, 12 kB"));
    assert!(!line_fits("a ... s", "a 0.1 s, 12 kB"));
    assert!(!line_fits("a b", "a  b"));
    let shown = |lines: &[&str]| -> Vec<String> { lines.iter().map(|&l| l.to_owned()).collect() };
    assert!(fits(&shown(&["a", "...", "d"]), &["a", "b", "c", "d"]));
    assert!(fits(&shown(&["a", "...", "b"]), &["a", "b"]));
    assert!(!fits(&shown(&["a", "..."]), &["b"]));
    assert!(!fits(&shown(&["a"]), &["a", "b"]));
    assert!(!fits(&shown(&["a", "b"]), &["a"]));
}
