//! The help of `--help`: every option, in two columns.
//!
//! Of its own, clap puts each description below its option, and a blank line below that.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};

/// Returns the error or, if `typed` asks for all of a command's help, that help in two columns.
pub(super) fn in_columns(program: Command, typed: &[OsString], error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::DisplayHelp {
        return error;
    }
    let Some(command) = command_of(program.clone(), typed) else {
        return error;
    };
    let help = command.split_whitespace().chain(["-h"]);
    match columns(program).try_get_matches_from(help) {
        Err(columns) => columns,
        Ok(_) => error,
    }
}

/// The name of the command whose whole help `typed` asks for, such as `dedupdb eval recall`.
fn command_of(program: Command, typed: &[OsString]) -> Option<String> {
    let name = program.get_name().to_owned();
    let shown = named(program, &name).try_get_matches_from(typed);
    let name = shown.err()?.to_string();
    (!name.trim().is_empty()).then_some(name)
}

/// The command, with its name in place of its whole help and nothing in place of the brief one.
fn named(command: Command, name: &str) -> Command {
    let command = command
        .help_template("{after-help}")
        .after_help("")
        .after_long_help(name.to_owned());
    command.mut_subcommands(|below| {
        let name = format!("{name} {}", below.get_name());
        named(below, &name)
    })
}

/// The command, whose brief help is the whole one: clap sets that in columns.
fn columns(command: Command) -> Command {
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
        .mut_args(whole)
        .mut_subcommands(columns)
        .disable_help_flag(true)
        .arg(help)
}

fn whole(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).cloned();
    arg.help(help.unwrap_or_default()).hide_short_help(false)
}
