//! `rename`: gives a document another key.

use anyhow::Result;

use crate::args::{Args, RenameArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::output::{Output, escape};

/// Runs `rename`.
pub(crate) fn run(
    args: &Args,
    rename: &RenameArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let old = rename.escaped.key(&rename.old)?;
    let new = rename.escaped.key(&rename.new)?;
    let store = crate::store::open_to_write(args)?;
    let renamed = store.rename(&old, &new)?;
    if !renamed {
        let hint = rename.escaped.hint(&rename.old);
        console.error(&format!("{old}: no document has this key{hint}"));
    }
    if output.is_json() {
        output.object(&json::RenameJson { renamed })?;
    } else if renamed && !args.quiet {
        output.line(format!("renamed {} to {}", escape(&old), escape(&new)))?;
    }
    Ok(Exit::found(renamed))
}
