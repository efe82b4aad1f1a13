//! The results of an experiment, as rows of named figures and as readable text.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod table;
mod time;
mod tuning;
mod value;

pub use accuracy::{KindAccuracy, accuracy_report};
pub use table::{TextTable, wrap};
pub use time::time_report;
pub use tuning::tuning_report;
pub use value::{FigureRow, Value};

use crate::plot::Picture;

/// The results of an experiment, in every form.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExperimentReport {
    /// Rows with the same names, not rounded.
    pub rows: Vec<FigureRow>,
    /// What the figures describe, one line each.
    pub heading: Vec<String>,
    /// The figures as a readable table.
    pub table: TextTable,
    /// Notes on the figures, one line each.
    pub notes: Vec<String>,
    /// The figures as a picture.
    pub picture: Picture,
}

impl ExperimentReport {
    /// Adds to the picture a caption that describes its figures: `corpus`, the version of this crate, and the heading.
    #[must_use]
    pub fn of_corpus(mut self, corpus: &str) -> ExperimentReport {
        let version = concat!("dedupdb ", env!("CARGO_PKG_VERSION"));
        let first = format!("{corpus}; {version}");
        let caption = std::mem::take(&mut self.picture.caption);
        let lines = [first].into_iter().chain(self.heading.iter().cloned());
        self.picture.caption = lines.chain(caption).collect();
        self
    }

    /// Returns the heading, the table and the notes, in lines of at most `width` characters where words and columns
    /// allow it.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let prose = |lines: &[String]| -> Vec<String> {
            lines.iter().flat_map(|line| wrap(line, width)).collect()
        };
        let mut lines = prose(&self.heading);
        lines.extend(self.table.lines(width));
        lines.extend(prose(&self.notes));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_as_the_table_is() {
        let mut table = TextTable::default();
        table.column("shape", ["7x3".to_owned()]);
        let report = ExperimentReport {
            heading: vec!["one two three".to_owned()],
            table,
            notes: vec!["four".to_owned()],
            ..ExperimentReport::default()
        };
        assert_eq!(report.lines(80), ["one two three", "shape", "7x3", "four"]);
        assert_eq!(report.lines(8)[..2], ["one two", "  three"]);
    }
}
