//! The differences between estimates and exact similarities, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::eval::{Accuracy, LargeErrors, accuracy_picture, pairs};
use crate::number::{counted, grouped, seconds};
use dedupdb::sketching::Shingling;

/// The measurements with one kind of shingles.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KindAccuracy {
    /// The kind.
    pub shingling: Shingling,
    /// The number of drawn texts with such shingles.
    pub texts: usize,
    /// The measurements, by family and number of permutations.
    pub rows: Vec<Accuracy>,
}

impl KindAccuracy {
    /// Takes the rows that [`accuracy`](crate::eval::accuracy()) measured with this number of texts.
    pub fn new(shingling: Shingling, texts: usize, rows: Vec<Accuracy>) -> KindAccuracy {
        KindAccuracy {
            shingling,
            texts,
            rows,
        }
    }
}

/// A line of the table.
type AccuracyLine<'a> = (&'a KindAccuracy, &'a Accuracy, LargeErrors);

/// Reports the errors of estimates, by kind of shingle. The figures are means of `runs` runs.
pub fn accuracy_report(kinds: &[KindAccuracy], runs: u32) -> ExperimentReport {
    let heading = format!(
        "{}; {} with permutations of their own",
        texts(kinds),
        counted(runs.into(), "run", "runs"),
    );
    let notes = "off: pairs whose estimate differs by more than epsilon, mean of the runs; in \
                 brackets: expected of ideal permutations; deviation: in standard errors";
    let rows = kinds
        .iter()
        .flat_map(|found| found.rows.iter().map(move |row| (found, row)));
    let lines = rows.flat_map(|(found, row)| row.off.iter().map(move |&off| (found, row, off)));
    let lines: Vec<AccuracyLine<'_>> = lines.collect();
    let drawn: Vec<(Shingling, &[Accuracy])> = kinds
        .iter()
        .map(|kind| (kind.shingling, &*kind.rows))
        .collect();
    let mut picture = accuracy_picture(&drawn);
    picture.caption = vec![format!(
        "permutations of the seeds from 0 to {}",
        runs.saturating_sub(1)
    )];
    ExperimentReport {
        rows: lines.iter().map(|line| row(line, runs)).collect(),
        heading: vec![heading],
        table: table(&lines),
        notes: vec![notes.to_owned()],
        picture,
    }
}

/// Returns the number of compared texts, for each kind of shingles if the numbers differ.
fn texts(kinds: &[KindAccuracy]) -> String {
    let number = |found: &KindAccuracy| {
        format!(
            "{} of {}",
            counted(pairs(found.texts), "pair", "pairs"),
            counted(found.texts as u64, "text", "texts")
        )
    };
    if kinds.iter().all(|kind| kind.texts == kinds[0].texts) {
        return kinds.first().map_or_else(String::new, number);
    }
    let kinds = kinds
        .iter()
        .map(|kind| format!("{} ({})", number(kind), kind.shingling));
    kinds.collect::<Vec<String>>().join(", ")
}

fn row((found, row, off): &AccuracyLine<'_>, runs: u32) -> FigureRow {
    vec![
        ("shingling", found.shingling.to_string().into()),
        ("family", row.family.to_string().into()),
        ("permutations", row.permutations.into()),
        ("epsilon", off.epsilon.into()),
        ("texts", found.texts.into()),
        ("pairs", pairs(found.texts).into()),
        ("runs", runs.into()),
        ("mean_off", off.mean.into()),
        ("ideal_off", off.ideal.into()),
        ("standard_error", off.standard_error.into()),
        ("deviation", off.deviation().into()),
        ("error", row.error.into()),
        ("ideal_error", row.ideal_error.into()),
        ("signing_seconds", row.signing.into()),
    ]
}

fn table(lines: &[AccuracyLine<'_>]) -> TextTable {
    let mut table = TextTable::named_by(4);
    let mut column = |head: &str, cell: &dyn Fn(&AccuracyLine<'_>) -> String| {
        table.column(head, lines.iter().map(cell));
    };
    column("shingles", &|(found, ..)| found.shingling.to_string());
    column("family", &|(_, row, _)| row.family.to_string());
    column("permutations", &|(_, row, _)| {
        grouped(row.permutations.into())
    });
    column("epsilon", &|(.., off)| off.epsilon.to_string());
    column("off", &|(.., off)| {
        format!("{} ({})", number(off.mean), number(off.ideal))
    });
    column("deviation", &|(.., off)| {
        let deviation = off.deviation();
        deviation.map_or_else(String::new, |deviation| format!("{deviation:+.1}"))
    });
    column("error", &|(_, row, _)| {
        format!("{:.4} ({:.4})", row.error, row.ideal_error)
    });
    column("signing", &|(_, row, _)| seconds(row.signing));
    table
}

/// Formats a mean number of pairs, with decimals where they are significant.
fn number(mean: f64) -> String {
    if mean >= 100.0 {
        format!("{mean:.0}")
    } else if mean >= 10.0 {
        format!("{mean:.1}")
    } else {
        format!("{mean:.3}")
    }
}
