//! How far estimates are from exact similarities, as it is shown.

use dedupdb::eval::{Accuracy, Off, accuracy_picture, pairs};
use dedupdb::sketching::Shingling;

use super::accuracy::Found;
use super::report::{Report, Row};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// By kind of shingle.
    pub(super) found: Vec<Found>,
    /// Whether something could not be read.
    pub(super) failed: bool,
}

/// A line of the table.
type Line<'a> = (&'a Found, &'a Accuracy, Off);

impl Measured {
    pub(super) fn report(&self, asked: &eval::Accuracy) -> Report {
        let heading = format!(
            "{}; {} with permutations of their own",
            self.texts(),
            counted(asked.runs.into(), "run", "runs"),
        );
        let notes = "off: pairs whose estimate differs by more than epsilon, mean of the runs; in \
                     brackets: expected of ideal permutations; deviation: in standard errors";
        let lines: Vec<Line<'_>> = self.lines().collect();
        let kinds = self.found.iter();
        let kinds: Vec<(Shingling, &[Accuracy])> =
            kinds.map(|kind| (kind.shingling, &*kind.rows)).collect();
        Report {
            rows: lines.iter().map(|line| row(line, asked)).collect(),
            heading: vec![heading],
            table: table(&lines),
            notes: vec![notes.to_owned()],
            picture: accuracy_picture(&kinds),
            failed: self.failed,
        }
    }

    /// How many texts are compared; of each kind of shingles, if that is not the same.
    fn texts(&self) -> String {
        let number = |found: &Found| {
            format!(
                "{} of {}",
                counted(pairs(found.texts), "pair", "pairs"),
                counted(found.texts as u64, "text", "texts")
            )
        };
        let kinds = &self.found;
        if kinds.iter().all(|kind| kind.texts == kinds[0].texts) {
            return kinds.first().map_or_else(String::new, number);
        }
        let kinds = kinds
            .iter()
            .map(|kind| format!("{} ({})", number(kind), kind.shingling));
        kinds.collect::<Vec<String>>().join(", ")
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let rows = self.found.iter();
        let rows = rows.flat_map(|found| found.rows.iter().map(move |row| (found, row)));
        rows.flat_map(|(found, row)| row.off.iter().map(move |&off| (found, row, off)))
    }
}

fn row((found, row, off): &Line<'_>, asked: &eval::Accuracy) -> Row {
    vec![
        ("shingling", found.shingling.to_string().into()),
        ("family", row.family.to_string().into()),
        ("permutations", row.permutations.into()),
        ("epsilon", off.epsilon.into()),
        ("texts", found.texts.into()),
        ("pairs", pairs(found.texts).into()),
        ("runs", asked.runs.into()),
        ("mean_off", off.mean.into()),
        ("ideal_off", off.ideal.into()),
        ("standard_error", off.standard_error.into()),
        ("deviation", off.deviation().into()),
        ("error", row.error.into()),
        ("ideal_error", row.ideal_error.into()),
        ("signing_seconds", row.signing.into()),
    ]
}

fn table(lines: &[Line<'_>]) -> Table {
    let mut table = Table::named_by(4);
    let mut column = |head: &str, cell: &dyn Fn(&Line<'_>) -> String| {
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

/// A mean number of pairs, with digits after the point where they say something.
fn number(mean: f64) -> String {
    if mean >= 100.0 {
        format!("{mean:.0}")
    } else if mean >= 10.0 {
        format!("{mean:.1}")
    } else {
        format!("{mean:.3}")
    }
}
