//! `completions`: prints a shell's completion script.

use anyhow::Result;
use clap::{Command, ValueHint};
use clap_complete::Shell;

use crate::args::{Args, CompletionsArgs};
use crate::exit::Exit;
use crate::output::Output;

/// Runs `completions`.
pub(crate) fn run(completions: &CompletionsArgs, output: &mut Output) -> Result<Exit> {
    let mut command = Args::all();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut command, &name, &mut script);
    if completions.shell == Shell::Bash {
        let script = with_paths(&String::from_utf8(script)?, &command);
        output.bytes(script.as_bytes())?;
    } else {
        output.bytes(&script)?;
    }
    Ok(Exit::Found)
}

/// The line of the script that offers all options and words of a command.
const OPTIONS: &str = r#"COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )"#;

/// Completes paths for a command without words of its own.
///
/// The generated script of bash offers the options there, and bash inserts the `-` that they all begin with.
fn with_paths(script: &str, all: &Command) -> String {
    let mut lines = Vec::new();
    let mut section = "";
    let mut takes_paths = false;
    for line in script.lines() {
        let indented = line.strip_prefix("        ");
        let label = indented.and_then(|line| line.strip_suffix(')'));
        if let Some(label) = label.filter(|label| label.starts_with(all.get_name())) {
            section = label;
        }
        if let Some(words) = line.trim_start().strip_prefix("opts=\"") {
            let mut words = words.trim_end_matches('"').split(' ');
            takes_paths = words.all(|word| word.starts_with('-'));
        }
        let is_last = line.strip_prefix("            ") == Some(OPTIONS);
        if takes_paths && is_last {
            // An empty reply lets bash complete files and folders.
            lines.push(if takes_folders(section, all) {
                "            compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"${cur}\")"
                    .to_owned()
            } else {
                "            COMPREPLY=()".to_owned()
            });
        } else if let (true, Some(at)) = (takes_paths, line.find(" || ${COMP_CWORD} -eq ")) {
            lines.push(format!("{} ]] ; then", &line[..at]));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// Whether the command of a section of the script takes only folders.
fn takes_folders(section: &str, all: &Command) -> bool {
    let parts = section.split("__subcmd__").skip(1);
    let mut command = Some(all);
    for part in parts {
        command = command.and_then(|command| command.find_subcommand(part));
    }
    let is_folder = |hint| hint == ValueHint::DirPath;
    command.is_some_and(|command| {
        let mut positionals = command.get_positionals().peekable();
        positionals.peek().is_some() && positionals.all(|arg| is_folder(arg.get_value_hint()))
    })
}
