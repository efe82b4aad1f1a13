//! `matrix`: writes the signatures of texts as a table.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::batch::minima;
use dedupdb::corpus::Sourced;
use dedupdb::publish::{MatrixFile, Whole, check_output, is_same};
use dedupdb::{Error, Schema};

use crate::args::eval::Texts;
use crate::args::{Args, Matrix};
use crate::console::Console;
use crate::eval::each;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::json;
use crate::number::{bytes, counted, grouped, seconds};
use crate::output::{Output, escape};

/// Runs `matrix`.
pub(crate) fn run(
    args: &Args,
    matrix: &Matrix,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    MatrixFile::check_name(&matrix.output)?;
    let schema = matrix.signing.schema()?;
    let permutations = schema.permutations();
    check_outputs(matrix)?;
    let interrupt = Interrupt::catch()?;
    let mut table = MatrixFile::create(&matrix.output, permutations)?;
    let mut keys = matrix.keys.as_deref().map(Whole::create).transpose()?;
    let mut taken = 0.0;
    let texts = Texts {
        paths: matrix.paths.clone(),
        inputs: matrix.inputs.clone(),
        telling: matrix.telling.clone(),
    };
    let read = each(args, &texts, console, &interrupt, |documents| {
        let start = Instant::now();
        let signed = signatures(&schema, &documents)?;
        taken += start.elapsed().as_secs_f64();
        let rows = signed.chunks_exact(permutations as usize);
        for (document, row) in documents.iter().zip(rows) {
            table.push(&document.key, row)?;
            if let Some(keys) = &mut keys {
                keys.write(format!("{}\n", escape(&document.key)).as_bytes())?;
            }
        }
        Ok(())
    });
    let failed = match read {
        Err(_) if interrupt.is_raised() => {
            console.error("stopped; nothing is written");
            return Ok(Exit::Interrupted);
        }
        read => read?,
    };
    let documents = table.rows();
    if failed && documents == 0 {
        return Ok(Exit::Failed);
    }
    if let Some(keys) = keys {
        keys.finish()?;
    }
    let size = table.finish()?;
    if output.is_json() {
        output.object(&json::Matrix::new(&schema, documents, size, taken))?;
    } else if !args.quiet {
        output.line(format!(
            "{} of {} permutations, {}; shingles and signatures took {}",
            counted(documents, "document", "documents"),
            grouped(permutations.into()),
            bytes(size),
            seconds(taken)
        ))?;
    }
    Ok(Exit::failed(failed))
}

/// Refuses outputs over an input or one another.
fn check_outputs(matrix: &Matrix) -> Result<()> {
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
    matrix.telling.check(&matrix.paths, &outputs)
}

/// The signatures of texts, one after the other.
fn signatures(schema: &Schema, documents: &[Sourced]) -> Result<Vec<u32>> {
    let texts: Vec<&str> = documents.iter().map(Sourced::text).collect();
    match minima(schema, &texts) {
        Err(Error::InvalidColumn { row, reason, .. }) => {
            let place = documents.get(row).map(|document| document.place());
            bail!("{}: {reason}", place.unwrap_or_default())
        }
        signed => Ok(signed?),
    }
}
