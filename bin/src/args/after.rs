//! The text after a command's options, for a terminal and for a page of the manual.
//!
//! Blank lines divide it into paragraphs, whose lines are joined. In a paragraph, lines that begin with two
//! blanks are a list: each item has a term and, after two more blanks, its description. An item continues on lines
//! that begin with four blanks.

use clap::Command;

/// A text, or a list, or a text that introduces a list.
#[derive(Debug, Default)]
pub(crate) struct Paragraph {
    pub(crate) text: String,
    pub(crate) items: Vec<ListItem>,
}

/// An item of a list; the description may be empty.
#[derive(Debug)]
pub(crate) struct ListItem {
    pub(crate) term: String,
    pub(crate) description: String,
}

/// The paragraphs of the text after a command's options.
pub(crate) fn paragraphs(command: &Command) -> Vec<Paragraph> {
    let text = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    parse(&text)
}

fn parse(text: &str) -> Vec<Paragraph> {
    text.split("\n\n").map(paragraph).collect()
}

fn paragraph(text: &str) -> Paragraph {
    let mut paragraph = Paragraph::default();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match (indent, paragraph.items.last_mut()) {
            (4.., Some(item)) => append(item, line.trim()),
            (2.., _) => {
                let (term, description) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
                paragraph.items.push(ListItem {
                    term: term.to_owned(),
                    description: description.trim().to_owned(),
                });
            }
            _ => join(&mut paragraph.text, line.trim()),
        }
    }
    paragraph
}

/// Continues the description of an item or, if it has none, its term.
fn append(item: &mut ListItem, line: &str) {
    if item.description.is_empty() {
        join(&mut item.term, line);
    } else {
        join(&mut item.description, line);
    }
}

fn join(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}

/// Returns the command with these texts in long lines, which clap wraps to the terminal.
///
/// Each description is below its term, as clap shows options.
pub(crate) fn laid_out(command: Command) -> Command {
    let short = command.get_after_help().map(ToString::to_string);
    let long = command.get_after_long_help().map(ToString::to_string);
    let command = match short {
        Some(text) => command.after_help(lines(&text)),
        None => command,
    };
    let command = match long {
        Some(text) => command.after_long_help(lines(&text)),
        None => command,
    };
    command.mut_subcommands(laid_out)
}

fn lines(text: &str) -> String {
    let mut lines = Vec::new();
    for (number, paragraph) in parse(text).into_iter().enumerate() {
        if number > 0 {
            lines.push(String::new());
        }
        if !paragraph.text.is_empty() {
            lines.push(paragraph.text);
        }
        for item in paragraph.items {
            lines.push(format!("  {}", item.term));
            if !item.description.is_empty() {
                lines.push(format!("          {}", item.description));
            }
        }
    }
    lines.join("\n")
}
