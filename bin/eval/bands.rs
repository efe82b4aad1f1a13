//! What numbers of bands find, and what they look at in vain.

use anyhow::{Result, bail};
use dedupdb::eval::{self as experiments, BandsMeasured, Figure, Monitor, ShapeMeasured, draw};
use dedupdb::{
    sketching::{Bands, Signer, SlotWidth},
    upkeep::Progress,
};
use serde_json::Value;

use super::corpus::{Corpus, check_work};
use super::report::{Report, Row};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped, small_percent};
use crate::table::Table;
use crate::watch::{Unit, Watch};

/// Comparisons that are made at most; so many take some minutes.
const MOST: u64 = 200_000_000;

/// So many are worth a word beforehand.
const MANY: u64 = 20_000_000;

const WIDTH: SlotWidth = SlotWidth::Bits16;

/// What was measured, with what was asked.
struct Measured<'a> {
    asked: &'a eval::Bands,
    found: BandsMeasured,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Bands, console: &Console) -> Result<Report> {
    let shapes = shapes(asked)?;
    let signer = Signer::new(asked.family, asked.seed, asked.permutations, WIDTH)?;
    let corpus = Corpus::read(args, &asked.texts, asked.sets.shingling, console)?;
    let queries = draw(&corpus.keys, asked.queries.of(corpus.len()), asked.seed);
    check_cost(queries.len(), corpus.len(), console)?;
    let progress = Progress::new();
    let watch = Watch::new(console, "compared", Unit::Document, &progress);
    let found = experiments::bands(
        &corpus.sets,
        &queries,
        &signer,
        &shapes,
        asked.threshold,
        &Monitor::new().progress(&progress),
    )?;
    drop(watch);
    Ok(Measured { asked, found }.report(corpus.failed))
}

fn shapes(asked: &eval::Bands) -> Result<Vec<Bands>> {
    let permutations = asked.permutations;
    let shape = |&bands: &u32| match permutations.checked_div(bands) {
        None | Some(0) => bail!(
            "--bands {bands}: give a number from 1 to that of the permutations, {permutations}"
        ),
        Some(rows) => Ok(Bands::new(bands, rows, permutations)?),
    };
    asked.numbers.iter().map(shape).collect()
}

/// Refuses what would take too long, and says what will take long.
fn check_cost(queries: usize, texts: usize, console: &Console) -> Result<()> {
    let comparisons = queries as u64 * (texts as u64 - 1);
    let work = format!(
        "{} against {} are {} comparisons",
        counted(queries as u64, "query", "queries"),
        counted(texts as u64, "text", "texts"),
        grouped(comparisons)
    );
    check_work(&work, comparisons, MOST, "--queries")?;
    if comparisons > MANY {
        console.note(&format!("{work}, which will take some time"));
    }
    Ok(())
}

impl Measured<'_> {
    fn report(&self, failed: bool) -> Report {
        let (asked, found) = (self.asked, &self.found);
        let heading = format!(
            "{} of {} against the others, {} shingles, {} permutations; {:.2} near-duplicates at {} \
             or more of an average query",
            counted(found.queries as u64, "query", "queries"),
            counted(found.texts as u64, "text", "texts"),
            asked.sets.shingling,
            asked.permutations,
            found.near,
            asked.threshold,
        );
        let notes = "in brackets: expected by the S-curve of the exact similarities; false \
                     positives: candidates below the threshold";
        Report {
            rows: found.shapes.iter().map(|shape| self.row(shape)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: vec![notes.to_owned()],
            picture: found.picture(asked.threshold, asked.permutations),
            failed,
        }
    }

    fn row(&self, shape: &ShapeMeasured) -> Row {
        let bands = shape.bands;
        let mut row: Row = vec![
            ("bands", bands.bands().into()),
            ("rows", bands.rows().into()),
            ("midpoint", bands.midpoint().into()),
            ("texts", self.found.texts.into()),
            ("queries", self.found.queries.into()),
            ("near_duplicates", self.found.near.into()),
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
            row.push((name, Value::from(measured)));
            row.push((expected_name, Value::from(expected)));
        }
        row.push(("candidate_pairs", shape.candidate_pairs.into()));
        row
    }

    fn table(&self) -> Table {
        let mut table = Table::named_by(2);
        let shapes = &self.found.shapes;
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
