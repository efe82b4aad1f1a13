//! `man`: prints or writes the manual's pages.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Arg, Command};
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use dedupdb_corpus::publish::{AtomicFile, check_no_store};

use crate::args::after::{self, Paragraph};
use crate::args::{Args, ManArgs};
use crate::exit::Exit;
use crate::output::Output;

/// Runs `man`.
pub(crate) fn run(man: &ManArgs, output: &mut Output) -> Result<Exit> {
    let mut all = Args::all().disable_help_subcommand(true);
    // Gives every command its full name and the global options.
    all.build();
    if let Some(folder) = &man.out {
        write_all(&all, folder)?;
        return Ok(Exit::Found);
    }
    let command = match &man.command {
        None => &all,
        Some(name) => {
            let full = format!("dedupdb-{name}");
            let named = |command: &&Command| command.get_display_name() == Some(&full);
            match with_all_below(&all).into_iter().find(named) {
                Some(command) => command,
                None => bail!("there is no command {name:?}; dedupdb --help lists them"),
            }
        }
    };
    output.bytes(&page(command)?.1)?;
    Ok(Exit::Found)
}

/// Writes the page of every command.
fn write_all(all: &Command, folder: &Path) -> Result<()> {
    // This comes before the folder is made. Pages may lie beside a store.
    check_no_store(&folder.join("dedupdb.1"), &[])?;
    let in_folder = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(in_folder)?;
    for command in with_all_below(all) {
        let (name, text) = page(command)?;
        AtomicFile::of(&folder.join(name), &text)?;
    }
    Ok(())
}

/// A command, its subcommands, and theirs.
fn with_all_below(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(with_all_below);
    [command].into_iter().chain(below).collect()
}

/// The file name of a command's page, and the page.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let source = concat!("dedupdb ", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command.clone()).source(source);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    synopsis(command).to_writer(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    sections(&after::paragraphs(command)).to_writer(&mut text)?;
    Ok((man.get_filename(), text))
}

/// The synopsis: the command's own options with their values, and its arguments.
fn synopsis(command: &Command) -> Roff {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut line = vec![
        bold(name),
        roman(" "),
        roman("["),
        italic("OPTIONS"),
        roman("]"),
    ];
    let own = |arg: &&Arg| !arg.is_global_set() && !arg.is_hide_set();
    let is_help = |arg: &&Arg| matches!(arg.get_id().as_str(), "help" | "version");
    let (places, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(own)
        .filter(|arg| !is_help(arg))
        .partition(|arg| arg.is_positional());
    for arg in options {
        let option = match (arg.get_short(), arg.get_long()) {
            (Some(short), _) if arg.is_required_set() => format!("-{short}"),
            (_, Some(long)) => format!("--{long}"),
            (short, None) => format!("-{}", short.unwrap_or_default()),
        };
        let mut inside = vec![bold(option)];
        inside.extend(values(arg));
        push(&mut line, arg, inside);
    }
    for arg in places {
        let mut inside = vec![italic(value_names(arg))];
        if arg
            .get_num_args()
            .is_some_and(|count| count.max_values() > 1)
        {
            inside.push(roman("..."));
        }
        push(&mut line, arg, inside);
    }
    if command.has_subcommands() {
        line.extend([roman(" "), italic("COMMAND")]);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(line);
    roff
}

/// Appends an argument, in brackets if it is optional.
fn push(line: &mut Vec<Inline>, arg: &Arg, inside: Vec<Inline>) {
    let (open, close) = if arg.is_required_set() {
        (" ", "")
    } else {
        (" [", "]")
    };
    line.push(roman(open));
    line.extend(inside);
    line.push(roman(close));
}

fn values(arg: &Arg) -> Vec<Inline> {
    if arg.get_action().takes_values() {
        vec![roman(" "), italic(value_names(arg))]
    } else {
        Vec::new()
    }
}

fn value_names(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
    names.join(" ")
}

/// The sections for the text after a command's options: examples, notes, and exit codes.
fn sections(paragraphs: &[Paragraph]) -> Roff {
    let mut roff = Roff::new();
    let mut has_notes = false;
    for paragraph in paragraphs {
        if paragraph.text == "Examples:" {
            roff.control("SH", ["EXAMPLES"]);
            list(&mut roff, paragraph);
            continue;
        }
        if let Some(codes) = paragraph.text.strip_prefix("Exit codes: ") {
            roff.control("SH", ["EXIT STATUS"]).text([roman(codes)]);
            continue;
        }
        if let Some(pages) = paragraph
            .text
            .strip_prefix("Details in the documentation: ")
        {
            let pages = format!("In the documentation: {pages}");
            roff.control("SH", ["SEE ALSO"]).text([roman(pages)]);
            continue;
        }
        if has_notes {
            roff.control("PP", []);
        } else {
            roff.control("SH", ["NOTES"]);
        }
        has_notes = true;
        roff.text([roman(&paragraph.text)]);
        list(&mut roff, paragraph);
    }
    roff
}

/// Appends the items of a paragraph, each description below its term.
fn list(roff: &mut Roff, paragraph: &Paragraph) {
    for item in &paragraph.items {
        if item.description.is_empty() {
            roff.control("PP", []).text([bold(&item.term)]);
        } else {
            roff.control("TP", []).text([bold(&item.term)]);
            roff.text([roman(&item.description)]);
        }
    }
}
