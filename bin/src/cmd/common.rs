//! `common`: the passages that most stored documents have.

use anyhow::Result;
use dedupdb::overlap::CommonPassage;
use dedupdb_corpus::read_again;

use super::passages::{beginning, check_store};
use crate::args::{Args, CommonArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::inputs::check_stdin;
use crate::json;
use crate::number::counted;
use crate::output::{Output, escape};
use crate::watch::{ProgressWatch, StepUnit};

/// Runs `common`.
pub(crate) fn run(
    args: &Args,
    common: &CommonArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    output.end_with_reader();
    check_stdin(common.from.iter().map(std::path::PathBuf::as_path))?;
    let options = common.inputs.options().store(&args.store);
    common.inputs.check(&options, &common.from, console)?;
    for path in &common.from {
        // Of what is missing in it, nothing more is said than that.
        std::fs::metadata(path)
            .map_err(|_| anyhow::anyhow!("{}: there is no such file or folder", path.display()))?;
    }
    let store = crate::store::open_to_read(args)?;
    check_store(args, &store, common.at_least)?;
    let watch = ProgressWatch::new(console, "compared", StepUnit::Step, store.progress());
    let (mut failed, mut unread, mut wanted_texts) = (Ok(()), 0, 0);
    let found = store.common_passages(common.limit, common.at_least, |wanted| {
        let read = read_again(&store, wanted, &common.from, &options);
        let texts = read.unwrap_or_else(|error| {
            failed = Err(error);
            Vec::new()
        });
        wanted_texts = wanted.len() as u64;
        unread = texts.iter().filter(|text| text.is_none()).count() as u64;
        texts
    })?;
    drop(watch);
    failed.map_err(crate::store::of_corpus)?;
    let is_common = |passage: &&CommonPassage| passage.documents >= common.min_documents;
    let found: Vec<&CommonPassage> = found.iter().filter(is_common).collect();
    for passage in &found {
        if output.is_json() {
            output.object(&json::CommonPassageJson::new(passage))?;
        } else {
            output.line(line(passage))?;
        }
    }
    output.flush()?;
    if unread > 0 {
        let texts = counted(wanted_texts, "text", "texts");
        let message = format!(
            "{unread} of {texts} with common passages cannot be read again, so these may be missing; --from names the \
             files that have them"
        );
        if unread == wanted_texts {
            anyhow::bail!("{message}");
        }
        console.note(&message);
    }
    if found.is_empty() {
        let least = common.at_least.unwrap_or(store.schema().passage());
        let tokens = crate::store::tokens(&store);
        let documents = common.min_documents;
        let none = format!("no passage of {least} {tokens} or more is in {documents} documents");
        crate::store::note_none(&store, &none, console)?;
    }
    crate::store::note_unfingerprinted(&store, args, console)?;
    Ok(Exit::found(!found.is_empty()))
}

fn line(passage: &CommonPassage) -> String {
    let keys: Vec<_> = passage.keys.iter().map(|key| escape(key)).collect();
    format!(
        "{}\t{}\t{}\t{}",
        passage.documents,
        passage.tokens,
        escape(&beginning(&passage.text)),
        keys.join("\t")
    )
}
