//! What is wrong with the arguments, in one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::tips::without_odd_tips;

/// Returns the error, or one line that says what to do.
pub(super) fn explained(error: clap::Error) -> clap::Error {
    let kind = error.kind();
    let what = match kind {
        ErrorKind::MissingRequiredArgument => missing(&error),
        ErrorKind::InvalidValue => no_store(&error),
        _ => None,
    };
    match what {
        Some(what) => clap::Error::raw(kind, what + "\n"),
        None if kind == ErrorKind::UnknownArgument => in_one_line(&without_odd_tips(error)),
        None if error.use_stderr()
            && kind != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            in_one_line(&error)
        }
        None => error,
    }
}

/// The error without the usage, in one line.
fn in_one_line(error: &clap::Error) -> clap::Error {
    let text = error.to_string();
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    let is_said =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut line = String::new();
    for said in lines.take_while(is_said).filter(|line| !line.is_empty()) {
        match said.strip_prefix("tip: ") {
            Some(tip) => line = line + "; " + tip,
            None if line.is_empty() => line += said,
            None => line = line + " " + said,
        }
    }
    clap::Error::raw(error.kind(), line + "; see --help\n")
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
                "; `dedupdb move` moves files aside"
            } else {
                ""
            };
            Some(format!("name what to write with -o OUTPUT, or -o - for standard output{more}"))
        }
        all if all.iter().any(is_output) && is_of(error, "dedup") => {
            Some("name what to read and what to write: `dedupdb dedup INPUT -o OUTPUT`".to_owned())
        }
        [only] if only.starts_with("<PATH>") && is_of(error, "passages") => Some(
            "name the texts to ask about, before --against: it takes all paths that follow it".to_owned(),
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

/// What to do about a store without a name.
fn no_store(error: &clap::Error) -> Option<String> {
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let value = error.get(ContextKind::InvalidValue);
    let is_empty = value.is_none_or(|value| value.to_string().is_empty());
    let from_outside = std::env::var_os("DEDUPDB_STORE").is_some_and(|folder| folder.is_empty());
    (argument.starts_with("--store ") && is_empty && from_outside)
        .then(|| "DEDUPDB_STORE is empty; unset it, or let it name a folder".to_owned())
}

/// Whether the error is about this command.
fn is_of(error: &clap::Error, command: &str) -> bool {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    usage.is_some_and(|usage| usage.contains(&format!("dedupdb {command} ")))
}
