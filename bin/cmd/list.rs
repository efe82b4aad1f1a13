//! `list`: lists documents.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use dedupdb::Document;
use serde_json::{Value, json};

use crate::args::{Args, List};
use crate::exit::Exit;
use crate::number::{unix_nanoseconds, unix_seconds};
use crate::output::{Output, escape};

/// Runs `list`.
pub(crate) fn run(args: &Args, list: &List, output: &mut Output) -> Result<Exit> {
    check_form(list.print0, output)?;
    let store = crate::store::open_to_read(args)?;
    let mut found = false;
    let prefix = list.escaped.key(&list.prefix)?;
    for document in store.documents_with_prefix(&prefix)? {
        let document = document?;
        found = true;
        if output.is_json() {
            output.object(&object(&document))?;
            continue;
        }
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
    Ok(Exit::found(found))
}

/// Refuses two forms at a time.
pub(super) fn check_form(print0: bool, output: &Output) -> Result<()> {
    if print0 && output.is_json() {
        bail!("--print0 and --json are two ways to print the same; give one of them");
    }
    Ok(())
}

/// What is stored of a document.
pub(super) fn object(document: &Document) -> Value {
    json!({
        "key": document.key,
        "content": document.content,
        "size": document.size,
        "modified": document.modified.map(unix_nanoseconds),
        "added": unix_seconds(document.added),
        "published": document.is_published,
        "shingles": document.shingles,
        "hash": hex(&document.hash),
    })
}

/// The bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
