//! `jaccard`: compares two files.

use std::path::Path;

use anyhow::{Result, bail};
use dedupdb_lab::Collection;

use crate::args::{Args, JaccardArgs};
use crate::exit::Exit;
use crate::inputs::{STDIN, check_stdin};
use crate::json;
use crate::number::{counted, estimated, four_decimals, grouped};
use crate::output::{Output, shell_word};
use crate::parse;
use crate::store::command;
use crate::text_side::document_of_file;

/// Runs `jaccard`.
pub(crate) fn run(args: &Args, jaccard: &JaccardArgs, output: &mut Output) -> Result<Exit> {
    let names = [&jaccard.a, &jaccard.b];
    check_stdin(names.map(Path::new))?;
    let schema = jaccard.signing.schema()?;
    let (mut documents, mut hashes) = (Vec::new(), Vec::new());
    for name in names {
        check(name, jaccard, args)?;
        let document = document_of_file(&parse::file(name), args, &jaccard.inputs)?;
        hashes.push(document.hash());
        documents.push((name.clone(), document.into_text()));
    }
    let is_copy = hashes[0] == hashes[1];
    let collection = Collection::new(&schema, documents)?;
    let ([Some(a), Some(b)], Some(exact), Some(agreeing), Some(estimate)) = (
        [collection.shingles(0), collection.shingles(1)],
        collection.jaccard(0, 1),
        collection.agreeing(0, 1),
        collection.estimate(0, 1),
    ) else {
        bail!("two files are needed");
    };
    // As everywhere, identical texts have a similarity of 1, even without shingles.
    let exact = if is_copy { 1.0 } else { exact };
    let both = a.intersection_len(b);
    let either = a.len() + b.len() - both;
    let slots = schema.permutations();
    if output.is_json() {
        output.object(&json::JaccardJson::new(
            (&jaccard.a, &jaccard.b),
            exact,
            (both, either),
            estimate,
            (agreeing, slots),
            is_copy,
        ))?;
        return Ok(Exit::Found);
    }
    let shingling = schema.shingling();
    output.line(format!(
        "jaccard   {}: {} of {} in both{}",
        four_decimals(exact),
        grouped(both as u64),
        counted(
            either as u64,
            &format!("shingle ({shingling}) is"),
            &format!("shingles ({shingling}) are")
        ),
        if is_copy {
            "; the texts are the same"
        } else {
            ""
        }
    ))?;
    output.line(format!(
        "estimate  {}: {agreeing} of {slots} slots agree",
        estimated(estimate)
    ))?;
    Ok(Exit::Found)
}

/// Refuses what is not a file, and says how stored documents are compared.
fn check(name: &str, jaccard: &JaccardArgs, args: &Args) -> Result<()> {
    let file = parse::file(name);
    if file.is_dir() {
        bail!("{name}: it is a folder; name a file");
    }
    if name != STDIN && !file.exists() {
        bail!(
            "{name}: there is no such file; for stored documents, use `{} explain {} {}`",
            command(args),
            shell_word(&jaccard.a),
            shell_word(&jaccard.b)
        );
    }
    Ok(())
}
