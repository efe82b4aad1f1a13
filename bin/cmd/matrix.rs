//! `matrix`: writes the signatures of texts as a table.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use dedupdb::{Shingler, Signer, SlotWidth};
use rayon::prelude::*;
use serde_json::json;

use crate::args::eval::Texts;
use crate::args::{Args, Matrix};
use crate::console::Console;
use crate::document::Document;
use crate::eval::each;
use crate::exit::Exit;
use crate::field::quoted;
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
        shingler: Shingler::new(schema.shingling(), schema.lowercase(), schema.nfkc())?,
        signer: Signer::new(schema.family(), schema.seed(), permutations, width)?,
    };
    let mut table = Table::create(form, &matrix.output, permutations)?;
    let mut keys = String::new();
    let mut taken = 0.0;
    let texts = Texts {
        paths: matrix.paths.clone(),
        inputs: matrix.inputs.clone(),
    };
    let failed = each(args, &texts, console, |documents| {
        let start = Instant::now();
        let rows = signing.rows(&documents)?;
        taken += start.elapsed().as_secs_f64();
        for (document, row) in documents.iter().zip(rows) {
            table.push(&document.key, &row)?;
            if matrix.keys.is_some() {
                keys += &escape(&document.key);
                keys.push('\n');
            }
        }
        Ok(())
    })?;
    let documents = table.rows;
    let size = table.finish()?;
    if let Some(path) = &matrix.keys {
        fs::write(path, keys).with_context(|| path.display().to_string())?;
    }
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
    Ok(if failed { Exit::Failed } else { Exit::Found })
}

/// From texts to rows of minima.
struct Signing {
    shingler: Shingler,
    signer: Signer,
}

impl Signing {
    fn rows(&self, documents: &[Document]) -> Result<Vec<Vec<u32>>> {
        let row = |document: &Document| {
            let shingles = self.shingler.shingles(&document.text);
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

/// The file, under another name until it is whole.
struct Table {
    form: Form,
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    columns: u32,
    rows: u64,
}

impl Table {
    fn create(form: Form, path: &Path, columns: u32) -> Result<Table> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).with_context(|| part.display().to_string())?;
        let mut table = Table {
            form,
            path: path.to_owned(),
            part,
            file: BufWriter::new(file),
            columns,
            rows: 0,
        };
        let head = match form {
            Form::Csv => {
                let numbers = (0..columns).map(|column| format!(",{column}"));
                format!("document{}\n", numbers.collect::<String>()).into_bytes()
            }
            // Of as many bytes as the one with the number of rows.
            Form::Npy => npy::header(0, columns).to_vec(),
        };
        table.write(&head)?;
        Ok(table)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| self.part.display().to_string())
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
        self.write(&bytes)
    }

    /// Gives the file its name; returns its size in bytes.
    fn finish(mut self) -> Result<u64> {
        let place = self.path.display().to_string();
        if self.form == Form::Npy {
            npy::rewrite(&mut self.file, self.rows, self.columns).context(place.clone())?;
        }
        let file = self.file.into_inner().map_err(IntoInnerError::into_error);
        let size = file
            .and_then(|file| file.metadata())
            .context(place.clone())?
            .len();
        fs::rename(&self.part, &self.path).context(place)?;
        Ok(size)
    }
}
