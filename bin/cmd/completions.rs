//! `completions`: prints a shell's completion script.

use anyhow::Result;
use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::exit::Exit;
use crate::output::Output;

/// Runs `completions`.
pub(crate) fn run(completions: &Completions, output: &mut Output) -> Result<Exit> {
    let mut command = Args::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut command, name, &mut script);
    output.bytes(&script)?;
    Ok(Exit::Found)
}
