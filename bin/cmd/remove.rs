//! `remove`: removes documents.

use std::path::Path;

use anyhow::{Result, bail};
use dedupdb::{Document, Store, Writer};
use serde_json::json;

use crate::args::{Args, Remove};
use crate::console::Console;
use crate::exit::Exit;
use crate::key::REPLACED;
use crate::number::counted;
use crate::output::Output;

/// Removals that wait for a commit cost memory.
const COMMIT_DOCUMENTS: u64 = 200_000;

/// Runs `remove`.
pub(crate) fn run(
    args: &Args,
    remove: &Remove,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let store = crate::store::open_to_write(args)?;
    let prefix = remove.prefix.as_deref().unwrap_or_default();
    if remove.missing {
        check_place(&store, prefix)?;
    }
    let mut removing = Removing {
        writer: store.writer()?,
        removed: 0,
    };
    for key in &remove.keys {
        if !removing.remove(key)? {
            console.error(&format!("{key}: no document has this key"));
        }
    }
    if remove.prefix.is_some() || remove.missing {
        for document in store.documents_with_prefix(prefix)? {
            let document = document?;
            if !remove.missing || presence(&document) == Some(false) {
                removing.remove(&document.key)?;
            }
        }
    }
    removing.writer.commit()?;
    let removed = removing.removed;
    if output.is_json() {
        output.object(&json!({ "removed": removed }))?;
    } else if !args.quiet {
        let documents = counted(removed, "document", "documents");
        output.line(format!("removed {documents}"))?;
    }
    Ok(Exit::found(removed > 0))
}

struct Removing<'a> {
    writer: Writer<'a>,
    removed: u64,
}

impl Removing<'_> {
    fn remove(&mut self, key: &str) -> Result<bool> {
        let known = self.writer.remove(key)?;
        if known {
            self.removed += 1;
            if self.removed.is_multiple_of(COMMIT_DOCUMENTS) {
                self.writer.commit()?;
            }
        }
        Ok(known)
    }
}

/// Refuses if none of the files is found: most likely this is another folder than add was run in.
fn check_place(store: &Store, prefix: &str) -> Result<()> {
    let mut files = 0;
    for document in store.documents_with_prefix(prefix)? {
        match presence(&document?) {
            Some(true) => return Ok(()),
            Some(false) => files += 1,
            None => {}
        }
    }
    if files > 0 {
        bail!(
            "none of {} is found from this folder; run this where add was run, or remove them \
             with --prefix",
            counted(files, "file", "files")
        );
    }
    Ok(())
}

/// Whether the file of a document exists, if the document came from a file and that can be told.
fn presence(document: &Document) -> Option<bool> {
    document.modified?;
    // The key is not the file's name where bytes of it were replaced.
    if document.key.contains(REPLACED) {
        return None;
    }
    Path::new(&document.key).try_exists().ok()
}
