//! `man`: prints or writes the manual's pages.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::{Command, CommandFactory};
use clap_mangen::roff::{Roff, roman};
use dedupdb::publish::{Whole, check_no_store};

use crate::args::{Args, Man};
use crate::exit::Exit;
use crate::output::Output;

/// Runs `man`.
pub(crate) fn run(man: &Man, output: &mut Output) -> Result<Exit> {
    let mut all = Args::command().disable_help_subcommand(true);
    // Gives every command its full name and the options that all have.
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
    // Before there is a folder. Beside a store pages may lie.
    check_no_store(&folder.join("dedupdb.1"), &[])?;
    let in_folder = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(in_folder)?;
    for command in with_all_below(all) {
        let (name, text) = page(command)?;
        Whole::of(&folder.join(name), &text)?;
    }
    Ok(())
}

/// A command, its commands, and theirs.
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
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let after = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    sections(&after).to_writer(&mut text)?;
    Ok((man.get_filename(), text))
}

/// The sections that the text after a command's options makes: its examples line by line, notes,
/// and the exit codes.
fn sections(after: &str) -> Roff {
    let mut roff = Roff::new();
    let mut has_notes = false;
    for paragraph in after.split("\n\n") {
        if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
            roff.control("SH", ["EXAMPLES"]).control("nf", []);
            for example in examples.lines() {
                roff.text([roman(example.trim_start())]);
            }
            roff.control("fi", []);
            continue;
        }
        if let Some(codes) = paragraph.strip_prefix("Exit codes: ") {
            roff.control("SH", ["EXIT STATUS"]).text([roman(codes)]);
            continue;
        }
        if has_notes {
            roff.control("PP", []);
        } else {
            roff.control("SH", ["NOTES"]);
        }
        has_notes = true;
        roff.text([roman(paragraph)]);
    }
    roff
}
