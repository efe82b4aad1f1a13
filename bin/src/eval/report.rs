//! Prints and writes the results of an experiment.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dedupdb_corpus::publish::{AtomicFile, check_output, csv_field};
use dedupdb_lab::eval::{ExperimentReport, FigureRow};

use crate::args::eval::EvalResultArgs;
use crate::console::Console;
use crate::json;
use crate::output::Output;
use crate::picture;

/// The result of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct ExperimentOutcome {
    report: ExperimentReport,
    /// Whether something could not be read.
    pub(crate) failed: bool,
}

impl ExperimentOutcome {
    /// Returns a result. `failed` says whether something could not be read.
    pub(crate) fn new(report: ExperimentReport, failed: bool) -> ExperimentOutcome {
        ExperimentOutcome { report, failed }
    }

    /// The same result, with the name of the corpus in the picture.
    pub(crate) fn of_corpus(self, corpus: &str) -> ExperimentOutcome {
        ExperimentOutcome {
            report: self.report.of_corpus(corpus),
            ..self
        }
    }

    /// Writes the files that the arguments ask for, and prints the figures.
    pub(crate) fn give(
        &self,
        results: &EvalResultArgs,
        console: &Console,
        output: &mut Output,
    ) -> Result<()> {
        self.write(results, console)?;
        if output.is_json() {
            for row in &self.report.rows {
                output.object(&json::FiguresJson::new(row))?;
            }
        } else {
            for line in self.report.lines(output.width()) {
                output.line(line)?;
            }
        }
        Ok(())
    }

    /// Writes the files. This comes first, because standard output may have no reader.
    fn write(&self, results: &EvalResultArgs, console: &Console) -> Result<()> {
        let report = &self.report;
        if let Some(path) = &results.output {
            let text = if is_csv(path) {
                csv(&report.rows)
            } else {
                let lines = report
                    .rows
                    .iter()
                    .map(|row| json::line(&json::FiguresJson::new(row)));
                lines
                    .map(|line| Ok(line? + "\n"))
                    .collect::<Result<String>>()?
            };
            AtomicFile::of(path, text.as_bytes())?;
            console.note(&format!("wrote {}", path.display()));
        }
        if let Some(path) = &results.plot {
            picture::write(&report.picture, path)?;
            console.note(&format!("drew {}", path.display()));
        }
        Ok(())
    }
}

/// Checks the names of the files that the arguments ask for, before any work is done.
///
/// The files must be possible to create, have the right extensions, and be apart from the inputs.
pub(crate) fn check_names(results: &EvalResultArgs, inputs: &[PathBuf]) -> Result<()> {
    if let Some(path) = &results.plot {
        picture::check_name(path)?;
    }
    for path in results.output.iter().chain(&results.plot) {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if folder.is_some_and(|folder| !folder.is_dir()) {
            bail!(
                "{}: the folder of this file does not exist; create it first",
                path.display()
            );
        }
        check_output(path, inputs)?;
    }
    if let Some(path) = &results.output
        && !is_csv(path)
        && path.extension() != Some(OsStr::new("jsonl"))
    {
        bail!(
            "{}: figures are written as CSV or JSON lines; give it a name that ends in .csv or \
             .jsonl",
            path.display()
        );
    }
    Ok(())
}

fn is_csv(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("csv"))
}

/// The rows below a header. An unknown figure is an empty field.
fn csv(rows: &[FigureRow]) -> String {
    let names = rows.first().into_iter().flatten();
    let mut text = names.map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        let cells = row.iter().map(|(_, figure)| figure.to_string());
        let cells: Vec<String> = cells.map(|cell| csv_field(&cell).into_owned()).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}
