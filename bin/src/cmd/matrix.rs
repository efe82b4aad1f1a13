//! `matrix`: writes the signatures of texts as a table.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::Schema;
use dedupdb::sketching::{Signer, SlotWidth};
use dedupdb_corpus::publish::{AtomicFile, MatrixFile, check_output, is_same};
use dedupdb_corpus::{EndReason, SourcedText};

use crate::args::eval::EvalTextArgs;
use crate::args::{Args, MatrixArgs};
use crate::console::Console;
use crate::eval::each;
use crate::exit::Exit;
use crate::inputs::check_not_read;
use crate::interrupt;
use crate::json;
use crate::number::{bytes, counted, grouped, seconds};
use crate::output::{Output, escape};

/// Runs `matrix`.
pub(crate) fn run(
    args: &Args,
    matrix: &MatrixArgs,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    MatrixFile::check_name(&matrix.output)?;
    let schema = matrix.signing.schema()?;
    matrix.files.inputs.check_shingles(&schema)?;
    let permutations = schema.permutations();
    check_outputs(matrix)?;
    let progress = interrupt::catch()?;
    let mut table = MatrixFile::create(&matrix.output, permutations)?;
    let mut keys = matrix.keys.as_deref().map(AtomicFile::create).transpose()?;
    let taken = AtomicU64::new(0);
    let (shingler, signer) = (schema.shingler()?, signer(&schema)?);
    let texts = EvalTextArgs {
        paths: matrix.paths.clone(),
        inputs: matrix.files.inputs.clone(),
        telling: matrix.files.telling.clone(),
    };
    let row = |document: &SourcedText| {
        let start = Instant::now();
        let shingles = shingler.shingles(document.text())?;
        let row = signer.minima(shingles.as_slice());
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        taken.fetch_add(spent, Ordering::Relaxed);
        Ok(row)
    };
    let read = each(args, &texts, console, &progress, row, |origin, row| {
        table.push(&origin.key, &row)?;
        if let Some(keys) = &mut keys {
            keys.write(format!("{}\n", escape(&origin.key)).as_bytes())?;
        }
        Ok(())
    })?;
    if read.ended == EndReason::Stopped {
        console.error("stopped; nothing is written");
        return Ok(Exit::Interrupted);
    }
    let failed = read.reading.has_failures();
    let taken = taken.into_inner() as f64 / 1e9;
    let documents = table.rows();
    if failed && documents == 0 {
        return Ok(Exit::Failed);
    }
    if let Some(keys) = keys {
        keys.finish()?;
    }
    let size = table.finish()?;
    if output.is_json() {
        output.object(&json::MatrixJson::new(&schema, documents, size, taken))?;
    } else if !args.quiet {
        output.line(format!(
            "{} of {} permutations, {}; shingles and signatures took {} of all threads",
            counted(documents, "document", "documents"),
            grouped(permutations.into()),
            bytes(size),
            seconds(taken)
        ))?;
    }
    Ok(Exit::failed(failed))
}

/// Refuses outputs that would replace an input or each other.
fn check_outputs(matrix: &MatrixArgs) -> Result<()> {
    check_output(&matrix.output, &matrix.paths)?;
    if let Some(keys) = &matrix.keys {
        check_output(keys, &matrix.paths)?;
        if is_same(keys, &matrix.output) {
            bail!("--keys and --output name the same file");
        }
    }
    let outputs: Vec<&Path> = [&*matrix.output]
        .into_iter()
        .chain(matrix.keys.as_deref())
        .collect();
    check_not_read(&outputs, matrix.files.listed.files_from.iter())?;
    matrix.files.telling.check(&matrix.paths, &outputs)
}

/// A signer with slots of 32 bits.
fn signer(schema: &Schema) -> Result<Signer> {
    let (family, seed, slots) = (schema.family(), schema.seed(), schema.permutations());
    Ok(Signer::new(family, seed, slots, SlotWidth::Bits32)?)
}
