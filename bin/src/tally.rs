//! The outcome of an add, as text.

use std::time::Duration;

use dedupdb::write::IdScope;
use dedupdb_corpus::AddSummary;

use crate::args::AddArgs;
use crate::number::counted;
use crate::output::shell_word;
use crate::read_counts::{ReadCountsText as _, line};

/// A note about the scope of ids that a store remembers, if that has changed.
pub(crate) fn id_scope_note(before: IdScope, after: IdScope) -> Option<String> {
    let name = |scope| match scope {
        IdScope::File => "file",
        _ => "all",
    };
    let instead = match before {
        IdScope::Unset => String::new(),
        IdScope::File => " instead of file; what is stored keeps its keys".to_owned(),
        before => format!(" instead of {}", name(before)),
    };
    (before != after).then(|| format!("the store remembers --id-scope {}{instead}", name(after)))
}

/// A note about documents that have the ids and the texts of another file, if there are any.
pub(crate) fn same_ids_note(added: &AddSummary) -> Option<String> {
    let (place, other) = added.first_same_id.as_ref()?;
    let documents = counted(
        added.same_ids,
        "document has id and text of another file, and is",
        "documents have ids and texts of another file, and are",
    );
    Some(format!(
        "{documents} counted as unchanged (first: {place}, as in {other}); if they are \
         documents of their own, give --id-scope file"
    ))
}

/// A note about records that got other keys, if there are any.
pub(crate) fn rekeyed_note(added: &AddSummary) -> Option<String> {
    let (id, key) = added.first_rekeyed.as_ref()?;
    let records = counted(added.rekeyed, "record was", "records were");
    Some(format!(
        "{records} stored by id alone, and now by file and id (first: {id} is now {key})"
    ))
}

/// A note about files that are stored under other keys, if there are any.
pub(crate) fn other_names_note(added: &AddSummary) -> Option<String> {
    let (key, other) = added.first_other.as_ref()?;
    let files = counted(added.other_names, "file is", "files are");
    Some(format!(
        "{files} stored under other names already, and not a second time (first: {key} = {other})"
    ))
}

/// A note about files that seem to have been renamed, if there are any.
pub(crate) fn renamed_note(added: &AddSummary, dedupdb: &str) -> Option<String> {
    let (key, old) = added.first_renamed.as_ref()?;
    let (one, many) = (
        "exact copy seems to be a stored file under a new name",
        "exact copies seem to be stored files under new names",
    );
    let files = counted(added.renamed, one, many);
    Some(format!(
        "{files} (first: {key}, which was {old}); to forget names that no longer exist, look at \
         `{dedupdb} remove --missing --dry-run` first"
    ))
}

/// A note about stored files that are gone, if there are any besides those that seem to have been renamed. `dedupdb` is
/// how a command line for the store begins.
pub(crate) fn gone_note(added: &AddSummary, dedupdb: &str) -> Option<String> {
    let first = added
        .first_gone
        .as_ref()
        .filter(|_| added.gone > added.renamed)?;
    let files = counted(
        added.gone,
        "stored file no longer exists",
        "stored files no longer exist",
    );
    Some(format!(
        "{files} (first: {first}); look at `{dedupdb} remove --missing --dry-run`"
    ))
}

/// A warning about documents that were kept out because of texts that are not stored any more, if there are any.
pub(crate) fn replaced_warning(added: &AddSummary) -> Option<String> {
    let (one, many) = (
        "document was kept out because of a text that a later document replaced",
        "documents were kept out because of texts that later documents replaced",
    );
    let documents = counted(added.kept_out_by_replaced, one, many);
    (added.kept_out_by_replaced > 0).then(|| format!("{documents}; add the same again"))
}

/// A note about the near-duplicates among a store's first documents, if there are any and they are not listed already.
/// Later summaries name the command.
pub(crate) fn pairs_note(added: &AddSummary, add: &AddArgs, dedupdb: &str) -> Option<String> {
    let is_listed = add.matches || add.unique || add.dry_run || added.unchanged > 0;
    (added.near_duplicates > 0 && !is_listed)
        .then(|| format!("`{dedupdb} pairs` lists the near-duplicates"))
}

/// A note about stored files that were left out, if there are any.
pub(crate) fn stale_note(added: &AddSummary, dedupdb: &str) -> Option<String> {
    let first = added.first_stale.as_ref()?;
    let (one, many) = (
        "file that was left out is stored as it was before",
        "files that were left out are stored as they were before",
    );
    let files = counted(added.stale, one, many);
    Some(format!(
        "{files} (first: {first}); use the options that were used then, such as --pre, or forget the old text with `{}`",
        remove(dedupdb, first)
    ))
}

/// The command that forgets a document. `dedupdb` is how a command line for the store begins.
fn remove(dedupdb: &str, key: &str) -> String {
    let end = if key.starts_with('-') { "-- " } else { "" };
    format!("{dedupdb} remove {end}{}", shell_word(key))
}

/// The counts as lines for people. `add` has the arguments, unless sketches were loaded. `dedupdb` is how a command
/// line for the store begins.
pub(crate) fn to_text(
    added: &AddSummary,
    add: Option<&AddArgs>,
    dedupdb: &str,
    elapsed: Duration,
) -> String {
    let mut text = line("documents", added.documents(), "");
    text += &line("  added", added.added, "");
    text += &line("  unchanged", added.unchanged, "");
    text += &line("  updated", added.updated, "");
    if added.kept_out > 0 {
        text += &line("  kept out", added.kept_out, "");
    }
    text += &added
        .reading
        .skipped_line(add.is_some_and(|add| add.files.inputs.pre.is_some()))
        .unwrap_or_default();
    // With --unique, documents are compared with those that were kept.
    let is_unique = add.is_some_and(|add| add.unique);
    let is_listed = add.is_some_and(|add| add.matches);
    let of = if is_unique {
        "   of kept documents"
    } else {
        "   of earlier documents"
    };
    text += &line("exact copies", added.exact_copies, of);
    // Documents that are not stored are in no pair of the store.
    let is_dry = add.is_some_and(|add| add.dry_run);
    let of_which = ", among new and changed ones";
    let more = match (added.unchanged, is_unique || is_dry, is_listed) {
        (0, ..) => String::new(),
        (_, false, _) => format!("{of_which}; `{dedupdb} pairs` lists all pairs"),
        (_, true, true) => of_which.to_owned(),
        (_, true, false) => {
            let unique = if is_unique { " --unique" } else { "" };
            let dry = if is_dry { " --dry-run" } else { "" };
            format!("{of_which}; `{dedupdb} add{unique}{dry} --matches` lists them")
        }
    };
    text += &line(
        "near-duplicates",
        added.near_duplicates,
        &format!("{of}{more}"),
    );
    if added.contained > 0 {
        text += &line("contained", added.contained, "   in earlier documents");
    }
    if added.other_names > 0 {
        let more = "   of files that are stored under another path";
        text += &line("other names", added.other_names, more);
    }
    text + &added.reading.to_text(elapsed)
}
