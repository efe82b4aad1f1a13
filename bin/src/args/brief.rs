//! The help of `-h`: the options that most people need, on one screen.

use clap::{Arg, Command};

/// Options that only `--help` describes.
const SELDOM: [&str; 34] = [
    "at_least",
    "drop_above",
    "encoding",
    "escaped",
    "exclude",
    "false_candidates",
    "follow",
    "gap",
    "gitignore",
    "id_scope",
    "ignore",
    "include",
    "keys_from",
    "max_document",
    "memory",
    "min_count",
    "min_words",
    "no_quoted",
    "permutations",
    "pre",
    "pre_glob",
    "pre_time",
    "prefer",
    "print0",
    "protect",
    "shingling",
    "shortest",
    "skip_unreadable",
    "skipped",
    "strict",
    "temp_limit",
    "threads",
    "verbose",
    "wait",
];

/// Those of them that most people need of one command.
const OFTEN: [(&str, &str); 7] = [
    ("add", "no_quoted"),
    ("add", "pre"),
    ("move", "keys_from"),
    ("move", "protect"),
    ("passages", "at_least"),
    ("passages", "gap"),
    ("passages", "ignore"),
];

/// The program, of which `-h` of a command describes only some options.
pub(super) fn brief(program: Command) -> Command {
    let name = program.get_name().to_owned();
    described(program, &name)
}

/// The command of this name, with those below it.
fn described(command: Command, name: &str) -> Command {
    let verb = command.get_name().to_owned();
    let command = command.mut_args(|arg| brief_arg(arg, &verb));
    let command = command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        described(below, &name)
    });
    let has_more = command.get_arguments().any(Arg::is_hide_short_help_set);
    if !has_more || command.has_subcommands() {
        return command;
    }
    let long = command.get_after_long_help().or(command.get_after_help());
    let long = long.cloned().unwrap_or_default();
    let note = format!("`{name} --help` describes all options, with examples.");
    command.after_long_help(long).after_help(note)
}

fn brief_arg(arg: Arg, verb: &str) -> Arg {
    let name = arg.get_id().as_str();
    let is_seldom = SELDOM.contains(&name) && !OFTEN.contains(&(verb, name));
    arg.hide_short_help(is_seldom)
}
