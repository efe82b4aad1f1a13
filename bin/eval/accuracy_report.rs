//! How far estimates are from exact similarities, as it is shown.

use dedupdb::eval::{Accuracy, Off};
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

use super::accuracy::Found;
use super::corpus::pairs;
use super::report::{Report, Row};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// By kind of shingle, family and number of permutations.
    pub(super) found: Vec<Found>,
    /// Whether something could not be read.
    pub(super) failed: bool,
}

/// A line of the table.
type Line<'a> = (&'a Found, Off);

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
        Report {
            rows: lines.iter().map(|line| row(line, asked)).collect(),
            heading: vec![heading],
            table: table(&lines),
            notes: vec![notes.to_owned()],
            picture: self.picture(asked),
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
        let kinds: Vec<&Found> = self
            .found
            .chunk_by(|a, b| a.shingling == b.shingling)
            .map(|kind| &kind[0])
            .collect();
        if kinds.iter().all(|kind| kind.texts == kinds[0].texts) {
            return kinds.first().map_or_else(String::new, |kind| number(kind));
        }
        let kinds = kinds
            .iter()
            .map(|kind| format!("{} ({})", number(kind), kind.shingling));
        kinds.collect::<Vec<String>>().join(", ")
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let lines = |found| move |&off| (found, off);
        let found = self.found.iter();
        found.flat_map(move |found| found.row.off.iter().map(lines(found)))
    }

    /// The errors by the number of permutations, and the pairs that are off.
    fn picture(&self, asked: &eval::Accuracy) -> Picture {
        let (mut errors, mut off) = (Vec::new(), Vec::new());
        let of_one =
            |a: &Found, b: &Found| (a.shingling, a.row.family) == (b.shingling, b.row.family);
        for (hue, group) in self.found.chunk_by(of_one).enumerate() {
            let points = |of: &dyn Fn(&Accuracy) -> f64| {
                let rows = group.iter().map(|found| &found.row);
                let points = rows.map(|row| (f64::from(row.permutations), of(row)));
                points.collect::<Vec<(f64, f64)>>()
            };
            let name = format!("{} of {} shingles", group[0].row.family, group[0].shingling);
            errors.push(Series::new("", Form::Line, hue, points(&|a| a.ideal_error)));
            errors.push(Series::new(&name, Form::Points, hue, points(&|a| a.error)));
            for (index, epsilon) in asked.epsilon.iter().enumerate() {
                let name = format!("{name}, by more than {epsilon}");
                let hue = hue * asked.epsilon.len() + index;
                let ideal = points(&|a| a.off[index].ideal);
                let mean = points(&|a| a.off[index].mean);
                off.push(Series::new("", Form::Line, hue, ideal));
                off.push(Series::new(&name, Form::Points, hue, mean));
            }
        }
        let panel = |title, y, series| Panel::new(title, Axis::linear("permutations"), y, series);
        Picture::new(vec![
            panel(
                "Error of estimates; lines: ideal",
                Axis::linear("root of the mean square"),
                errors,
            ),
            panel("Pairs that are off; lines: ideal", Axis::log("pairs"), off),
        ])
    }
}

fn row((found, off): &Line<'_>, asked: &eval::Accuracy) -> Row {
    let row = &found.row;
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
    column("family", &|(found, ..)| found.row.family.to_string());
    column("permutations", &|(found, ..)| {
        grouped(found.row.permutations.into())
    });
    column("epsilon", &|(_, off)| off.epsilon.to_string());
    column("off", &|(_, off)| {
        format!("{} ({})", number(off.mean), number(off.ideal))
    });
    column("deviation", &|(_, off)| {
        let deviation = off.deviation();
        deviation.map_or_else(String::new, |deviation| format!("{deviation:+.1}"))
    });
    column("error", &|(found, ..)| {
        format!("{:.4} ({:.4})", found.row.error, found.row.ideal_error)
    });
    column("signing", &|(found, ..)| seconds(found.row.signing));
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
