//! The commands in groups, as help lists them.

use clap::Command;

/// What people want, and the first command that does it.
const GROUPS: [(&str, &str); 5] = [
    ("add", "Find what is similar"),
    ("dedup", "Clean a corpus or a folder"),
    ("remove", "Keep a store"),
    ("tune", "Measure"),
    ("serve", "Work with other programs"),
];

/// clap's template, with our list of commands in place of its own.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The program, whose help lists its commands in groups.
pub(super) fn grouped(program: Command) -> Command {
    let list = list(&program);
    program
        .override_usage("dedupdb [OPTIONS] <COMMAND>")
        .help_template(TEMPLATE)
        .before_help(list)
        .mut_subcommands(|command| command.hide(true))
}

/// The commands in order, each with what it does, below the names of their groups.
fn list(program: &Command) -> String {
    let styles = program.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = program.get_subcommands().map(Command::get_name);
    let width = names.map(str::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for command in program.get_subcommands() {
        let name = command.get_name();
        if let Some((_, group)) = GROUPS.iter().find(|(first, _)| *first == name) {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("{header}{group}:{header:#}"));
        }
        let about = command.get_about().map(ToString::to_string);
        lines.push(format!(
            "  {literal}{name:<width$}{literal:#}  {}",
            about.unwrap_or_default()
        ));
    }
    lines.join("\n")
}
