//! `merge`: adds all documents of other stores.

use anyhow::{Context, Result, bail};
use dedupdb::write::Uncommitted;
use dedupdb::{Error, Store, write::MergeSummary};
use dedupdb_corpus::publish::is_same;

use crate::args::{Args, MergeArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt::{CONTINUES, Interrupt};
use crate::json;
use crate::number::{counted, grouped};
use crate::output::{Output, printable};
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
    let Some(first) = others.first() else {
        bail!("name the stores to merge");
    };
    // What cannot be merged is said before anything is made.
    for other in &others {
        check_same(first, other)?;
    }
    let interrupt = Interrupt::catch()?;
    let options = store::options(args);
    let opened = store::open_or_create(args, options, &first.schema(), &interrupt, console)?;
    let Some(target) = opened else {
        console.note(CONTINUES);
        return Ok(Exit::Interrupted);
    };
    // Refuse stores that cannot be merged before merging any.
    for other in &others {
        check_same(&target, other)?;
    }
    for other in &others {
        match target.merge(other, Uncommitted::limit(merge.memory), |_| {
            interrupt.flow()
        }) {
            Ok(merged) => {
                note_unpublished(other, &merged, console);
                note_replaced(other, &merged, console);
                report(other, &merged, args, output)?;
            }
            Err(Error::Interrupted) => {
                console.note(CONTINUES);
                return Ok(Exit::Interrupted);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Exit::Found.unless_stopped(&interrupt, console))
}

/// Refuses a store with other parameters than `store`, and says what to do.
fn check_same(store: &Store, other: &Store) -> Result<()> {
    const KEPT: [&str; 5] = ["shingling", "lowercase", "nfkc", "fold", "shingles"];
    let (folder, whose) = (other.folder().display(), store.folder().display());
    match store.schema().check_same(&other.schema()) {
        Err(Error::SchemaMismatch {
            parameter,
            stored,
            given,
        }) => {
            let remedy = if KEPT.contains(&parameter) {
                ""
            } else {
                "; give both stores the same parameters with `reindex` first"
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

/// Reports that texts were replaced, if any were.
fn note_replaced(other: &Store, merged: &MergeSummary, console: &Console) {
    if merged.updated > 0 {
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
