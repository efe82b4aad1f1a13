//! `show`: shows what is stored about a document.

use anyhow::Result;
use dedupdb::Document;

use crate::args::{Args, ShowArgs};
use crate::console::Console;
use crate::document_source::{DocumentSource, SourceChecker};
use crate::exit::Exit;
use crate::json;
use crate::number::{bytes, grouped, utc, utc_date};
use crate::output::{Output, escape};

/// Runs `show`.
pub(crate) fn run(
    args: &Args,
    show: &ShowArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let store = crate::store::open_to_read(args)?;
    let key = show.escaped.key(&show.key)?;
    let Some(document) = store.get(&key)? else {
        let hint = show.escaped.hint(&show.key);
        console.error(&format!("{key}: no document has this key{hint}"));
        return Ok(Exit::Failed);
    };
    let mut copies = store.copies(&document)?;
    copies.retain(|key| *key != document.key);
    let standing = SourceChecker::of(&store).check(document.clone());
    if output.is_json() {
        output.object(&json::ShowJson {
            document: json::DocumentJson::new(&document).standing(&standing),
            copies: &copies,
        })?;
    } else {
        for line in describe(&document, &standing, &copies) {
            output.line(line)?;
        }
    }
    Ok(Exit::Found)
}

fn describe(document: &Document, standing: &DocumentSource, copies: &[String]) -> Vec<String> {
    let modified = document.modified;
    let modified = modified.map_or_else(|| "not known".to_owned(), utc);
    let since = match standing.file {
        Some("gone") => "   the file no longer exists",
        Some(_) => "   the file has changed since",
        None => "",
    };
    let source = document.source.as_deref();
    let source = source.map(|source| format!("source        {}", escape(source)));
    let mut lines = vec![
        format!("key           {}", escape(&document.key)),
        format!("content       {}", document.content),
        format!("hash          {}", blake3::Hash::from_bytes(document.hash)),
        format!("shingles      {}", grouped(document.shingles.into())),
        format!("size          {}", bytes(document.size)),
        format!("modified      {modified}{since}"),
        format!("added         {}", utc(document.added)),
        format!("last seen     {}", utc_date(document.last_seen)),
        format!("exact copies  {}", grouped(copies.len() as u64)),
    ];
    lines.splice(1..1, source);
    lines.extend(copies.iter().map(|key| format!("  {}", escape(key))));
    lines
}
