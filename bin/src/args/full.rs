//! The help of `--help`: every option, in two columns.
//!
//! By itself, clap puts each description below its option, and a blank line below that, if `-h` says less.

use std::ffi::OsString;

use clap::builder::{PossibleValue, StyledStr};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};

/// Returns the error or, if `typed` asks for all of a command's help, that help in two columns.
pub(super) fn in_columns(program: Command, typed: &[OsString], error: clap::Error) -> clap::Error {
    let is_whole = error.kind() == ErrorKind::DisplayHelp && error.to_string().contains(SUMMARY);
    if !is_whole {
        return error;
    }
    match only_whole(program).try_get_matches_from(typed) {
        Err(columns) => columns,
        Ok(_) => error,
    }
}

/// What clap says of `-h` in the help of `--help` only.
const SUMMARY: &str = "(see a summary with '-h')";

/// The program, with the whole help in place of the brief one: clap sets that in columns.
fn only_whole(program: Command) -> Command {
    let about = long_about(&program);
    with_whole(program)
        .about(about)
        .mut_subcommands(only_whole_below)
}

/// The same for a command. A list of commands shows what `about` says, so the whole is in another place.
fn only_whole_below(command: Command) -> Command {
    let about = long_about(&command);
    with_whole(command)
        .before_help(about)
        .help_template("{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}")
        .mut_subcommands(only_whole_below)
}

fn long_about(command: &Command) -> StyledStr {
    let about = command.get_long_about().or(command.get_about());
    about.cloned().unwrap_or_default()
}

fn with_whole(command: Command) -> Command {
    let after = command.get_after_long_help();
    let after = after.or(command.get_after_help()).cloned();
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help_heading(None)
        .help(format!("Print help {SUMMARY}"));
    command
        .long_about(None)
        .after_help(after.unwrap_or_default())
        .after_long_help(None)
        .mut_args(whole)
        .disable_help_flag(true)
        .arg(help)
}

/// The argument with all of its help, and its values without theirs, which clap would put on lines of their own.
fn whole(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).cloned();
    let help = help.unwrap_or_default();
    let values = arg.get_possible_values();
    let arg = arg.long_help(None).hide_short_help(false);
    if values.iter().all(|value| value.get_help().is_none()) {
        return arg.help(help);
    }
    let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    arg.help(format!("{help} [possible values: {}]", values.join(", ")))
        .hide_possible_values(true)
}
