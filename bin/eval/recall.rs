//! How many of its true pairs a store finds.

use anyhow::{Result, bail};
use dedupdb::eval::{self as experiments, Monitor, RecallQuery, RecallRange};
use dedupdb::{Error, Schema, Store, upkeep::Progress};

use super::corpus::check_work;
use super::report::{Report, Row};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped, percent, small_percent};
use crate::table::Table;
use crate::watch::{Unit, Watch};

/// Pairs that are gone through at most; so many take some minutes.
const MOST_PAIRS: u64 = 50_000_000;

/// Distinct texts up to which all are joined.
const MOST_TEXTS: u64 = 1_000_000;

/// Comparisons of a sample with all texts that are made at most.
const MOST: u64 = 500_000_000;

/// What was measured of a store of this schema.
struct Measured<'a> {
    schema: &'a Schema,
    found: experiments::Recall,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Recall, console: &Console) -> Result<Report> {
    let store = crate::store::open_to_read(args)?;
    let schema = store.schema();
    let texts = store.stats()?.contents;
    // No more than there are.
    let most = usize::try_from(texts).unwrap_or(usize::MAX);
    let sample = asked.sample.map(|sample| sample.min(most));
    check_cost(&store, texts, sample)?;
    let mut query = RecallQuery::new().most_pairs(MOST_PAIRS);
    if let Some(threshold) = asked.threshold {
        query = query.threshold(threshold);
    }
    if let Some(sample) = asked.sample {
        query = query.sample(sample, asked.seed);
    }
    let progress = Progress::new();
    let _watch = if sample.is_some() {
        Watch::new(console, "compared", Unit::Document, &progress)
    } else {
        let parts = ["candidates compared, 1 of 2", "joined exactly, 2 of 2"];
        Watch::of_parts(console, parts, Unit::Step, store.progress())
    };
    let monitor = Monitor::new().progress(&progress);
    let found = match experiments::recall(&store, &query, &monitor) {
        Err(Error::InvalidQuery {
            parameter: "most pairs",
            ..
        }) => bail!(
            "more than {}, which take long to compare: ask about some texts with --sample N",
            counted(MOST_PAIRS, "pair", "pairs")
        ),
        found => found?,
    };
    let schema = &schema;
    Ok(Measured { schema, found }.report())
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

impl Measured<'_> {
    fn report(&self) -> Report {
        let (bands, found) = (self.schema.bands(), &self.found);
        let texts = counted(found.texts, "distinct text", "distinct texts");
        let compared = match found.sample {
            None => texts,
            Some(sample) => format!("{} of {texts} against the others", grouped(sample as u64)),
        };
        let heading = format!(
            "{compared}, {} bands of {} rows: {} that are alike at {} or more",
            bands.bands(),
            bands.rows(),
            counted(found.all.pairs, "pair", "pairs"),
            found.threshold
        );
        let mut notes = vec![
            "recall: with its 95% interval, as if pairs were independent; predicted: by the S-curve \
             of their exact similarities"
                .to_owned(),
        ];
        if let Some(precision) = found.candidate_precision() {
            notes.push(format!(
                "precision: 100%, because what shares a band is compared exactly; candidate precision \
                 {}: of {} that share a band, {} are so much alike",
                small_percent(precision),
                counted(found.candidates, "pair", "pairs"),
                grouped(found.all.found)
            ));
        }
        Report {
            rows: self.rows(),
            heading: vec![heading],
            table: self.table(),
            notes,
            picture: found.picture(self.schema),
            failed: false,
        }
    }

    /// The ranges with pairs.
    fn shown(&self) -> impl Iterator<Item = &RecallRange> {
        self.found.ranges.iter().filter(|range| range.pairs > 0)
    }

    fn rows(&self) -> Vec<Row> {
        let found = &self.found;
        let mut rows: Vec<Row> = self.shown().map(|range| row(range, None, None)).collect();
        let (candidates, precision) = (Some(found.candidates), found.candidate_precision());
        rows.push(row(&found.all, candidates, precision));
        rows
    }

    /// The ranges and all pairs, with the names of the lines.
    fn lines(&self) -> impl Iterator<Item = (String, &RecallRange)> {
        let named = self
            .shown()
            .map(|range| (format!("{:.2} to {:.2}", range.from, range.to), range));
        named.chain([("all".to_owned(), &self.found.all)])
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
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

fn row(range: &RecallRange, candidates: Option<u64>, candidate_precision: Option<f64>) -> Row {
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
