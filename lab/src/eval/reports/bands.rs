//! The results of different numbers of bands, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::eval::{BandsMeasured, Figure, ShapeMeasured};
use crate::number::{counted, grouped, small_percent};
use dedupdb::sketching::Shingling;

impl BandsMeasured {
    /// Reports, for each number of bands, the near-duplicates and false candidates of an average query. `shingling`,
    /// `permutations` and `threshold` are those of the measurement.
    pub fn report(
        &self,
        shingling: Shingling,
        permutations: u32,
        threshold: f64,
    ) -> ExperimentReport {
        let heading = format!(
            "{} of {} against the others, {} shingles, {} permutations; {:.2} near-duplicates at {} \
             or more of an average query",
            counted(self.queries as u64, "query", "queries"),
            counted(self.texts as u64, "text", "texts"),
            shingling,
            permutations,
            self.near,
            threshold,
        );
        let notes = "in brackets: expected by the S-curve of the exact similarities; false \
                     positives: candidates below the threshold";
        ExperimentReport {
            rows: self.shapes.iter().map(|shape| self.row(shape)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: vec![notes.to_owned()],
            picture: self.picture(threshold, permutations),
        }
    }

    fn row(&self, shape: &ShapeMeasured) -> FigureRow {
        let bands = shape.bands;
        let mut row: FigureRow = vec![
            ("bands", bands.bands().into()),
            ("rows", bands.rows().into()),
            ("midpoint", bands.midpoint().into()),
            ("texts", self.texts.into()),
            ("queries", self.queries.into()),
            ("near_duplicates", self.near.into()),
        ];
        let pairs = [
            ("found", "expected_found", Some(shape.found)),
            ("candidates", "expected_candidates", Some(shape.candidates)),
            (
                "false_positives",
                "expected_false_positives",
                Some(shape.false_positives),
            ),
            (
                "false_positive_rate",
                "expected_false_positive_rate",
                shape.false_positive_rate,
            ),
            (
                "false_negatives",
                "expected_false_negatives",
                Some(shape.false_negatives),
            ),
            (
                "false_negative_rate",
                "expected_false_negative_rate",
                shape.false_negative_rate,
            ),
        ];
        for (name, expected_name, figure) in pairs {
            let figure = figure.map(|figure| (figure.measured, figure.expected));
            let (measured, expected) = figure.unzip();
            row.push((name, measured.into()));
            row.push((expected_name, expected.into()));
        }
        row.push(("candidate_pairs", shape.candidate_pairs.into()));
        row
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::named_by(2);
        let shapes = &self.shapes;
        let mut column = |head: &str, cell: &dyn Fn(&ShapeMeasured) -> String| {
            table.column(head, shapes.iter().map(cell));
        };
        let number = |figure: Figure| format!("{:.2} ({:.2})", figure.measured, figure.expected);
        let share = |rate: Option<Figure>| {
            rate.map_or_else(String::new, |rate| {
                let shares = (small_percent(rate.measured), small_percent(rate.expected));
                format!("{} ({})", shares.0, shares.1)
            })
        };
        column("bands", &|shape| shape.bands.bands().to_string());
        column("rows", &|shape| shape.bands.rows().to_string());
        column("midpoint", &|shape| {
            format!("{:.3}", shape.bands.midpoint())
        });
        column("found", &|shape| number(shape.found));
        column("candidates", &|shape| number(shape.candidates));
        column("false positives", &|shape| number(shape.false_positives));
        column("rate", &|shape| share(shape.false_positive_rate));
        column("false negatives", &|shape| number(shape.false_negatives));
        column("rate", &|shape| share(shape.false_negative_rate));
        column("candidate pairs", &|shape| grouped(shape.candidate_pairs));
        table
    }
}
