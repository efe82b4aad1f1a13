//! `matrix`: writes the signatures of texts as a table.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use dedupdb::corpus::Sourced;
use dedupdb::publish::{Whole, check_output, is_same};
use dedupdb::sketching::{Shingler, Signer, SlotWidth};
use rayon::prelude::*;
use serde_json::json;

use crate::args::eval::Texts;
use crate::args::{Args, Matrix};
use crate::console::Console;
use crate::eval::each;
use crate::exit::Exit;
use crate::field::quoted;
use crate::interrupt::Interrupt;
use crate::npy;
use crate::number::{bytes, counted, grouped, seconds};
use crate::output::{Output, escape};

/// Runs `matrix`.
pub(crate) fn run(
    args: &Args,
    matrix: &Matrix,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    let form = Form::of(&matrix.output)?;
    let schema = matrix.signing.schema()?;
    let (permutations, width) = (schema.permutations(), SlotWidth::Bits32);
    let signing = Signing {
        shingler: schema.shingler()?,
        signer: Signer::new(schema.family(), schema.seed(), permutations, width)?,
    };
    check_outputs(matrix)?;
    let interrupt = Interrupt::catch()?;
    let mut table = MatrixTable::create(form, &matrix.output, permutations)?;
    let mut keys = matrix.keys.as_deref().map(Whole::create).transpose()?;
    let mut taken = 0.0;
    let texts = Texts {
        paths: matrix.paths.clone(),
        inputs: matrix.inputs.clone(),
        telling: matrix.telling.clone(),
    };
    let read = each(args, &texts, console, &interrupt, |documents| {
        let start = Instant::now();
        let rows = signing.rows(&documents)?;
        taken += start.elapsed().as_secs_f64();
        for (document, row) in documents.iter().zip(rows) {
            table.push(&document.key, &row)?;
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
    let documents = table.rows;
    if failed && documents == 0 {
        return Ok(Exit::Failed);
    }
    if let Some(keys) = keys {
        keys.finish()?;
    }
    let size = table.finish()?;
    if output.is_json() {
        output.object(&json!({
            "documents": documents,
            "permutations": permutations,
            "shingling": schema.shingling().to_string(),
            "family": schema.family().to_string(),
            "seed": schema.seed(),
            "bytes": size,
            "seconds": taken,
        }))?;
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

/// From texts to rows of minima.
struct Signing {
    shingler: Shingler,
    signer: Signer,
}

impl Signing {
    fn rows(&self, documents: &[Sourced]) -> Result<Vec<Vec<u32>>> {
        let row = |document: &Sourced| {
            let shingles = self.shingler.shingles(document.text());
            let shingles = shingles.with_context(|| document.place())?;
            Ok(self.signer.minima(shingles.as_slice()))
        };
        // The error that is told is the first one's, whatever the threads did.
        let rows: Vec<Result<Vec<u32>>> = documents.par_iter().map(row).collect();
        rows.into_iter().collect()
    }
}

/// What the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Csv,
    Npy,
}

impl Form {
    fn of(path: &Path) -> Result<Form> {
        match path.extension().and_then(OsStr::to_str) {
            Some("csv") => Ok(Form::Csv),
            Some("npy") => Ok(Form::Npy),
            _ => bail!(
                "{}: a matrix is written as CSV or for NumPy; give it a name that ends in .csv or \
                 .npy",
                path.display()
            ),
        }
    }
}

/// The file.
struct MatrixTable {
    form: Form,
    file: Whole,
    columns: u32,
    rows: u64,
}

impl MatrixTable {
    fn create(form: Form, path: &Path, columns: u32) -> Result<MatrixTable> {
        let mut file = Whole::create(path)?;
        match form {
            Form::Csv => {
                let numbers = (0..columns).map(|column| format!(",{column}"));
                file.write(format!("document{}\n", numbers.collect::<String>()).as_bytes())?;
            }
            // Of as many bytes as the one with the number of rows.
            Form::Npy => file.write(&npy::header(0, columns))?,
        }
        Ok(MatrixTable {
            form,
            file,
            columns,
            rows: 0,
        })
    }

    fn push(&mut self, key: &str, row: &[u32]) -> Result<()> {
        self.rows += 1;
        let bytes = match self.form {
            Form::Csv => {
                let slots = row.iter().map(|slot| format!(",{slot}"));
                format!("{}{}\n", quoted(key.to_owned()), slots.collect::<String>()).into_bytes()
            }
            Form::Npy => row.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
        };
        Ok(self.file.write(&bytes)?)
    }

    /// Puts the file in its place; returns its size in bytes.
    fn finish(mut self) -> Result<u64> {
        if self.form == Form::Npy {
            let (rows, columns) = (self.rows, self.columns);
            self.file.edit(|file| npy::rewrite(file, rows, columns))?;
        }
        Ok(self.file.finish()?)
    }
}
