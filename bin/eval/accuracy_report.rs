//! How far estimates are from exact similarities, as it is shown.

use super::accuracy::{Accuracy, Counts};
use super::corpus::pairs;
use super::report::{Report, Row};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// By kind of shingle, family and number of permutations.
    pub(super) found: Vec<Accuracy>,
    /// Whether something could not be read.
    pub(super) failed: bool,
}

/// A line of the table.
type Line<'a> = (&'a Accuracy, f64, Counts);

impl Measured {
    pub(super) fn report(&self, asked: &eval::Accuracy) -> Report {
        let heading = format!(
            "{}; {} with permutations of their own",
            self.texts(),
            counted(asked.runs.into(), "run", "runs"),
        );
        let notes = "off: pairs whose estimate differs by more than epsilon, mean of the runs; in \
                     brackets: expected of ideal permutations; deviation: in standard errors";
        let lines: Vec<Line<'_>> = self.lines(&asked.epsilon).collect();
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
        let number = |found: &Accuracy| {
            format!(
                "{} of {}",
                counted(pairs(found.texts), "pair", "pairs"),
                counted(found.texts as u64, "text", "texts")
            )
        };
        let kinds: Vec<&Accuracy> = self
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

    fn lines<'a>(&'a self, epsilons: &'a [f64]) -> impl Iterator<Item = Line<'a>> {
        self.found.iter().flat_map(move |found| {
            let counts = epsilons.iter().zip(&found.counts);
            counts.map(move |(&epsilon, &counts)| (found, epsilon, counts))
        })
    }

    /// The errors by the number of permutations, and the pairs that are off.
    fn picture(&self, asked: &eval::Accuracy) -> Picture {
        let (mut errors, mut off) = (Vec::new(), Vec::new());
        let of_one =
            |a: &Accuracy, b: &Accuracy| (a.shingling, a.family) == (b.shingling, b.family);
        for (hue, group) in self.found.chunk_by(of_one).enumerate() {
            let points = |of: &dyn Fn(&Accuracy) -> f64| {
                let points = group.iter().map(|a| (f64::from(a.permutations), of(a)));
                points.collect::<Vec<(f64, f64)>>()
            };
            let name = format!("{} of {} shingles", group[0].family, group[0].shingling);
            errors.push(Series::new("", Form::Line, hue, points(&|a| a.ideal_error)));
            errors.push(Series::new(&name, Form::Points, hue, points(&|a| a.error)));
            for (index, epsilon) in asked.epsilon.iter().enumerate() {
                let name = format!("{name}, by more than {epsilon}");
                let hue = hue * asked.epsilon.len() + index;
                let ideal = points(&|a| a.counts[index].ideal);
                let mean = points(&|a| a.counts[index].mean);
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

fn row((found, epsilon, counts): &Line<'_>, asked: &eval::Accuracy) -> Row {
    vec![
        ("shingling", found.shingling.to_string().into()),
        ("family", found.family.to_string().into()),
        ("permutations", found.permutations.into()),
        ("epsilon", (*epsilon).into()),
        ("texts", found.texts.into()),
        ("pairs", pairs(found.texts).into()),
        ("runs", asked.runs.into()),
        ("mean_off", counts.mean.into()),
        ("ideal_off", counts.ideal.into()),
        ("standard_error", counts.standard_error.into()),
        ("deviation", counts.deviation().into()),
        ("error", found.error.into()),
        ("ideal_error", found.ideal_error.into()),
        ("signing_seconds", found.signing.into()),
    ]
}

fn table(lines: &[Line<'_>]) -> Table {
    let mut table = Table::named_by(4);
    let mut column = |head: &str, cell: &dyn Fn(&Line<'_>) -> String| {
        table.column(head, lines.iter().map(cell));
    };
    column("shingles", &|(found, ..)| found.shingling.to_string());
    column("family", &|(found, ..)| found.family.to_string());
    column("permutations", &|(found, ..)| {
        grouped(found.permutations.into())
    });
    column("epsilon", &|(_, epsilon, _)| epsilon.to_string());
    column("off", &|(.., counts)| {
        format!("{} ({})", number(counts.mean), number(counts.ideal))
    });
    column("deviation", &|(.., counts)| {
        let deviation = counts.deviation();
        deviation.map_or_else(String::new, |deviation| format!("{deviation:+.1}"))
    });
    column("error", &|(found, ..)| {
        format!("{:.4} ({:.4})", found.error, found.ideal_error)
    });
    column("signing", &|(found, ..)| seconds(found.signing));
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
