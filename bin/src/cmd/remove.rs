//! `remove`: removes documents.

use std::borrow::Cow;
use std::collections::HashSet;

use anyhow::Result;
use dedupdb::{Document, Store};
use dedupdb_corpus::Selection;

use super::list;
use crate::args::{Args, RemoveArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::json;
use crate::keys::{self, NAMED};
use crate::number::{counted, grouped};
use crate::output::{Output, shell_word};
use crate::watch::{ProgressWatch, StepUnit};

/// The number of bytes of memory that removals take before they are committed.
const MEMORY: u64 = 64 << 20;

/// Runs `remove`.
pub(crate) fn run(
    args: &Args,
    remove: &RemoveArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    list::check_form(remove.print0, output)?;
    let removed = if remove.dry_run {
        let store = crate::store::open_to_read(args)?;
        show(&store, remove, console, output)?
    } else {
        let store = crate::store::open_to_write(args)?;
        let removed = take_out(&store, remove, console)?;
        if let Some(note) = without_file_note(&store, remove, removed)? {
            console.note(&note);
        }
        if output.is_json() {
            output.object(&json::RemoveJson { removed })?;
        } else if !args.quiet {
            let documents = counted(removed, "document", "documents");
            output.line(format!("removed {documents}"))?;
        }
        removed
    };
    Ok(Exit::found(removed > 0))
}

/// Removes the selected documents. Returns their number.
fn take_out(store: &Store, remove: &RemoveArgs, console: &Console) -> Result<u64> {
    let mut writer = store.writer()?;
    let mut removed = 0;
    for_each_named(store, remove, console, |document| {
        removed += u64::from(writer.remove(&document.key)?);
        if writer.uncommitted_bytes() >= MEMORY {
            writer.commit()?;
        }
        Ok(())
    })?;
    if let Some(chosen) = selection(remove)? {
        let unit = StepUnit::Document;
        let _watch = ProgressWatch::new(console, "documents looked at", unit, store.progress());
        removed += chosen.remove(&mut writer, MEMORY)?;
    }
    writer.commit()?;
    Ok(removed)
}

/// A note if nothing was missing, because there are documents that --missing does not look for.
fn without_file_note(store: &Store, remove: &RemoveArgs, removed: u64) -> Result<Option<String>> {
    if !remove.missing || removed > 0 {
        return Ok(None);
    }
    let mut count = 0;
    let prefix = match &remove.prefix {
        Some(prefix) => remove.escaped.key(prefix)?,
        None => Cow::Borrowed(""),
    };
    for document in store.documents_with_prefix(&prefix)? {
        count += u64::from(document?.modified.is_none());
    }
    let (one, many) = (
        "document has no file of its own, such as a record, and --missing does not look for it",
        "documents have no file of their own, such as records, and --missing does not look for them",
    );
    Ok((count > 0).then(|| counted(count, one, many)))
}

/// Lists the selected documents. Returns their number.
fn show(store: &Store, remove: &RemoveArgs, console: &Console, output: &mut Output) -> Result<u64> {
    let mut count = 0;
    let mut list = |document: &Document| {
        count += 1;
        if output.is_json() {
            output.object(&json::DocumentJson::new(document))?;
        } else {
            output.key(&document.key, remove.print0)?;
        }
        Ok(())
    };
    for_each_named(store, remove, console, &mut list)?;
    if let Some(chosen) = selection(remove)? {
        let documents = match chosen.documents(store) {
            Err(dedupdb_corpus::Error::FilesNotFound { missing, files }) => {
                let (missing, files) = (grouped(missing), counted(files, "file", "files"));
                console.note(&format!(
                    "{missing} of {files} are not found from this folder, so `remove` wants --force"
                ));
                chosen.even_most(true).documents(store)?
            }
            documents => documents?,
        };
        for document in documents {
            list(&document?)?;
        }
    }
    if output.is_json() {
        output.object(&json::WouldRemoveJson {
            would_remove: count,
        })?;
    } else {
        let documents = counted(count, "document", "documents");
        output.flush()?;
        console.text(&format!("would remove {documents}\n"));
    }
    Ok(count)
}

/// The documents that are selected by conditions, if there are any.
fn selection(remove: &RemoveArgs) -> Result<Option<Selection>> {
    let has_age = remove.older_than.is_some() || remove.unseen_for.is_some();
    if remove.prefix.is_none() && !remove.missing && !has_age {
        return Ok(None);
    }
    let mut chosen = Selection::new()
        .missing(remove.missing)
        .even_most(remove.force);
    if let Some(prefix) = &remove.prefix {
        chosen = chosen.prefix(remove.escaped.key(prefix)?);
    }
    if let Some(age) = remove.older_than {
        chosen = chosen.added_before(age.ago());
    }
    if let Some(age) = remove.unseen_for {
        chosen = chosen.unseen_since(age.ago());
    }
    Ok(Some(chosen))
}

/// Calls `work` once for each document whose key is given.
fn for_each_named(
    store: &Store,
    remove: &RemoveArgs,
    console: &Console,
    mut work: impl FnMut(&Document) -> Result<()>,
) -> Result<()> {
    let mut met = HashSet::new();
    let mut unknown = 0;
    let named = remove.keys.iter().map(|key| remove.escaped.key(key));
    let listed = remove.keys_from.as_deref();
    let listed = listed.map(|list| keys::listed(list, remove.escaped));
    let listed = listed.transpose()?;
    let listed = listed.iter().flatten();
    for key in named.chain(listed.map(|key| Ok(Cow::Borrowed(&**key)))) {
        let key = key?;
        if !met.insert(key.clone()) {
            continue;
        }
        if let Some(document) = store.get(&key)? {
            work(&document)?;
            continue;
        }
        unknown += 1;
        if unknown <= NAMED {
            let below = below(store, &key)?;
            let hint = remove.escaped.hint(&key);
            console.error(&format!("{key}: no document has this key{below}{hint}"));
        }
    }
    if unknown > NAMED {
        let more = grouped(unknown - NAMED);
        console.error(&format!("and {more} more keys that no document has"));
    }
    Ok(())
}

/// What to do if the key is a folder with documents below it.
fn below(store: &Store, key: &str) -> Result<String> {
    let prefix = format!("{}/", key.trim_end_matches('/'));
    let mut count = 0;
    for document in store.documents_with_prefix(&prefix)? {
        document?;
        count += 1;
    }
    let keys = counted(
        count,
        "key begins with it; remove it",
        "keys begin with it; remove them",
    );
    Ok(if count == 0 {
        String::new()
    } else {
        format!(", but {keys} with --prefix {}", shell_word(&prefix))
    })
}
