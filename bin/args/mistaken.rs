//! Hints for arguments that are missing, and for those of other programs.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::Args;
use crate::output::shell_word;

/// Each command, and what other programs call it.
const COMMANDS: [(&str, &[&str]); 13] = [
    (
        "add",
        &["import", "index", "ingest", "insert", "scan", "update"],
    ),
    (
        "query",
        &["ask", "find", "lookup", "match", "search", "similar"],
    ),
    ("remove", &["del", "delete", "forget", "rm"]),
    ("list", &["keys", "ls"]),
    ("pairs", &["dups", "dupes", "duplicates"]),
    ("clusters", &["cluster", "group", "groups"]),
    ("dedup", &["clean", "dedupe", "deduplicate"]),
    ("init", &["create", "new"]),
    ("compact", &["optimize", "vacuum"]),
    ("stats", &["info", "status"]),
    ("check", &["fsck", "test", "verify"]),
    ("explain", &["compare", "diff"]),
    ("salvage", &["recover", "repair"]),
];

/// Commands of other programs that have no counterpart, and what to do instead.
const OTHERS: [(&str, &[&str]); 6] = [
    (
        "a backup is a store: use it with --store BACKUP, or copy its folder to the place of the store while no process \
         uses that",
        &["restore"],
    ),
    (
        "to begin again, make another store: `dedupdb --store NEW init`",
        &["reset"],
    ),
    (
        "use `dedupdb --json list` for the documents, or `dedupdb matrix` for signatures",
        &["export"],
    ),
    ("use `dedupdb dedup FOLDER --move-to DIR`", &["move", "mv"]),
    ("use `dedupdb dedup --undo DIR`", &["undo"]),
    ("use `dedupdb --version`", &["version"]),
];

/// Commands that are about the whole store, and so take no names.
const OF_STORE: [&str; 9] = [
    "check", "clusters", "compact", "init", "list", "pairs", "reindex", "stats", "tune",
];

/// Each option, a value for it, and what other programs call it.
const OPTIONS: [(&str, &str, &[&str]); 10] = [
    (
        "shingling",
        "word:3",
        &[
            "--n",
            "--k",
            "--ngram",
            "--ngram-size",
            "--ngrams",
            "--shingle",
            "--shingle-size",
            "--shingles",
        ],
    ),
    (
        "permutations",
        "128",
        &["--num-hashes", "--num-perm", "--num-perms", "--perm"],
    ),
    ("bands", "18x7", &["--b", "--num-bands", "--r", "--rows"]),
    (
        "threads",
        "4",
        &["-j", "--jobs", "--num-proc", "--num-workers", "--workers"],
    ),
    (
        "output",
        "OUTPUT",
        &["--out", "--output-dir", "--output-file"],
    ),
    ("store", "DIR", &["-s", "--database", "--db", "--index"]),
    (
        "threshold",
        "0.8",
        &[
            "-t",
            "--jaccard",
            "--jaccard-threshold",
            "--min-similarity",
            "--similarity",
        ],
    ),
    (
        "limit",
        "5",
        &["-k", "-n", "--count", "--max", "--top", "--top-k"],
    ),
    (
        "text-field",
        "NAME",
        &[
            "--column",
            "--field",
            "--text-col",
            "--text-column",
            "--text-key",
        ],
    ),
    (
        "id-field",
        "NAME",
        &[
            "--id",
            "--id-col",
            "--id-column",
            "--id-key",
            "--key-field",
            "--key-column",
        ],
    ),
];

/// Returns the error, or one line that says what to do.
pub(super) fn explained(error: clap::Error) -> clap::Error {
    let kind = error.kind();
    let what = match kind {
        ErrorKind::MissingRequiredArgument => missing(&error),
        ErrorKind::ArgumentConflict => conflict(&error),
        ErrorKind::InvalidSubcommand => command(&error),
        ErrorKind::UnknownArgument => option(&error, &Args::command()),
        ErrorKind::InvalidValue => no_store(&error),
        _ => None,
    };
    match what {
        Some(what) => clap::Error::raw(kind, what + "\n"),
        None if kind == ErrorKind::UnknownArgument => without_odd_tips(error),
        None => error,
    }
}

/// A hint for a missing argument that has several forms.
fn missing(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_output = |argument: &String| argument.starts_with("--output ");
    match &missing[..] {
        [only] if is_output(only) => {
            let more = if is_of(error, "dedup") {
                ", or move what would be dropped aside with --move-to DIR"
            } else {
                ""
            };
            Some(format!("name what to write with -o OUTPUT, or -o - for standard output{more}"))
        }
        all if all.iter().any(is_output) && is_of(error, "dedup") => Some(
            "name what to read, and give --output or --move-to: `dedupdb dedup INPUT -o OUTPUT`, or `dedupdb dedup \
             FOLDER --move-to DIR`"
                .to_owned(),
        ),
        [only] if only == "--missing" && is_of(error, "remove") => {
            Some("--force goes with --missing only".to_owned())
        }
        _ if is_of(error, "remove") => Some(
            "say what to remove: KEYs, --keys-from FILE, --prefix PREFIX, --missing or --older-than AGE".to_owned(),
        ),
        _ => None,
    }
}

/// A hint for two options that do not go together.
fn conflict(error: &clap::Error) -> Option<String> {
    let named = [ContextKind::InvalidArg, ContextKind::PriorArg];
    let named = named.map(|kind| {
        error
            .get(kind)
            .map_or_else(String::new, ToString::to_string)
    });
    let is_named = |option: &str| named.iter().any(|named| named.contains(option));
    if !is_of(error, "dedup") {
        return None;
    }
    if is_named("--undo ") && is_named("[INPUT]") {
        return Some("leave INPUT out: `dedupdb dedup --undo DIR`".to_owned());
    }
    (is_named("--dry-run") && is_named("--output ")).then(|| {
        "--dry-run goes with --move-to and --undo: for a folder, use `--move-to DIR --dry-run`; for records, write them \
         all, with the verdict on each, with --mark dup"
            .to_owned()
    })
}

/// What to do about a store without a name.
fn no_store(error: &clap::Error) -> Option<String> {
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let value = error.get(ContextKind::InvalidValue);
    let is_empty = value.is_none_or(|value| value.to_string().is_empty());
    let from_outside = std::env::var_os("DEDUPDB_STORE").is_some_and(|folder| folder.is_empty());
    (argument.starts_with("--store ") && is_empty && from_outside)
        .then(|| "DEDUPDB_STORE is empty; unset it, or let it name a folder".to_owned())
}

/// A hint for a name that other programs have for a command.
fn command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_typed = |(_, others): &&(&str, &[&str])| others.contains(&&**typed);
    if let Some((advice, _)) = OTHERS.iter().find(is_typed) {
        return Some(format!("there is no command {typed:?}; {advice}"));
    }
    let (command, _) = COMMANDS.iter().find(is_typed)?;
    Some(format!(
        "there is no command {typed:?}; use `dedupdb {command}`, and see `dedupdb {command} --help`"
    ))
}

/// A hint for an option that does not exist.
fn option(error: &clap::Error, root: &Command) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut commands = root.get_subcommands();
    let command = commands.find(|command| is_of(error, command.get_name()))?;
    let name = command.get_name();
    if !typed.starts_with('-') && OF_STORE.contains(&name) {
        return Some(of_whole_store(typed, name));
    }
    if matches!(&**typed, "-r" | "-R" | "--recursive") {
        return Some(format!(
            "leave out {typed}: a folder is always read with the folders in it"
        ));
    }
    if let ("query", "--text") = (name, &**typed) {
        return Some(
            "give a text on standard input: `echo 'some text' | dedupdb query -`".to_owned(),
        );
    }
    if let ("pairs", "--sort") = (name, &**typed) {
        return Some(
            "sort the lines with another program: `dedupdb pairs | sort -t$'\\t' -k3,3rn`"
                .to_owned(),
        );
    }
    let plain = typed.replace('_', "-");
    if matches!(&*plain, "--delimiter" | "--sep" | "--separator") {
        return Some(format!(
            "there is no {typed}: commas separate the cells of .csv files, and tabs those of .tsv files; convert others"
        ));
    }
    if matches!(&*plain, "--delete" | "--in-place" | "--inplace") && name == "dedup" {
        return Some(format!(
            "there is no {typed}: `dedupdb dedup FOLDER --move-to DIR` moves duplicates to another folder, and \
             `dedupdb dedup FILE -o OUTPUT` writes another file"
        ));
    }
    let is_meant = |ours: &str, others: &[&str]| {
        plain.strip_prefix("--") == Some(ours) || others.contains(&&*plain)
    };
    let (ours, example, _) = OPTIONS
        .iter()
        .find(|(ours, _, others)| is_meant(ours, others))?;
    let value = value(ours, typed).unwrap_or_else(|| (*example).to_owned());
    let mut known = command.get_arguments().chain(root.get_arguments());
    let has_ours =
        known.any(|argument| argument.get_long() == Some(ours) && !argument.is_hide_set());
    match (*ours, name) {
        _ if has_ours => Some(format!(
            "{typed} is called --{ours} here: `--{ours} {value}`"
        )),
        ("threshold", "add") => Some(format!(
            "the threshold is that of the store: make the store with `dedupdb init --threshold {value}`, or give \
             --threshold to `query`, `pairs` or `clusters`"
        )),
        (
            "shingling" | "permutations" | "bands",
            "add" | "query" | "pairs" | "clusters" | "reindex" | "dedup",
        ) => Some(format!(
            "a store has its own parameters: make it with `dedupdb init --{ours} {value}`"
        )),
        ("limit", "pairs" | "clusters" | "list") => Some(format!(
            "{name} lists all; for the first ones, `dedupdb {name} | head -n {value}`"
        )),
        ("output", "pairs" | "clusters" | "list" | "query") => Some(format!(
            "{name} prints to standard output: `dedupdb {name} > {value}`"
        )),
        _ => None,
    }
}

/// What to do about a name that a command does not take, because it is about the whole store.
fn of_whole_store(typed: &str, name: &str) -> String {
    let word = shell_word(typed);
    let has_store = std::env::var_os("DEDUPDB_STORE").is_some() || typed_value("--store").is_some();
    match name {
        "list" if has_store => {
            format!(
                "list takes no names; for keys that begin with one: `dedupdb list --prefix {word}`"
            )
        }
        _ if has_store => {
            format!("{name} is about the whole store and takes no names; leave out {word}")
        }
        _ if Path::new(typed).is_file() => format!(
            "{name} is about a store; put the file into one first: `dedupdb add {word}`, then `dedupdb {name}`"
        ),
        _ => format!("name the store with --store: `dedupdb --store {word} {name}`"),
    }
}

/// The value that was typed for another program's option, in the form of our option.
fn value(ours: &str, typed: &str) -> Option<String> {
    let value = typed_value(typed)?;
    match ours {
        "shingling" if value.parse::<u8>().is_ok() => Some(format!("word:{value}")),
        "bands" if value.parse::<u32>().is_ok() => {
            let [bands, rows] = [["--b", "--num-bands"], ["--r", "--rows"]];
            let number = |names: [&str; 2]| names.into_iter().find_map(typed_value);
            Some(format!("{}x{}", number(bands)?, number(rows)?))
        }
        _ => Some(shell_word(&value)),
    }
}

/// The value after an option on the command line.
fn typed_value(option: &str) -> Option<String> {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let is_option = |word: &str| word.replace('_', "-") == option.replace('_', "-");
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((name, value)) if is_option(name) => return Some(value.to_owned()),
            None if is_option(&word) => {
                let next = words.next()?;
                return (!next.starts_with('-')).then_some(next);
            }
            _ => {}
        }
    }
    None
}

/// The error without tips that have nothing to do with what was typed.
fn without_odd_tips(mut error: clap::Error) -> clap::Error {
    let typed = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(typed)) => typed.clone(),
        _ => return error,
    };
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(suggested)) => suggested.clone(),
        _ => String::new(),
    };
    if !is_slip(&typed, suggested.split(' ').next().unwrap_or_default()) {
        error.remove(ContextKind::SuggestedArg);
    }
    // This one says how to name a file that begins with a dash.
    if !Path::new(&typed).exists() {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Whether two words differ in at most two letters at one place, or one begins with the other.
fn is_slip(a: &str, b: &str) -> bool {
    let same = |(a, b): &(char, char)| a == b;
    let front = a.chars().zip(b.chars()).take_while(same).count();
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (rest_a, rest_b) = (&a[front..], &b[front..]);
    let back = rest_a.iter().rev().zip(rest_b.iter().rev());
    let back = back.take_while(|(a, b)| a == b).count();
    let differing = rest_a.len().max(rest_b.len()) - back;
    front > 2 && (rest_a.is_empty() || rest_b.is_empty()) || differing <= 2
}

/// Whether the error is about this command.
fn is_of(error: &clap::Error, command: &str) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    usage.is_some_and(|usage| usage.contains(&format!("dedupdb {command} ")))
}
