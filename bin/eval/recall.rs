//! How many of its true pairs a store finds.

use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::{Bands, Schema, Store};
use serde_json::Value;

use super::interval::wilson;
use super::report::{Report, Row};
use super::truth::{self, Seen};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped, percent};
use crate::plot::{Axis, Form, Panel, Picture, Series};
use crate::table::Table;

/// Ranges of similarity from 0 to 1.
const RANGES: u32 = 20;

/// Points of the predicted curve.
const POINTS: u32 = 200;

/// Distinct texts up to which all are joined.
const MOST_TEXTS: u64 = 1_000_000;

/// Comparisons of a sample with all texts that are made at most.
const MOST: u64 = 500_000_000;

/// The pairs of a range of similarities.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    from: f64,
    to: f64,
    /// True pairs, and those of them that the store finds.
    pairs: u64,
    found: u64,
    /// Pairs that the store lists.
    listed: u64,
    /// Sums over the true pairs.
    jaccard: f64,
    predicted: f64,
}

/// What was measured.
#[derive(Debug)]
struct Measured {
    schema: Arc<Schema>,
    threshold: f64,
    texts: u64,
    /// Texts that were asked about, if not all.
    sample: Option<usize>,
    /// Those with pairs.
    ranges: Vec<Range>,
    all: Range,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Recall, console: &Console) -> Result<Report> {
    let store = crate::store::open_to_read(args)?;
    let schema = store.schema();
    let threshold = asked.threshold.unwrap_or(schema.threshold());
    let texts = store.stats()?.contents;
    check_cost(&store, texts, asked)?;
    let seen = match asked.sample {
        None => truth::joined(&store, threshold, console)?,
        Some(count) => truth::sampled(&store, threshold, count, asked.seed, console)?,
    };
    Ok(Measured::new(schema, threshold, texts, asked.sample, &seen).report())
}

fn check_cost(store: &Store, texts: u64, asked: &eval::Recall) -> Result<()> {
    if !store.schema().keeps_shingles() {
        return Err(dedupdb::Error::NoShingles.into());
    }
    let has = counted(texts, "text", "texts");
    match asked.sample {
        None if texts > MOST_TEXTS => bail!(
            "joining {has} exactly would take long, more than {} are not: ask about some with \
             --sample N",
            grouped(MOST_TEXTS)
        ),
        Some(sample) if (sample as u64).saturating_mul(texts) > MOST => bail!(
            "{} against {has} are {} comparisons, more than {}: ask about fewer with --sample N",
            grouped(sample as u64),
            grouped((sample as u64).saturating_mul(texts)),
            grouped(MOST)
        ),
        _ => Ok(()),
    }
}

impl Measured {
    fn new(
        schema: Arc<Schema>,
        threshold: f64,
        texts: u64,
        sample: Option<usize>,
        seen: &[Seen],
    ) -> Measured {
        let edge = |number: u32| f64::from(number) / f64::from(RANGES);
        let mut ranges: Vec<Range> = (0..RANGES)
            .map(|number| Range {
                from: edge(number).max(threshold),
                to: edge(number + 1),
                ..Range::default()
            })
            .collect();
        let mut all = Range {
            from: threshold,
            to: 1.0,
            ..Range::default()
        };
        for seen in seen {
            let predicted = schema.recall(seen.jaccard);
            all.count(seen, predicted);
            let range = ranges
                .iter_mut()
                .rev()
                .find(|range| range.from <= seen.jaccard);
            if let Some(range) = range {
                range.count(seen, predicted);
            }
        }
        ranges.retain(|range| range.pairs + range.listed > 0);
        Measured {
            schema,
            threshold,
            texts,
            sample,
            ranges,
            all,
        }
    }

    fn report(&self) -> Report {
        let bands = self.schema.bands();
        let texts = counted(self.texts, "distinct text", "distinct texts");
        let compared = match self.sample {
            None => texts,
            Some(sample) => format!("{} of {texts} against the others", grouped(sample as u64)),
        };
        let heading = format!(
            "{compared}, {} bands of {} rows: {} that are alike at {} or more",
            bands.bands(),
            bands.rows(),
            counted(self.all.pairs, "pair", "pairs"),
            self.threshold
        );
        let notes = "recall: with its 95% interval, as if pairs were independent; predicted: by the \
                     S-curve of their exact similarities";
        Report {
            rows: self.lines().map(|(_, range)| range.row()).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: vec![notes.to_owned()],
            picture: self.picture(bands),
            failed: false,
        }
    }

    /// The ranges and all pairs, with the names of the lines.
    fn lines(&self) -> impl Iterator<Item = (String, &Range)> {
        let ranges = self.ranges.iter();
        let named = ranges.map(|range| (format!("{:.2} to {:.2}", range.from, range.to), range));
        named.chain([("all".to_owned(), &self.all)])
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let lines: Vec<(String, &Range)> = self.lines().collect();
        table.column(9, "similarity", lines.iter().map(|(name, _)| name.clone()));
        let mut column = |worth, head: &str, cell: &dyn Fn(&Range) -> String| {
            table.column(worth, head, lines.iter().map(|(_, range)| cell(range)));
        };
        let if_any = |share: Option<f64>| share.map_or_else(String::new, percent);
        column(7, "pairs", &|range| grouped(range.pairs));
        column(5, "found", &|range| grouped(range.found));
        column(9, "recall", &|range| if_any(range.recall()));
        column(8, "95% interval", &|range| {
            let (low, high) = wilson(range.found, range.pairs);
            format!("{} to {}", percent(low), percent(high))
        });
        column(9, "predicted", &|range| if_any(range.predicted()));
        column(6, "precision", &|range| if_any(range.precision()));
        table
    }

    fn picture(&self, bands: Bands) -> Picture {
        let schema = &self.schema;
        let curve = (0..=POINTS).map(|point| {
            let jaccard = f64::from(point) / f64::from(POINTS);
            (jaccard, schema.recall(jaccard))
        });
        let first = (self.threshold * 10.0).floor() / 10.0;
        let predicted = curve.filter(|(jaccard, _)| *jaccard >= first);
        let measured: Vec<&Range> = self.ranges.iter().filter(|range| range.pairs > 0).collect();
        let places = measured.iter().map(|range| {
            let jaccard = range.jaccard / range.pairs as f64;
            (jaccard, range.recall().unwrap_or_default())
        });
        let spans = measured
            .iter()
            .map(|range| wilson(range.found, range.pairs));
        let points = Series {
            spans: spans.collect(),
            ..Series::new("measured, 95% interval", Form::Points, 1, places.collect())
        };
        let line = Series::new(
            "predicted by the S-curve",
            Form::Line,
            0,
            predicted.collect(),
        );
        let title = format!(
            "True pairs found by {} bands of {} rows",
            bands.bands(),
            bands.rows()
        );
        let panel = Panel {
            title,
            x: Axis {
                includes: vec![first, 1.0],
                ..Axis::similarity("Jaccard similarity of a pair")
            },
            y: Axis::percent("pairs found"),
            series: vec![line, points],
        };
        Picture {
            panels: vec![panel],
        }
    }
}

impl Range {
    fn count(&mut self, seen: &Seen, predicted: f64) {
        self.listed += u64::from(seen.listed);
        if seen.is_true {
            self.pairs += 1;
            self.found += u64::from(seen.listed);
            self.jaccard += seen.jaccard;
            self.predicted += predicted;
        }
    }

    fn recall(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.found as f64 / self.pairs as f64)
    }

    fn predicted(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.predicted / self.pairs as f64)
    }

    fn precision(&self) -> Option<f64> {
        (self.listed > 0).then(|| self.found as f64 / self.listed as f64)
    }

    fn row(&self) -> Row {
        let interval = |hits, trials| {
            let (low, high) = wilson(hits, trials);
            let if_any = |bound: f64| (trials > 0).then_some(bound);
            (Value::from(if_any(low)), Value::from(if_any(high)))
        };
        let (recall_low, recall_high) = interval(self.found, self.pairs);
        let (precision_low, precision_high) = interval(self.found, self.listed);
        vec![
            ("from", self.from.into()),
            ("to", self.to.into()),
            ("pairs", self.pairs.into()),
            ("found", self.found.into()),
            ("recall", self.recall().into()),
            ("recall_low", recall_low),
            ("recall_high", recall_high),
            ("predicted", self.predicted().into()),
            ("precision", self.precision().into()),
            ("precision_low", precision_low),
            ("precision_high", precision_high),
        ]
    }
}
