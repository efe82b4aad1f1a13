//! `tune`: shows which shapes of bands would do, and what each finds and costs.

use std::sync::Arc;

use anyhow::{Result, bail};
use dedupdb::eval::s_curves;
use dedupdb::publish::check_no_store;
use dedupdb::{
    Error, Store,
    sketching::Bands,
    upkeep::{Compared, Sample, Shape, Tuning},
};
use serde_json::{Value, json};

use super::init::posting_bytes;
use crate::args::{Args, Tune};
use crate::console::Console;
use crate::exit::Exit;
use crate::number::{counted, grouped, percent};
use crate::output::Output;
use crate::picture;
use crate::table::Table;
use crate::watch::{Unit, Watch};

/// Similarities that the S-curves are shown at.
const CURVE: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// Similarities that the sample's pairs are counted at.
const COUNTED: [f64; 4] = [0.2, 0.4, 0.6, 0.8];

/// Pairs between the least of these and the threshold that say something.
const FEW: u64 = 30;

/// Everything that is shown.
struct Tuned {
    tuning: Tuning,
    sample: Option<Sample>,
    /// Contents of the store when it was sampled.
    measured: u64,
    rows: Vec<Compared>,
}

/// Runs `tune`.
pub(crate) fn run(
    args: &Args,
    tune: &Tune,
    console: &Console,
    output: &mut Output,
) -> Result<Exit> {
    if let Some(path) = &tune.plot {
        picture::check_name(path)?;
        check_no_store(path, &[])?;
    }
    let store = store(args, tune)?;
    let watch = store
        .as_ref()
        .map(|store| Watch::new(console, "sampled", Unit::Step, store.progress()));
    let tuned = Tuned::new(store.as_ref(), tune)?;
    drop(watch);
    if output.is_json() {
        output.object(&tuned.object())?;
    } else {
        for line in tuned.describe(output.width()) {
            output.prose(&line)?;
        }
    }
    if let Some(path) = &tune.plot {
        picture::write(&s_curves(&tuned.tuning, &tuned.rows), path)?;
        console.note(&format!("drew {}", path.display()));
    }
    Ok(Exit::Found)
}

/// The store, which may be missing if everything is said by the arguments.
fn store(args: &Args, tune: &Tune) -> Result<Option<Store>> {
    match crate::store::open_to_read(args) {
        Err(error)
            if tune.permutations.is_some()
                && matches!(error.downcast_ref(), Some(Error::NotAStore { .. })) =>
        {
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

impl Tuned {
    fn new(store: Option<&Store>, tune: &Tune) -> Result<Tuned> {
        let mut tuning = Tuning::of(&store.map_or_else(Arc::default, Store::schema));
        tuning.threshold = tune.threshold.unwrap_or(tuning.threshold);
        tuning.permutations = tune.permutations.unwrap_or(tuning.permutations);
        tuning.recall = tune.recall;
        // What cannot be is said before the store is read.
        tuning.shapes(None)?;
        let mut sample = store.map(Store::sample).transpose()?;
        let measured = sample.as_ref().map_or(0, Sample::contents);
        if let Some(contents) = tune.contents {
            if sample.is_none() {
                bail!("--contents needs a store whose contents can be measured");
            }
            sample = sample.map(|sample| sample.grown_to(contents));
        }
        let current = store.map(|store| store.schema().bands());
        let rows = tuning.compare(current, sample.as_ref())?;
        Ok(Tuned {
            tuning,
            sample,
            measured,
            rows,
        })
    }

    fn found(&self, bands: Bands, jaccard: f64) -> f64 {
        bands.probability(jaccard, self.tuning.slot_width)
    }

    fn describe(&self, width: usize) -> Vec<String> {
        let tuning = &self.tuning;
        let mut lines = vec![format!(
            "shapes of up to {} permutations that find {} of the pairs at {}",
            tuning.permutations,
            percent(tuning.recall),
            tuning.threshold
        )];
        lines.extend(self.table().lines(width));
        lines.extend(self.notes());
        lines
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let mut column = |head: &str, cell: &dyn Fn(&Compared) -> String| {
            table.column(head, self.rows.iter().map(cell));
        };
        column("shape", &|row| row.shape.bands.to_string());
        column("slots", &|row| row.shape.bands.used().to_string());
        column("recall", &|row| percent(row.shape.recall));
        for jaccard in CURVE {
            column(&format!("at {jaccard:.1}"), &|row| {
                percent(self.found(row.shape.bands, jaccard))
            });
        }
        column("midpoint", &|row| {
            format!("{:.3}", row.shape.bands.midpoint())
        });
        column("work", &|row| format!("{:.1}", row.shape.work));
        if self.sample.is_some() {
            column("false candidates", &|row| {
                let expected = row.shape.expected;
                expected.map_or_else(String::new, |expected| {
                    let (wrong, error) = (expected.false_candidates, expected.error);
                    format!("{wrong:.2} ±{error:.2}")
                })
            });
        }
        column("postings", &|row| {
            format!("{:.0} B", posting_bytes(row.shape.bands))
        });
        column("", &|row| row.names().join("  "));
        table
    }

    /// What the table's figures are, and how far they can be trusted.
    fn notes(&self) -> Vec<String> {
        let mut lines = vec![
            "recall: at the threshold; postings: a document, about; midpoint: (1/b)^(1/r), which \
             the textbook sets to the threshold"
                .to_owned(),
        ];
        let Some(sample) = &self.sample else {
            lines.push(
                "work: look-ups, and false candidates among 1,000 contents spread evenly over the \
                 similarities; a store has its own"
                    .to_owned(),
            );
            return lines;
        };
        let size = if sample.contents() == self.measured {
            "this store".to_owned()
        } else {
            let contents = counted(sample.contents(), "content", "contents");
            format!("a store of {contents} of this kind")
        };
        lines.push(format!(
            "work: look-ups (one a band) and false candidates (below the threshold, looked at in \
             vain) of an average query in {size}"
        ));
        lines.push(format!(
            "measured: {} of {} against the others, {}, {} of them exactly",
            grouped(sample.queries() as u64),
            counted(self.measured, "content", "contents"),
            counted(sample.pairs(), "pair", "pairs"),
            grouped(sample.exact()),
        ));
        let counts = COUNTED.map(|jaccard| {
            let pairs = grouped(sample.at_least(jaccard));
            format!("{pairs} at {jaccard:.1} or more")
        });
        lines.push(format!("of these pairs {}", counts.join(", ")));
        let above = sample.at_least(self.tuning.threshold);
        let likely = sample.at_least(COUNTED[0]).saturating_sub(above);
        if likely < FEW {
            lines.push(format!(
                "only {likely} lie between {} and the threshold: too few to tell shapes apart",
                COUNTED[0]
            ));
        }
        if let Some(expected) = self.rows.first().and_then(|row| row.shape.expected) {
            lines.push(format!(
                "an average query has {:.2} matches at {} or more",
                expected.matches, self.tuning.threshold
            ));
        }
        lines
    }

    fn object(&self) -> Value {
        let sample = self.sample.as_ref().map(|sample| {
            let pairs =
                |&jaccard: &f64| json!({ "jaccard": jaccard, "pairs": sample.at_least(jaccard) });
            json!({
                "contents": self.measured,
                "for_contents": sample.contents(),
                "queries": sample.queries(),
                "pairs": sample.pairs(),
                "exact": sample.exact(),
                "at_least": COUNTED.iter().map(pairs).collect::<Vec<_>>(),
            })
        });
        json!({
            "threshold": self.tuning.threshold,
            "recall": self.tuning.recall,
            "permutations": self.tuning.permutations,
            "sample": sample,
            "shapes": self.rows.iter().map(|row| self.row_object(row)).collect::<Vec<_>>(),
        })
    }

    fn row_object(&self, row: &Compared) -> Value {
        let Shape {
            bands,
            recall,
            expected,
            work,
            ..
        } = row.shape;
        let found =
            |&jaccard: &f64| json!({ "jaccard": jaccard, "found": self.found(bands, jaccard) });
        json!({
            "bands": bands.bands(),
            "rows": bands.rows(),
            "slots": bands.used(),
            "recall": recall,
            "curve": CURVE.iter().map(found).collect::<Vec<_>>(),
            "midpoint": bands.midpoint(),
            "work": work,
            "matches": expected.map(|expected| expected.matches),
            "matches_found": expected.map(|expected| expected.found),
            "false_candidates": expected.map(|expected| expected.false_candidates),
            "error": expected.map(|expected| expected.error),
            "posting_bytes": posting_bytes(bands),
            "is": row.names(),
        })
    }
}
