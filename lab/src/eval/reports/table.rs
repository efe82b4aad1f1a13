//! Tables and lines that fit a terminal.

use std::fmt::Write as _;

/// The number of spaces between columns.
const GAP: usize = 2;

/// A table whose first and last columns are left-aligned, and the others right-aligned.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    columns: Vec<TextColumn>,
    /// The number of columns that name a row; 0 stands for one.
    names: usize,
}

#[derive(Clone, Debug)]
struct TextColumn {
    is_left: bool,
    cells: Vec<String>,
}

impl TextColumn {
    fn width(&self) -> usize {
        let widths = self.cells.iter().map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

impl TextTable {
    /// Creates a table in which this number of columns at the front name a row.
    pub fn named_by(names: usize) -> TextTable {
        TextTable {
            columns: Vec::new(),
            names,
        }
    }

    /// Adds a column to the right of the others.
    pub fn column(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        let cells = [head.to_owned()].into_iter().chain(cells).collect();
        if self.columns.len() > 1
            && let Some(last) = self.columns.last_mut()
        {
            last.is_left = false;
        }
        self.columns.push(TextColumn {
            is_left: true,
            cells,
        });
    }

    /// Returns the lines, each with at most `width` characters. If the columns do not fit beside each other, the table
    /// continues below itself, and each part repeats the columns that name its rows.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let all: Vec<&TextColumn> = self.columns.iter().collect();
        let (names, others) = all.split_at(self.names.max(1).min(all.len()));
        let needed = |column: &TextColumn| match column.width() {
            0 => 0,
            width => GAP + width,
        };
        let of_names = names.iter().map(|name| needed(name)).sum::<usize>();
        let mut parts = vec![names.to_vec()];
        let mut used = of_names;
        for &column in others {
            let is_begun = parts.last().is_some_and(|part| part.len() > names.len());
            // Each part has at least one more column, whatever the width.
            if is_begun && used + needed(column) > width.saturating_add(GAP) {
                parts.push(names.to_vec());
                used = of_names;
            }
            used += needed(column);
            parts
                .last_mut()
                .into_iter()
                .for_each(|part| part.push(column));
        }
        let rows = all.first().map_or(0, |column| column.cells.len());
        let parts = parts
            .iter()
            .map(|part| (0..rows).map(|row| line(part, row)));
        let mut lines = Vec::new();
        for part in parts {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(part);
        }
        lines
    }
}

fn line(columns: &[&TextColumn], row: usize) -> String {
    let mut line = String::new();
    for column in columns {
        let cell = column.cells.get(row).map_or("", String::as_str);
        let width = column.width();
        // Writing to a string does not fail.
        let _ = if column.is_left {
            write!(line, "{cell:<width$}  ")
        } else {
            write!(line, "{cell:>width$}  ")
        };
    }
    line.trim_end().to_owned()
}

/// Breaks a line into lines of at most `width` characters. Lines after the first are indented by two more spaces. A
/// word that does not fit is not broken.
pub fn wrap(line: &str, width: usize) -> Vec<String> {
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
    use super::{TextTable, wrap};

    fn table() -> TextTable {
        let mut table = TextTable::default();
        let cells = |cells: [&str; 2]| cells.map(str::to_owned);
        table.column("shape", cells(["7x3", "17x7"]));
        table.column("at 0.8", cells(["12.0%", "98.2%"]));
        table.column("work", cells(["3.0", "1,000.0"]));
        table.column("", cells(["", "best"]));
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
    fn what_does_not_fit_goes_on_below() {
        assert_eq!(table().lines(28), table().lines(usize::MAX));
        let lines = table().lines(22);
        assert_eq!(
            lines,
            [
                "shape  at 0.8     work",
                "7x3     12.0%      3.0",
                "17x7    98.2%  1,000.0",
                "",
                "shape",
                "7x3",
                "17x7   best"
            ]
        );
        for width in 1..30 {
            let lines = table().lines(width);
            let words = |lines: &[String]| lines.join(" ").split_whitespace().count();
            let times = lines
                .iter()
                .filter(|line| line.starts_with("shape"))
                .count();
            assert_eq!(words(&lines), 8 + 3 * times, "{width}: {lines:?}");
            let fits = lines.iter().all(|line| line.chars().count() <= width);
            assert!(fits || width < 14, "{width}: {lines:?}");
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
