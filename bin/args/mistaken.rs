//! What to do about arguments that are missing, or are those of other programs.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What other programs call a command, and the command.
const COMMANDS: [(&str, &[&str]); 8] = [
    ("add", &["import", "index", "ingest", "insert", "scan"]),
    ("query", &["ask", "find", "lookup", "match", "search"]),
    ("remove", &["del", "delete", "forget", "rm"]),
    ("list", &["keys", "ls"]),
    ("pairs", &["dups", "dupes", "duplicates"]),
    ("dedup", &["clean", "dedupe", "deduplicate"]),
    ("stats", &["info", "status"]),
    ("check", &["fsck", "test", "verify"]),
];

/// The same error, or one line that says what to do.
pub(super) fn explained(error: clap::Error) -> clap::Error {
    let kind = error.kind();
    let what = match kind {
        ErrorKind::MissingRequiredArgument => output(&error),
        ErrorKind::InvalidSubcommand => command(&error),
        ErrorKind::UnknownArgument => option(&error),
        _ => None,
    };
    match what {
        Some(what) => clap::Error::raw(kind, what + "\n"),
        None => error,
    }
}

/// What to do where only the output is missing.
fn output(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_output = matches!(&missing[..], [only] if only.starts_with("--output "));
    let more = if is_of(error, "dedup") {
        ", or move what would be dropped aside with --move-to DIR"
    } else {
        ""
    };
    is_output
        .then(|| format!("name what to write with -o OUTPUT, or -o - for standard output{more}"))
}

/// Which command is meant by a name that other programs have for it.
fn command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let (command, _) = COMMANDS
        .iter()
        .find(|(_, others)| others.contains(&&**typed))?;
    Some(format!(
        "there is no command {typed:?}; use `dedupdb {command}`, and see `dedupdb {command} --help`"
    ))
}

/// What there is instead of an option.
fn option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    match &**typed {
        "-r" | "-R" | "--recursive" => {
            Some(format!("leave out {typed}: a folder is always read with the folders in it"))
        }
        "--threshold" if is_of(error, "add") => Some(
            "the threshold is that of the store: make the store with `dedupdb init --threshold SHARE`, or give \
             --threshold to `query`, `pairs` or `clusters`"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Whether the error is one of a command.
fn is_of(error: &clap::Error, command: &str) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    usage.is_some_and(|usage| usage.contains(&format!("dedupdb {command} ")))
}
