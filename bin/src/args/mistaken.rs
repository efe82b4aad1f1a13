//! Hints for arguments that are missing, and for those of other programs.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::Args;
use super::foreign::{COMMANDS, OF_STORE, OPTIONS, OTHERS, typed_value, value};
use super::tips::without_odd_tips;
use crate::output::shell_word;

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
            "say what to remove: KEYs, --keys-from FILE, --prefix PREFIX, --missing, --older-than AGE or --unseen-for AGE".to_owned(),
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
    if has_ours {
        return Some(format!(
            "{typed} is called --{ours} here: `--{ours} {value}`"
        ));
    }
    of_another_command(ours, name, &value)
}

/// What to do about our option `ours` if the command `name` does not have it.
fn of_another_command(ours: &str, name: &str, value: &str) -> Option<String> {
    match (ours, name) {
        ("threshold", "add") => Some(format!(
            "the threshold is that of the store: make the store with `dedupdb init --threshold {value}`, or give \
             --threshold to `query`, `pairs` or `clusters`"
        )),
        ("bands", "dedup") => Some(format!(
            "for bands of your own, make a store with them: `dedupdb --store NEW init --bands {value}`, then `dedupdb \
             --store NEW dedup ...`"
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

/// Whether the error is about this command.
fn is_of(error: &clap::Error, command: &str) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    usage.is_some_and(|usage| usage.contains(&format!("dedupdb {command} ")))
}
