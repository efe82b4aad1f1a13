//! The recall of a store, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::eval::{Recall, RecallRange};
use crate::number::{counted, grouped, percent, small_percent};
use dedupdb::Schema;

impl Recall {
    /// Reports the recall of each range of similarities beside the prediction of the S-curve of the store's `schema`.
    pub fn report(&self, schema: &Schema) -> ExperimentReport {
        let texts = counted(self.texts, "distinct text", "distinct texts");
        let compared = match self.sample {
            None => texts,
            Some(sample) => format!("{} of {texts} against the others", grouped(sample as u64)),
        };
        let heading = format!(
            "{compared}, {}: {} with a similarity of {} or more",
            crate::number::shape(schema.bands()),
            counted(self.all.pairs, "pair", "pairs"),
            self.threshold
        );
        let mut notes = vec![
            "recall: with its 95% interval, for groups of texts that are connected by pairs; predicted: by the \
             S-curve of their exact similarities"
                .to_owned(),
        ];
        if let Some(precision) = self.candidate_precision() {
            notes.push(format!(
                "precision: 100%, because what shares a band is compared exactly; candidate precision \
                 {}: of {} that share a band and a shingle, {} reach the threshold",
                small_percent(precision),
                counted(self.candidates, "pair", "pairs"),
                grouped(self.all.found)
            ));
        }
        ExperimentReport {
            rows: self.rows(),
            heading: vec![heading],
            table: self.table(),
            notes,
            picture: self.picture(schema),
        }
    }

    /// Returns the ranges with pairs.
    fn shown(&self) -> impl Iterator<Item = &RecallRange> {
        self.ranges.iter().filter(|range| range.pairs > 0)
    }

    fn rows(&self) -> Vec<FigureRow> {
        let mut rows: Vec<FigureRow> = self.shown().map(|range| row(range, None, None)).collect();
        let (candidates, precision) = (Some(self.candidates), self.candidate_precision());
        rows.push(row(&self.all, candidates, precision));
        rows
    }

    /// Returns the ranges and the total, each with the name of its line.
    fn lines(&self) -> impl Iterator<Item = (String, &RecallRange)> {
        let named = self
            .shown()
            .map(|range| (format!("{:.2} to {:.2}", range.from, range.to), range));
        named.chain([("all".to_owned(), &self.all)])
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::default();
        let lines: Vec<(String, &RecallRange)> = self.lines().collect();
        table.column("similarity", lines.iter().map(|(name, _)| name.clone()));
        let mut column = |head: &str, cell: &dyn Fn(&RecallRange) -> String| {
            table.column(head, lines.iter().map(|(_, range)| cell(range)));
        };
        let if_any = |share: Option<f64>| share.map_or_else(String::new, percent);
        column("pairs", &|range| grouped(range.pairs));
        column("found", &|range| grouped(range.found));
        column("recall", &|range| if_any(range.recall()));
        column("95% interval", &|range| {
            let (low, high) = range.interval();
            format!("{} to {}", percent(low), percent(high))
        });
        column("predicted", &|range| if_any(range.predicted()));
        column("precision", &|range| if_any(range.precision()));
        table
    }
}

fn row(
    range: &RecallRange,
    candidates: Option<u64>,
    candidate_precision: Option<f64>,
) -> FigureRow {
    let (low, high) = range.interval();
    let if_any = |bound: f64| (range.pairs > 0).then_some(bound);
    vec![
        ("from", range.from.into()),
        ("to", range.to.into()),
        ("pairs", range.pairs.into()),
        ("found", range.found.into()),
        ("recall", range.recall().into()),
        ("recall_low", if_any(low).into()),
        ("recall_high", if_any(high).into()),
        ("predicted", range.predicted().into()),
        ("precision", range.precision().into()),
        ("candidates", candidates.into()),
        ("candidate_precision", candidate_precision.into()),
    ]
}
