//! Help, the manual, completions, the version, and mistyped commands.

use crate::sandbox::{Ran, Sandbox};

/// The commands that help lists.
pub(crate) fn verbs(sandbox: &Sandbox) -> Vec<String> {
    listed(&sandbox.run(&["--help"]).expect(0).stdout)
}

/// The headings of lists of commands: those of the program's groups, and that of a command's subcommands.
const HEADINGS: [&str; 6] = [
    "\nFind what is similar:\n",
    "\nClean a corpus or a folder:\n",
    "\nKeep a store:\n",
    "\nMeasure:\n",
    "\nWork with other programs:\n",
    "\nCommands:\n",
];

/// The commands that a help text lists, if any.
pub(crate) fn listed(help: &str) -> Vec<String> {
    let lists = HEADINGS
        .iter()
        .filter_map(|heading| help.split_once(heading));
    let list = lists.flat_map(|(_, list)| list.lines().take_while(|line| !line.is_empty()));
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_owned).collect()
}

/// The lines of a screen.
const SCREEN: usize = 50;

/// The columns of a screen.
const COLUMNS: &str = "100";

#[test]
fn every_verb_has_help_with_examples() {
    let sandbox = Sandbox::new();
    let verbs = verbs(&sandbox);
    assert!(verbs.len() >= 13, "{verbs:?}");
    let help = sandbox.run(&["-h"]).expect(0).stdout;
    let (_, clean) = help.split_once(HEADINGS[1]).unwrap();
    let clean = clean.lines().take_while(|line| !line.is_empty());
    let clean: Vec<&str> = clean
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(clean, ["dedup", "decontaminate", "move"]);
    for verb in &verbs {
        let help = check_help(&sandbox, &[verb]);
        for part in listed(&help) {
            check_help(&sandbox, &[verb, &part]);
        }
    }
    assert!(
        sandbox
            .run(&["--version"])
            .expect(0)
            .stdout
            .starts_with("dedupdb ")
    );
}

/// Checks the help of a command, and returns it.
fn check_help(sandbox: &Sandbox, command: &[&str]) -> String {
    let ran = sandbox.run(&[command, &["--help"]].concat()).expect(0);
    let help = ran.stdout;
    let name = command.join(" ");
    assert!(help.contains("Examples:\n  "), "{name} has examples");
    assert!(help.contains("\nExit codes: 0 "), "{name} has exit codes");
    assert!(help.contains(&format!("dedupdb {name}")), "{name}");
    assert!(ran.stderr.is_empty());
    let brief = sandbox
        .run(&[command, &["-h"]].concat())
        .expect(0)
        .lines()
        .len();
    assert!(brief <= SCREEN, "dedupdb {name} -h has {brief} lines");
    help
}

#[test]
fn commands_that_write_to_a_store_name_the_exit_code_of_a_busy_one() {
    let sandbox = Sandbox::new();
    for verb in verbs(&sandbox) {
        let help = sandbox.run(&[&verb, "--help"]).expect(0).stdout;
        let (_, codes) = help.split_once("\nExit codes: ").unwrap();
        let writes = [
            "add", "dedup", "move", "remove", "rename", "init", "check", "reindex", "compact",
            "merge", "load", "serve",
        ];
        assert_eq!(
            codes.contains(" 75 "),
            writes.contains(&&*verb),
            "{verb}: {codes}"
        );
    }
}

#[test]
fn a_mistyped_command_gets_a_suggestion() {
    let ran = Sandbox::new().run(&["quary", "x"]).expect(2);
    assert!(ran.stderr.contains("'query'"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
    Sandbox::new().run(&[]).expect(2);
    Sandbox::new().run(&["list", "--nonsense"]).expect(2);
}

#[test]
fn global_options_fit_before_and_after_the_command() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&[
            "--store",
            "a",
            "--json",
            "--quiet",
            "--threads",
            "1",
            "init",
        ])
        .expect(0);
    sandbox
        .run(&[
            "init",
            "--store",
            "b",
            "--json",
            "--quiet",
            "--threads",
            "1",
        ])
        .expect(0);
    assert!(sandbox.path("a").is_dir() && sandbox.path("b").is_dir());
}

#[test]
fn completions_know_every_verb() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.run(&["completions", shell]).expect(0).stdout;
        for word in verbs(&sandbox).iter().map(String::as_str) {
            assert!(script.contains(word), "{word} in {shell}");
        }
        assert!(script.contains("older-than"), "options in {shell}");
    }
    let ran = sandbox.run(&["completions", "cmd"]).expect(2);
    assert!(ran.stderr.contains("possible values: bash"));
}

/// What bash completes a line to. `None` without bash.
#[cfg(unix)]
fn completed(sandbox: &Sandbox, words: &[&str]) -> Option<Vec<String>> {
    if !std::path::Path::new("/bin/bash").exists() {
        return None;
    }
    sandbox.write(
        "complete.bash",
        "source ./script\n\
         COMP_WORDS=(dedupdb \"$@\"); COMP_CWORD=$#\n\
         _dedupdb dedupdb \"${@: -1}\" \"${COMP_WORDS[$#-1]}\" 2> /dev/null\n\
         printf '%s\\n' \"${COMPREPLY[@]}\"\n",
    );
    let script = sandbox.run(&["completions", "bash"]).expect(0).stdout;
    sandbox.write("script", script);
    let output = std::process::Command::new("/bin/bash")
        .current_dir(sandbox.path(""))
        .args(["--norc", "complete.bash"])
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().filter(|line| !line.is_empty());
    Some(lines.map(str::to_owned).collect())
}

#[test]
#[cfg(unix)]
fn bash_completes_paths_where_paths_go() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/file.txt", "");
    let completed = |words: &[&str]| completed(&sandbox, words);
    // An empty answer lets bash look for files itself.
    for words in [
        &["add", ""][..],
        &["add", "f"],
        &["show", ""],
        &["eval", "bands", ""],
    ] {
        assert!(
            completed(words).is_none_or(|found| found.is_empty()),
            "{words:?}"
        );
    }
    for (words, expected) in [
        (&["backup", ""][..], "folder"),
        (&["merge", "--json", "f"], "folder"),
        (&["add", "--uni"], "--unique"),
        (&["pai"], "pairs"),
        (&["eval", "re"], "recall"),
        (&["completions", "ba"], "bash"),
        (&["dedup", "--keep", "lon"], "longest"),
        (&["init", "--family", "mur"], "murmur"),
    ] {
        assert!(
            completed(words).is_none_or(|found| found == [expected]),
            "{words:?}"
        );
    }
}

#[test]
fn the_manual_has_a_page_for_every_verb() {
    let sandbox = Sandbox::new();
    sandbox.run(&["man", "--out", "pages/man1"]).expect(0);
    let page = |name: &str| std::fs::read_to_string(sandbox.path("pages/man1").join(name)).unwrap();
    for verb in verbs(&sandbox) {
        let text = page(&format!("dedupdb-{verb}.1"));
        for part in [".TH ", ".SH NAME", ".SH EXAMPLES", ".SH \"EXIT STATUS\""] {
            assert!(text.contains(part), "{part} in the page of {verb}:\n{text}");
        }
        assert_eq!(sandbox.run(&["man", &verb]).expect(0).stdout, text);
    }
    assert!(
        page("dedupdb-add.1").contains(".SH \"SEE ALSO\"\nIn the documentation: reference/add.md")
    );
    // Help leaves none out.
    let pages = std::fs::read_dir(sandbox.path("pages/man1")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let own = names.filter(|name| name.matches('-').count() == 1);
    assert_eq!(own.count(), verbs(&sandbox).len());
    let nested = page("dedupdb-eval-recall.1");
    assert!(nested.contains(".SH EXAMPLES"), "{nested}");
    assert_eq!(
        sandbox.run(&["man", "eval-recall"]).expect(0).stdout,
        nested
    );
    let overview = page("dedupdb.1");
    assert_eq!(sandbox.run(&["man"]).expect(0).stdout, overview);
    assert!(overview.contains("dedupdb\\-query(1)"), "{overview}");
    let ran = sandbox.run(&["man", "nonsense"]).expect(2);
    assert!(ran.stderr.contains("\"nonsense\""), "{}", ran.stderr);
    sandbox.run(&["man", "query", "--out", "x"]).expect(2);
}

/// Every help text of the program, by command.
fn helps(sandbox: &Sandbox, columns: &str) -> Vec<(String, String)> {
    let help = |command: &[&str]| {
        let arguments = [command, &["--help"]].concat();
        let mut program = sandbox.command(&arguments);
        let output = program.env("COLUMNS", columns).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        (command.join(" "), help)
    };
    let mut helps = vec![help(&[])];
    for verb in verbs(sandbox) {
        helps.push(help(&[&verb]));
        for part in listed(&helps.last().unwrap().1.clone()) {
            helps.push(help(&[&verb, &part]));
        }
    }
    helps
}

#[test]
fn help_of_every_command_fits_on_three_screens() {
    for (command, help) in helps(&Sandbox::new(), COLUMNS) {
        let lines = help.lines().count();
        assert!(
            lines <= 3 * SCREEN,
            "dedupdb {command} --help has {lines} lines"
        );
    }
}

#[test]
fn help_ends_with_pages_that_exist() {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let mut named = 0;
    for (command, help) in helps(&Sandbox::new(), COLUMNS) {
        let Some((_, pages)) = help.split_once("\nDetails in the documentation: ") else {
            continue;
        };
        assert!(!pages.contains("\n\n"), "{command}: {pages}");
        for page in pages
            .split([' ', ',', '\n'])
            .filter(|it| it.starts_with("reference/"))
        {
            assert!(root.join(page).is_file(), "{command}: {page}");
            named += 1;
        }
    }
    assert!(named > 20, "{named} pages");
}

#[test]
fn help_offers_a_store_where_a_command_uses_it() {
    let sandbox = Sandbox::new();
    let without = [
        "completions",
        "decontaminate",
        "eval accuracy",
        "eval bands",
        "eval shingles",
        "eval time",
        "jaccard",
        "man",
        "map",
        "matrix",
        "move",
        "reduce",
        "salvage",
    ];
    for (command, help) in helps(&sandbox, COLUMNS) {
        let is_offered = help.contains("--store <DIR>");
        assert_eq!(is_offered, !without.contains(&&*command), "{command}");
        let has_default = help.contains("[default: ./.dedupdb]");
        assert_eq!(has_default, is_offered && command != "dedup", "{command}");
    }
    let page = sandbox.run(&["man", "move"]).expect(0).stdout;
    assert!(!page.contains("store\\fR"), "{page}");
}

#[test]
fn help_of_move_speaks_of_moving() {
    let sandbox = Sandbox::new();
    for asked in ["-h", "--help"] {
        let help = sandbox.run(&["move", asked]).expect(0).stdout;
        assert!(!help.to_lowercase().contains("drop "), "{help}");
        assert!(help.contains("[default: longest]"), "{help}");
        let help = sandbox.run(&["dedup", asked]).expect(0).stdout;
        assert!(help.contains("[default: first]"), "{help}");
    }
}

/// Clap's own form of this help has a blank line below each option.
#[test]
fn help_puts_descriptions_beside_options() {
    let sandbox = Sandbox::new();
    let shown = |arguments: &[&str]| {
        let output = sandbox.command(arguments).env("COLUMNS", COLUMNS).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    for command in [&["add"][..], &["eval", "recall"]] {
        let whole = shown(&[command, &["--help"]].concat());
        let has = |option: &str, help: &str| {
            let mut lines = whole.lines().map(str::trim_start);
            lines.any(|line| line.starts_with(option) && line.contains(help))
        };
        assert!(has("--json ", " Print results as JSON"), "{whole}");
        assert!(has("--threads <N> ", " Number of threads"), "{whole}");
        assert!(has("-h, --help ", "(see a summary with '-h')"), "{whole}");
        assert!(!has("--drop-above", ""), "{whole}");
        assert_eq!(shown(&[&["help"], command].concat()), whole);
        assert_eq!(shown(&[command, &["-q", "--help"]].concat()), whole);
        let brief = shown(&[command, &["-qh"]].concat());
        assert_eq!(shown(&[command, &["-h"]].concat()), brief);
        assert!(brief.lines().count() < whole.lines().count(), "{brief}");
    }
    assert!(shown(&["eval", "--help"]).contains("next to the prediction\n  bands "));
    assert!(shown(&["help", "help"]).contains("\nUsage: dedupdb help [COMMAND]"));
    assert_eq!(shown(&["help"]), shown(&["--help"]));
}

#[test]
fn help_fits_terminals_of_sixty_to_a_hundred_and_twenty_columns() {
    let sandbox = Sandbox::new();
    for columns in [60, 80, 120] {
        for (command, help) in helps(&sandbox, &columns.to_string()) {
            for line in help.lines() {
                // Clap breaks neither the usage, nor a word, nor an option and its value.
                let words = line.split_whitespace().count();
                let can_be_divided = words > 2 && !line.starts_with("Usage: ");
                let is_long = line.chars().count() > columns && can_be_divided;
                assert!(!is_long, "{command} at {columns}: {line}");
            }
        }
    }
}

#[test]
fn paragraphs_fill_the_lines_of_a_terminal() {
    let sandbox = Sandbox::new();
    for (command, help) in helps(&sandbox, "60") {
        let (_, after) = help.split_once("\nExamples:\n").unwrap();
        let lines: Vec<&str> = after.lines().collect();
        for pair in lines.windows(2) {
            let starts = |line: &str| line.len() - line.trim_start().len();
            let goes_on = starts(pair[0]) == starts(pair[1]) && starts(pair[0]) != 2;
            let word = pair[1].split_whitespace().next();
            let (Some(word), true) = (word, goes_on && !pair[0].is_empty()) else {
                continue;
            };
            let wanted = pair[0].chars().count() + 1 + word.chars().count();
            assert!(wanted > 60, "{command}: {:?} takes {word:?}", pair[0]);
        }
    }
}

#[test]
fn the_manual_names_the_values_of_options() {
    let page = Sandbox::new().run(&["man", "add"]).expect(0).stdout;
    let (_, synopsis) = page.split_once(".SH SYNOPSIS\n").unwrap();
    let synopsis = synopsis.lines().next().unwrap();
    assert!(
        synopsis.contains(r"[\fB\-\-key\fR \fIKEY\fR]"),
        "{synopsis}"
    );
    assert!(synopsis.ends_with(r"[\fIPATH\fR...]"), "{synopsis}");
    assert!(!synopsis.contains("threads"), "{synopsis}");
}

#[test]
fn a_missing_output_is_asked_for_in_one_line() {
    let sandbox = Sandbox::new();
    for (arguments, message) in [
        (
            &["dedup", "in"][..],
            "name what to write with -o OUTPUT, or -o - for standard output; `dedupdb move` moves files aside\n",
        ),
        (
            &["dedup"],
            "name what to read and what to write: `dedupdb dedup INPUT -o OUTPUT`\n",
        ),
        (
            &["remove"],
            "say what to remove: KEYs, --keys-from FILE, --prefix PREFIX, --missing, --older-than AGE or --unseen-for AGE",
        ),
        (
            &["report"],
            "name what to write with -o OUTPUT, or -o - for standard output\n",
        ),
    ] {
        let ran = sandbox.run(arguments).expect(2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn words_of_other_programs_do_what_they_say() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", crate::sandbox::text(1, 40));
    sandbox.run(&["init", "--num-perm", "64"]).expect(0);
    sandbox.run(&["add", "--jobs", "2", "in"]).expect(0);
    assert_eq!(sandbox.run(&["ls"]).expect(0).stdout, "in/a.txt\n");
    sandbox.run(&["rm", "in/a.txt"]).expect(0);
    sandbox.run(&["dedupe", "in", "-o", "out"]).expect(0);
    // What is only like a word of ours is suggested.
    let told = sandbox.run(&["cluster"]).expect(2).stderr;
    assert!(told.contains("'clusters'"), "{told}");
}

#[test]
fn a_store_without_a_name_is_answered_in_one_line() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["stats"]);
    let ran = Ran::of(command.env("DEDUPDB_STORE", "").output().unwrap()).expect(2);
    let told = "DEDUPDB_STORE is empty; unset it, or let it name a folder\n";
    assert!(ran.stderr.ends_with(told), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn options_of_reindex_for_files_are_apart() {
    let help = Sandbox::new().run(&["reindex", "--help"]).expect(0).stdout;
    let (own, files) = help
        .split_once("\nReading files, for --from and --no-shingles stores:\n")
        .unwrap();
    let (files, _) = files.split_once("\nOptions of every command:\n").unwrap();
    for option in ["--drop-missing", "--format ", "--pre ", "--include "] {
        let option = format!("      {option}");
        assert!(
            files.contains(&option) && !own.contains(&option),
            "{option}: {help}"
        );
    }
    assert!(
        own.contains("      --permutations ") && !own.contains("Inputs:"),
        "{help}"
    );
}

#[test]
fn help_that_cannot_be_written_is_told() {
    for arguments in [&["--version"][..], &["--help"], &["dedup", "--help"]] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dedupdb"));
        let ran = command.args(arguments).stdout(full).output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{told}");
        assert!(told.starts_with("dedupdb: standard output: "), "{told}");
    }
}

#[test]
fn the_reference_names_every_command() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/commands.md");
    let page = std::fs::read_to_string(page).unwrap();
    for verb in verbs(&Sandbox::new()) {
        assert!(page.contains(&format!("`{verb}`")), "{verb}");
    }
}
