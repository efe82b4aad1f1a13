//! What help says of `--store`, which every command takes and some do not use.

use clap::{Arg, Command};

/// Commands and experiments that use no store, or name it in another way.
const STORELESS: [&str; 13] = [
    "accuracy",
    "bands",
    "completions",
    "decontaminate",
    "jaccard",
    "man",
    "map",
    "matrix",
    "move",
    "reduce",
    "salvage",
    "shingles",
    "time",
];

/// The program, whose commands without a store hide the option.
pub(super) fn without_store(program: Command) -> Command {
    let is_store = |arg: &&Arg| arg.get_id() == "store";
    let Some(store) = program.get_arguments().find(is_store).cloned() else {
        return program;
    };
    let of_dedup = store
        .clone()
        .hide_default_value(true)
        .help("Also drop what resembles a document of this store, and add the new documents to it");
    // One command alone would come last in the list.
    program.mut_subcommands(|command| match command.get_name() {
        "dedup" => command.arg(&of_dedup),
        _ => hidden(command, &store),
    })
}

/// The command, and those below it.
fn hidden(command: Command, store: &Arg) -> Command {
    let command = command.mut_subcommands(|below| hidden(below, store));
    if STORELESS.contains(&command.get_name()) {
        command.arg(store.clone().hide(true))
    } else {
        command
    }
}
