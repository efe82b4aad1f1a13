//! `merge`: adds all documents of other stores.

use anyhow::{Context, Result, bail};
use dedupdb::write::{IdScope, Uncommitted};
use dedupdb::{Error, Store, write::MergeSummary};
use dedupdb_corpus::publish::is_same;

use crate::args::{Args, MergeArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::{self, CONTINUES};
use crate::json;
use crate::keys::NAMED;
use crate::number::{counted, grouped};
use crate::output::{Output, escape, printable, shell_word};
use crate::store;

/// Runs `merge`.
pub(crate) fn run(
    args: &Args,
    merge: &MergeArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let mut others = Vec::new();
    for path in &merge.others {
        if is_same(path, &args.store) {
            bail!(
                "{}: this is the store itself; name other stores",
                path.display()
            );
        }
        others.push(store::open_other(&store::options(args), path)?);
    }
    // A new store finds the longest of their passages, whose fingerprints may be among those of the others.
    let Some(model) = others
        .iter()
        .rev()
        .max_by_key(|other| other.schema().passage())
    else {
        bail!("name the stores to merge");
    };
    // What cannot be merged is said before anything is made.
    if store::open_to_read(args).is_err() {
        for other in &others {
            check_takes(model, other)?;
        }
    }
    let progress = interrupt::catch()?;
    let options = store::options(args);
    let opened = store::open_or_create(args, options, &model.schema(), &progress, console)?;
    let Some(target) = opened else {
        console.note(CONTINUES);
        return Ok(Exit::Interrupted);
    };
    // Refuse stores that cannot be merged before merging any.
    for other in &others {
        check_takes(&target, other)?;
    }
    for other in &others {
        match target.merge(other, Uncommitted::limit(merge.memory)) {
            Ok(merged) => {
                note_unpublished(other, &merged, console);
                note_ids(other, &target, console);
                note_replaced(other, &merged, console);
                report(other, &merged, args, output)?;
            }
            Err(Error::Stopped) => {
                console.note(CONTINUES);
                return Ok(Exit::Interrupted);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Exit::Found.unless_stopped(&progress, console))
}

/// Refuses a store that `store` does not take, and says what to do.
fn check_takes(store: &Store, other: &Store) -> Result<()> {
    const KEPT: [&str; 5] = ["shingling", "lowercase", "nfkc", "fold", "shingles"];
    let (folder, whose) = (other.folder().display(), store.folder().display());
    match store.schema().check_takes(&other.schema()) {
        Err(Error::SchemaMismatch {
            parameter,
            stored,
            given,
        }) => {
            let reindex = |store: &Store| {
                let folder = store.folder().to_string_lossy();
                format!(
                    "; `dedupdb --store {} reindex --passage",
                    shell_word(&folder)
                )
            };
            let remedy = match parameter {
                "passage"
                    if other.schema().check_takes(&store.schema()).is_ok() && given != "0" =>
                {
                    format!("{} {given}` first", reindex(store))
                }
                "passage" => format!("{} {stored} --from PATH...` first", reindex(other)),
                kept if KEPT.contains(&kept) => String::new(),
                _ => "; give both stores the same parameters with `reindex` first".to_owned(),
            };
            bail!(
                "{folder}: the parameters differ: {parameter} is {given} here, and {stored} in {whose}{remedy}"
            )
        }
        same => Ok(same.with_context(|| folder.to_string())?),
    }
}

/// Reports what is left out, if anything is.
fn note_unpublished(other: &Store, merged: &MergeSummary, console: &Console) {
    if merged.unpublished > 0 {
        let documents = counted(merged.unpublished, "document", "documents");
        console.note(&format!(
            "{}: left out {documents} of a dedup that was interrupted",
            other.folder().display()
        ));
    }
}

/// Reports that records of the other store have other keys than the same ones would get here.
fn note_ids(other: &Store, store: &Store, console: &Console) {
    let are_keys = |store: &Store| store.id_scope() != IdScope::File;
    if are_keys(other) == are_keys(store) {
        return;
    }
    console.note(&format!(
        "{}: {} makes other keys of ids (--id-scope), so a record that is added again is stored a second time",
        other.folder().display(),
        store.folder().display()
    ));
}

/// Reports that texts were replaced, if any were. The first ones are named.
fn note_replaced(other: &Store, merged: &MergeSummary, console: &Console) {
    if merged.updated > 0 {
        let folder = other.folder().display();
        let named = usize::try_from(NAMED).unwrap_or(usize::MAX);
        for key in merged.updated_keys.iter().take(named) {
            console.note(&format!("{folder}: {} replaced another text", escape(key)));
        }
        let documents = counted(merged.updated, "document", "documents");
        console.note(&format!(
            "{}: {documents} replaced another text under the same key",
            other.folder().display()
        ));
    }
}

fn report(other: &Store, merged: &MergeSummary, args: &Args, output: &mut Output) -> Result<()> {
    let folder = other.folder().display().to_string();
    if output.is_json() {
        output.object(&json::MergeJson::new(&folder, merged))?;
    } else if !args.quiet {
        output.line(format!(
            "{}: {}: {} added, {} updated, {} unchanged",
            printable(&folder),
            counted(merged.documents(), "document", "documents"),
            grouped(merged.added),
            grouped(merged.updated),
            grouped(merged.unchanged)
        ))?;
    }
    Ok(())
}
