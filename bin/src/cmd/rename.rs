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
    let replaced = old != new && store.get(&new)?.is_some();
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
    if renamed && replaced {
        let new = escape(&new);
        console.note(&format!(
            "the document that was called {new} before is not stored any more"
        ));
    }
    Ok(Exit::found(renamed))
}
