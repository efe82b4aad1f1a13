//! The help of `--help`: every option, in two columns.
//!
//! By itself, clap puts each description below its option, and a blank line below that.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};

/// Returns the error or, if `typed` asks for all of a command's help, that help in two columns.
pub(super) fn in_columns(program: Command, typed: &[OsString], error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    let Some(path) = path_of(&program, typed) else {
        return error;
    };
    let arguments = [program.get_name().to_owned()];
    let arguments = arguments.into_iter().chain(path.clone());
    let arguments: Vec<String> = arguments.chain(["-h".to_owned()]).collect();
    match columns(program, &path).try_get_matches_from(arguments) {
        Err(columns) => columns,
        Ok(_) => error,
    }
}

/// The names that lead to the command whose whole help `typed` asks for, such as `eval` and `recall`.
fn path_of(program: &Command, typed: &[OsString]) -> Option<Vec<String>> {
    let shown = named(program.clone(), "").try_get_matches_from(typed);
    let shown = shown.err()?.to_string();
    let path = shown.trim().strip_prefix(MARK)?.split_whitespace();
    let path: Vec<String> = path.map(str::to_owned).collect();
    let mut names = path.iter();
    let found = names.try_fold(program, |at, name| at.find_subcommand(name));
    found.map(|_| path)
}

/// What the names of a command follow.
const MARK: &str = "path:";

/// The command, with the names that lead to it in place of its whole help, and nothing in place of the brief one.
fn named(command: Command, path: &str) -> Command {
    let command = command
        .help_template("{after-help}")
        .after_help("")
        .after_long_help(format!("{MARK} {path}"));
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        named(below, &path)
    })
}

/// The command, with the whole help in place of the brief one of the command at `path`: clap sets that in columns.
fn columns(command: Command, path: &[String]) -> Command {
    let command = command.mut_args(whole);
    match path.split_first() {
        Some((name, path)) => command.mut_subcommand(name, |below| columns(below, path)),
        None => shown(command),
    }
}

fn whole(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).cloned();
    arg.help(help.unwrap_or_default()).hide_short_help(false)
}

fn shown(command: Command) -> Command {
    let about = command.get_long_about().or(command.get_about()).cloned();
    let after = command.get_after_long_help();
    let after = after.or(command.get_after_help()).cloned();
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .help_heading(None)
        .help("Print help (see a summary with '-h')");
    command
        .about(about.unwrap_or_default())
        .after_help(after.unwrap_or_default())
        .disable_help_flag(true)
        .arg(help)
}
