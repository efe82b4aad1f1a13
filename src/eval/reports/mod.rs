//! What an experiment found, as rows of named figures and as people read it.

mod accuracy;
mod bands;
mod recall;
mod shingles;
mod table;
mod time;
mod tuning;
mod value;

pub use accuracy::{KindAccuracy, accuracy_report};
pub use table::{Table, wrap};
pub use time::time_report;
pub use tuning::tuning_report;
pub use value::{Row, Value};

use crate::plot::Picture;

/// What an experiment found, in every form.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Rows of the same names, not rounded.
    pub rows: Vec<Row>,
    /// What the figures are of, a line each.
    pub heading: Vec<String>,
    /// The figures for people.
    pub table: Table,
    /// What they say, a line each.
    pub notes: Vec<String>,
    /// The figures drawn.
    pub picture: Picture,
}

impl Report {
    /// The same, with a picture that says below what its figures are of: `corpus`, what the heading says, and the
    /// version of this crate.
    #[must_use]
    pub fn of_corpus(mut self, corpus: &str) -> Report {
        let version = concat!("dedupdb ", env!("CARGO_PKG_VERSION"));
        let first = format!("{corpus}; {version}");
        let caption = std::mem::take(&mut self.picture.caption);
        let lines = [first].into_iter().chain(self.heading.iter().cloned());
        self.picture.caption = lines.chain(caption).collect();
        self
    }

    /// The heading, the table and the notes, in lines of at most `width` characters where words and columns allow
    /// it.
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
        let mut table = Table::default();
        table.column("shape", ["7x3".to_owned()]);
        let report = Report {
            heading: vec!["one two three".to_owned()],
            table,
            notes: vec!["four".to_owned()],
            ..Report::default()
        };
        assert_eq!(report.lines(80), ["one two three", "shape", "7x3", "four"]);
        assert_eq!(report.lines(8)[..2], ["one two", "  three"]);
    }
}
