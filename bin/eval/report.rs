//! What an experiment found, in every form that it is given in.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use dedupdb::plot::Picture;
use dedupdb::publish::{Whole, check_output};
use serde_json::{Map, Value};

use crate::args::eval::Results;
use crate::console::Console;
use crate::field::quoted;
use crate::output::Output;
use crate::picture;
use crate::table::Table;

/// A row of figures, each with its name.
pub(crate) type Row = Vec<(&'static str, Value)>;

/// What an experiment found.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Rows of the same names, not rounded.
    pub(crate) rows: Vec<Row>,
    /// What the figures are of, a line each.
    pub(crate) heading: Vec<String>,
    /// The figures for people.
    pub(crate) table: Table,
    /// What they say, a line each.
    pub(crate) notes: Vec<String>,
    pub(crate) picture: Picture,
    /// Whether something could not be read.
    pub(crate) failed: bool,
}

impl Report {
    /// Writes the files that are asked for, and prints the figures.
    pub(crate) fn give(
        &self,
        results: &Results,
        console: &Console,
        output: &mut Output,
    ) -> Result<()> {
        self.write(results, console)?;
        if output.is_json() {
            for row in &self.rows {
                output.object(&object(row))?;
            }
        } else {
            for line in &self.heading {
                output.prose(line)?;
            }
            for line in self.table.lines(output.width()) {
                output.line(line)?;
            }
            for line in &self.notes {
                output.prose(line)?;
            }
        }
        Ok(())
    }

    /// Writes the files first: nobody may be there to read standard output.
    fn write(&self, results: &Results, console: &Console) -> Result<()> {
        if let Some(path) = &results.output {
            let text = if is_csv(path) {
                self.csv()
            } else {
                self.json_lines()
            };
            Whole::of(path, text.as_bytes())?;
            console.note(&format!("wrote {}", path.display()));
        }
        if let Some(path) = &results.plot {
            picture::write(&self.picture, path)?;
            console.note(&format!("drew {}", path.display()));
        }
        Ok(())
    }

    fn csv(&self) -> String {
        let mut text = String::new();
        let names = self.rows.first().into_iter().flatten();
        push_line(&mut text, names.map(|(name, _)| (*name).to_owned()));
        for row in &self.rows {
            push_line(&mut text, row.iter().map(|(_, value)| cell(value)));
        }
        text
    }

    fn json_lines(&self) -> String {
        let lines = self.rows.iter().map(|row| format!("{}\n", object(row)));
        lines.collect()
    }
}

/// Checks, before any work is done, that the files that are asked for can be made, can be what they
/// are called, and are apart from the inputs.
pub(crate) fn check_names(results: &Results, inputs: &[PathBuf]) -> Result<()> {
    if let Some(path) = &results.plot {
        picture::check_name(path)?;
    }
    for path in results.output.iter().chain(&results.plot) {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if folder.is_some_and(|folder| !folder.is_dir()) {
            bail!(
                "{}: there is no folder for it; make it first",
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

fn object(row: &Row) -> Value {
    let fields = row.iter();
    let fields: Map<String, Value> = fields
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    Value::Object(fields)
}

fn push_line(text: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    text.push_str(&cells.join(","));
    text.push('\n');
}

/// A value as a field of CSV.
fn cell(value: &Value) -> String {
    quoted(match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Picture, Report, Table, Value};

    #[test]
    fn csv_quotes_what_needs_it() {
        let row = |text: &str| vec![("a", Value::Null), ("b", text.into()), ("c", 0.5.into())];
        let report = Report {
            rows: vec![row("x"), row("x, \"y\"")],
            heading: Vec::new(),
            table: Table::default(),
            notes: Vec::new(),
            picture: Picture::default(),
            failed: false,
        };
        assert_eq!(report.csv(), "a,b,c\n,x,0.5\n,\"x, \"\"y\"\"\",0.5\n");
        let lines = report.json_lines();
        assert_eq!(lines.lines().next(), Some(r#"{"a":null,"b":"x","c":0.5}"#));
    }
}
