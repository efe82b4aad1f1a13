//! How many of its true pairs a store finds.

use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::{Bands, Schema, Store};

use super::corpus::check_work;
use super::interval::wilson;
use super::report::{Report, Row};
use super::truth::{self, Seen};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped, percent, small_percent};
use crate::table::Table;
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

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
    ranges: Vec<Range>,
    all: Range,
    /// Pairs that share a bucket, whatever their similarity.
    candidates: u64,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Recall, console: &Console) -> Result<Report> {
    let store = crate::store::open_to_read(args)?;
    let schema = store.schema();
    let threshold = asked.threshold.unwrap_or(schema.threshold());
    let texts = store.stats()?.contents;
    // No more than there are.
    let most = usize::try_from(texts).unwrap_or(usize::MAX);
    let sample = asked.sample.map(|sample| sample.min(most));
    check_cost(&store, texts, sample)?;
    let mut measured = Measured::new(schema, threshold, texts, sample);
    let count = |seen| measured.count(seen);
    match sample {
        None => truth::joined(&store, threshold, console, count)?,
        Some(sample) => truth::sampled(&store, threshold, sample, asked.seed, console, count)?,
    }
    Ok(measured.report())
}

fn check_cost(store: &Store, texts: u64, sample: Option<usize>) -> Result<()> {
    if !store.schema().keeps_shingles() {
        return Err(dedupdb::Error::NoShingles.into());
    }
    let has = counted(texts, "text", "texts");
    let Some(sample) = sample else {
        if texts > MOST_TEXTS {
            bail!(
                "joining {has} exactly would take long, more than {} are not: ask about some with \
                 --sample N",
                grouped(MOST_TEXTS)
            );
        }
        return Ok(());
    };
    let comparisons = (sample as u64).saturating_mul(texts);
    let work = format!(
        "{} against {has} are {} comparisons",
        grouped(sample as u64),
        grouped(comparisons)
    );
    check_work(&work, comparisons, MOST, "--sample")
}

impl Measured {
    fn new(schema: Arc<Schema>, threshold: f64, texts: u64, sample: Option<usize>) -> Measured {
        let edge = |number: u32| f64::from(number) / f64::from(RANGES);
        let ranges = (0..RANGES).map(|number| Range {
            from: edge(number).max(threshold),
            to: edge(number + 1),
            ..Range::default()
        });
        Measured {
            ranges: ranges.filter(|range| range.to >= threshold).collect(),
            all: Range {
                from: threshold,
                to: 1.0,
                ..Range::default()
            },
            candidates: 0,
            schema,
            threshold,
            texts,
            sample,
        }
    }

    fn count(&mut self, seen: Seen) {
        let (Seen::True(jaccard) | Seen::Candidate(jaccard)) = seen;
        let mut ranges = self.ranges.iter_mut().rev();
        let range = ranges.find(|range| range.from <= jaccard);
        match seen {
            Seen::True(_) => {
                let predicted = self.schema.recall(jaccard);
                for range in range.into_iter().chain([&mut self.all]) {
                    range.pairs += 1;
                    range.jaccard += jaccard;
                    range.predicted += predicted;
                }
            }
            Seen::Candidate(_) => {
                self.candidates += 1;
                if jaccard >= self.threshold {
                    for range in range.into_iter().chain([&mut self.all]) {
                        range.found += 1;
                    }
                }
            }
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
        let mut notes = vec![
            "recall: with its 95% interval, as if pairs were independent; predicted: by the S-curve \
             of their exact similarities"
                .to_owned(),
        ];
        if let Some(precision) = self.candidate_precision() {
            notes.push(format!(
                "precision: 100%, because what shares a band is compared exactly; candidate precision \
                 {}: of {} that share a band, {} are so much alike",
                small_percent(precision),
                counted(self.candidates, "pair", "pairs"),
                grouped(self.all.found)
            ));
        }
        Report {
            rows: self.rows(),
            heading: vec![heading],
            table: self.table(),
            notes,
            picture: self.picture(bands),
            failed: false,
        }
    }

    /// The ranges with pairs.
    fn shown(&self) -> impl Iterator<Item = &Range> {
        self.ranges.iter().filter(|range| range.pairs > 0)
    }

    /// Share of the pairs that share a band that is found.
    fn candidate_precision(&self) -> Option<f64> {
        (self.candidates > 0).then(|| self.all.found as f64 / self.candidates as f64)
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.shown().map(|range| range.row(None, None)).collect();
        rows.push(
            self.all
                .row(Some(self.candidates), self.candidate_precision()),
        );
        rows
    }

    /// The ranges and all pairs, with the names of the lines.
    fn lines(&self) -> impl Iterator<Item = (String, &Range)> {
        let named = self
            .shown()
            .map(|range| (format!("{:.2} to {:.2}", range.from, range.to), range));
        named.chain([("all".to_owned(), &self.all)])
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let lines: Vec<(String, &Range)> = self.lines().collect();
        table.column("similarity", lines.iter().map(|(name, _)| name.clone()));
        let mut column = |head: &str, cell: &dyn Fn(&Range) -> String| {
            table.column(head, lines.iter().map(|(_, range)| cell(range)));
        };
        let if_any = |share: Option<f64>| share.map_or_else(String::new, percent);
        column("pairs", &|range| grouped(range.pairs));
        column("found", &|range| grouped(range.found));
        column("recall", &|range| if_any(range.recall()));
        column("95% interval", &|range| {
            let (low, high) = wilson(range.found, range.pairs);
            format!("{} to {}", percent(low), percent(high))
        });
        column("predicted", &|range| if_any(range.predicted()));
        column("precision", &|range| if_any(range.precision()));
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
        let measured: Vec<&Range> = self.shown().collect();
        let places = measured.iter().map(|range| {
            let jaccard = range.jaccard / range.pairs as f64;
            (jaccard, range.recall().unwrap_or_default())
        });
        let spans = measured
            .iter()
            .map(|range| wilson(range.found, range.pairs));
        let mut points = Series::new("measured, 95% interval", Form::Points, 1, places.collect());
        points.spans = spans.collect();
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
        let mut x = Axis::similarity("Jaccard similarity of a pair");
        x.includes = vec![first, 1.0];
        let y = Axis::percent("pairs found");
        Picture::new(vec![Panel::new(title, x, y, vec![line, points])])
    }
}

impl Range {
    fn recall(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.found as f64 / self.pairs as f64)
    }

    fn predicted(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.predicted / self.pairs as f64)
    }

    /// Share of what the store finds that is so much alike: it finds nothing else, because it
    /// compares the shingles of every candidate.
    fn precision(&self) -> Option<f64> {
        (self.found > 0).then_some(1.0)
    }

    fn row(&self, candidates: Option<u64>, candidate_precision: Option<f64>) -> Row {
        let (low, high) = wilson(self.found, self.pairs);
        let if_any = |bound: f64| (self.pairs > 0).then_some(bound);
        vec![
            ("from", self.from.into()),
            ("to", self.to.into()),
            ("pairs", self.pairs.into()),
            ("found", self.found.into()),
            ("recall", self.recall().into()),
            ("recall_low", if_any(low).into()),
            ("recall_high", if_any(high).into()),
            ("predicted", self.predicted().into()),
            ("precision", self.precision().into()),
            ("candidates", candidates.into()),
            ("candidate_precision", candidate_precision.into()),
        ]
    }
}
