//! `list`: lists documents.

use anyhow::{Result, bail};

use crate::args::{Args, ListArgs};
use crate::console::Console;
use crate::document_source::SourceChecker;
use crate::exit::Exit;
use crate::json;
use crate::output::{Output, escape};

/// Runs `list`.
pub(crate) fn run(
    args: &Args,
    list: &ListArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    check_form(list.print0, output)?;
    let store = crate::store::open_to_read(args)?;
    let mut found = false;
    let mut files = SourceChecker::of(&store);
    let prefix = list.escaped.key(&list.prefix)?;
    for document in store.documents_with_prefix(&prefix)? {
        let document = document?;
        found = true;
        if output.is_json() {
            let standing = files.check(document.clone());
            output.object(&json::DocumentJson::new(&document).standing(&standing))?;
            continue;
        }
        files.check(document.clone());
        if list.long {
            output.line(format!(
                "{}\t{}\t{}\t{}",
                document.content,
                document.shingles,
                document.size,
                escape(&document.key)
            ))?;
        } else {
            output.key(&document.key, list.print0)?;
        }
    }
    files.note(args, console);
    if !found {
        let none = format!("no key begins with {}", escape(&prefix));
        crate::store::note_none(&store, &none, console)?;
    }
    Ok(Exit::found(found))
}

/// Refuses two output forms at once.
pub(super) fn check_form(print0: bool, output: &Output) -> Result<()> {
    if print0 && output.is_json() {
        bail!("--print0 and --json are two forms of the same output; give one of them");
    }
    Ok(())
}
