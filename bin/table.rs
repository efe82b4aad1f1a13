//! Tables that fit the terminal.

use std::fmt::Write as _;

/// Blanks between columns.
const GAP: usize = 2;

/// A table whose first and last columns are left-aligned, and the others right-aligned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    worth: u8,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let widths = self.cells.iter().map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

impl Table {
    /// Adds a column to the right of the others. Where the terminal is narrow, columns of less
    /// worth are left out first, all of the same worth together.
    pub(crate) fn column(
        &mut self,
        worth: u8,
        head: &str,
        cells: impl IntoIterator<Item = String>,
    ) {
        let cells = [head.to_owned()].into_iter().chain(cells).collect();
        self.columns.push(Column { worth, cells });
    }

    /// The lines, none of more than `width` characters if leaving out columns can do that.
    pub(crate) fn lines(&self, width: usize) -> Vec<String> {
        let mut columns: Vec<&Column> = self.columns.iter().collect();
        let needed = |columns: &[&Column]| -> usize {
            columns.iter().map(|column| column.width() + GAP).sum()
        };
        let most = columns.iter().map(|column| column.worth).max();
        while needed(&columns) > width.saturating_add(GAP)
            && let Some(least) = columns.iter().map(|column| column.worth).min()
            && Some(least) < most
        {
            columns.retain(|column| column.worth > least);
        }
        let rows = columns.iter().map(|column| column.cells.len()).max();
        (0..rows.unwrap_or(0))
            .map(|row| line(&columns, row))
            .collect()
    }
}

fn line(columns: &[&Column], row: usize) -> String {
    let mut line = String::new();
    for (index, column) in columns.iter().enumerate() {
        let cell = column.cells.get(row).map_or("", String::as_str);
        let width = column.width();
        // Writing to a string does not fail.
        let _ = if index == 0 || index + 1 == columns.len() {
            write!(line, "{cell:<width$}  ")
        } else {
            write!(line, "{cell:>width$}  ")
        };
    }
    line.trim_end().to_owned()
}

/// The lines that a line becomes where no more than `width` characters fit; those after the first
/// are indented by two more. A word that does not fit is left whole.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let words = line.trim_start();
    let indent = " ".repeat(line.len() - words.len());
    let mut lines = Vec::new();
    let mut current = indent.clone();
    let mut is_empty = true;
    for word in words.split(' ') {
        if !is_empty && current.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut current, format!("{indent}  ")));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::{Table, wrap};

    fn table() -> Table {
        let mut table = Table::default();
        let cells = |cells: [&str; 2]| cells.map(str::to_owned);
        table.column(9, "shape", cells(["7x3", "17x7"]));
        table.column(1, "at 0.8", cells(["12.0%", "98.2%"]));
        table.column(2, "work", cells(["3.0", "1,000.0"]));
        table.column(9, "", cells(["", "best"]));
        table
    }

    #[test]
    fn columns_are_aligned() {
        let lines = table().lines(usize::MAX);
        assert_eq!(
            lines,
            [
                "shape  at 0.8     work",
                "7x3     12.0%      3.0",
                "17x7    98.2%  1,000.0  best"
            ]
        );
    }

    #[test]
    fn what_is_worth_least_goes_first() {
        for (width, columns) in [(28, 4), (27, 3), (20, 3), (19, 2), (1, 2)] {
            let lines = table().lines(width);
            let words = lines[2].split_whitespace().count();
            assert_eq!(words, columns, "{width}: {lines:?}");
            let fits = lines.iter().all(|line| line.chars().count() <= width);
            assert!(fits || width == 1, "{width}: {lines:?}");
        }
    }

    #[test]
    fn prose_is_wrapped_between_words() {
        assert_eq!(wrap("a line that fits", 16), ["a line that fits"]);
        let wrapped = wrap("  one two three fourteen-letters x", 11);
        assert_eq!(
            wrapped,
            ["  one two", "    three", "    fourteen-letters", "    x"]
        );
    }
}
