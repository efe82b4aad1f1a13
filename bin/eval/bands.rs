//! What numbers of bands find, and what they look at in vain.

use anyhow::{Result, bail};
use dedupdb::{Bands, Progress, Signer, SlotWidth};
use rayon::prelude::*;
use serde_json::Value;

use super::corpus::{Corpus, check_work};
use super::report::{Report, Row};
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped, small_percent};
use crate::table::Table;
use crate::watch::{Unit, Watch};
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

/// Comparisons that are made at most; so many take some minutes.
const MOST: u64 = 200_000_000;

/// So many are worth a word beforehand.
const MANY: u64 = 20_000_000;

/// Texts that one thread compares with all queries before it takes others.
const CHUNK: usize = 64;

const WIDTH: SlotWidth = SlotWidth::Bits16;

/// What the queries came to.
#[derive(Clone, Debug)]
struct Measured {
    texts: usize,
    queries: usize,
    /// Pairs of a query and another text, and those of them that reach the threshold.
    pairs: u64,
    near: u64,
    shapes: Vec<(Bands, Counts)>,
}

/// What a shape came to, summed over all queries; `expected` is what the S-curve says.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    found: u64,
    expected_found: f64,
    false_positives: u64,
    expected_false_positives: f64,
    /// Candidates, where two queries that are candidates for each other count once.
    candidate_pairs: u64,
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Bands, console: &Console) -> Result<Report> {
    let shapes = shapes(asked)?;
    let signer = Signer::new(asked.family, asked.seed, asked.permutations, WIDTH)?;
    let corpus = Corpus::read(args, &asked.texts, asked.sets.shingling, console)?;
    let queries = corpus.draw(asked.queries.of(corpus.len()), asked.seed);
    check_cost(queries.len(), corpus.len(), console)?;
    let measured = measure(
        &corpus,
        &queries,
        &signer,
        &shapes,
        asked.threshold,
        console,
    );
    Ok(measured.report(asked, corpus.failed))
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

/// Compares each query with all other texts.
fn measure(
    corpus: &Corpus,
    queries: &[usize],
    signer: &Signer,
    shapes: &[Bands],
    threshold: f64,
    console: &Console,
) -> Measured {
    let progress = Progress::new();
    let _watch = Watch::new(console, "compared", Unit::Document, &progress);
    progress.begin(corpus.len() as u64);
    let sign = |text: usize| signer.sign(corpus.sets[text].as_slice());
    let signed: Vec<_> = queries.par_iter().map(|&query| sign(query)).collect();
    let chunks: Vec<usize> = (0..corpus.len()).step_by(CHUNK).collect();
    let parts: Vec<(u64, Vec<Counts>)> = chunks
        .into_par_iter()
        .map(|from| {
            let (mut near, mut counts) = (0, vec![Counts::default(); shapes.len()]);
            let texts = from..corpus.len().min(from + CHUNK);
            progress.step(texts.len() as u64);
            for text in texts {
                let signature = sign(text);
                let is_query = queries.binary_search(&text).is_ok();
                for (&query, own) in queries.iter().zip(&signed) {
                    if query == text {
                        continue;
                    }
                    let jaccard = corpus.sets[query].jaccard(&corpus.sets[text]);
                    near += u64::from(jaccard >= threshold);
                    for (shape, counts) in shapes.iter().zip(&mut counts) {
                        let shared = shape.shared(own.as_bytes(), signature.as_bytes(), WIDTH) > 0;
                        let expected = shape.probability(jaccard, WIDTH);
                        counts.count(jaccard >= threshold, shared, expected);
                        let is_new = !is_query || query < text;
                        counts.candidate_pairs += u64::from(shared && is_new);
                    }
                }
            }
            (near, counts)
        })
        .collect();
    // In the order of the texts, whatever thread had them: sums of f64 depend on it.
    let mut sums = vec![Counts::default(); shapes.len()];
    for (_, counts) in &parts {
        for (sum, counts) in sums.iter_mut().zip(counts) {
            sum.add(counts);
        }
    }
    Measured {
        texts: corpus.len(),
        queries: queries.len(),
        pairs: queries.len() as u64 * (corpus.len() as u64 - 1),
        near: parts.iter().map(|(near, _)| near).sum(),
        shapes: shapes.iter().copied().zip(sums).collect(),
    }
}

impl Counts {
    fn count(&mut self, near: bool, shared: bool, expected: f64) {
        if near {
            self.found += u64::from(shared);
            self.expected_found += expected;
        } else {
            self.false_positives += u64::from(shared);
            self.expected_false_positives += expected;
        }
    }

    fn add(&mut self, other: &Counts) {
        self.found += other.found;
        self.expected_found += other.expected_found;
        self.false_positives += other.false_positives;
        self.expected_false_positives += other.expected_false_positives;
        self.candidate_pairs += other.candidate_pairs;
    }
}

/// A shape's figures of an average query.
#[derive(Clone, Copy, Debug)]
struct Averages {
    /// Measured, and expected.
    found: [f64; 2],
    candidates: [f64; 2],
    false_positives: [f64; 2],
    /// Of the texts below the threshold, if there are such.
    false_positive_rate: Option<[f64; 2]>,
    false_negatives: [f64; 2],
    /// Of the near-duplicates, if there are such.
    false_negative_rate: Option<[f64; 2]>,
}

impl Measured {
    fn near_a_query(&self) -> f64 {
        self.near as f64 / self.queries as f64
    }

    fn averages(&self, counts: &Counts) -> Averages {
        let (near, far) = (self.near as f64, (self.pairs - self.near) as f64);
        let found = [counts.found as f64, counts.expected_found];
        let wrong = [
            counts.false_positives as f64,
            counts.expected_false_positives,
        ];
        let missed = found.map(|found| near - found);
        let by = |sums: [f64; 2], whole: f64| sums.map(|sum| sum / whole);
        let rate = |sums, whole: f64| (whole > 0.0).then(|| by(sums, whole));
        let queries = self.queries as f64;
        Averages {
            found: by(found, queries),
            candidates: by([found[0] + wrong[0], found[1] + wrong[1]], queries),
            false_positives: by(wrong, queries),
            false_positive_rate: rate(wrong, far),
            false_negatives: by(missed, queries),
            false_negative_rate: rate(missed, near),
        }
    }

    fn report(&self, asked: &eval::Bands, failed: bool) -> Report {
        let heading = format!(
            "{} of {} against the others, {} shingles, {} permutations; {:.2} near-duplicates at {} \
             or more of an average query",
            counted(self.queries as u64, "query", "queries"),
            counted(self.texts as u64, "text", "texts"),
            asked.sets.shingling,
            asked.permutations,
            self.near_a_query(),
            asked.threshold,
        );
        let notes = "in brackets: expected by the S-curve of the exact similarities; false \
                     positives: candidates below the threshold";
        Report {
            rows: self.shapes.iter().map(|shape| self.row(shape)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: vec![notes.to_owned()],
            picture: self.picture(asked),
            failed,
        }
    }

    fn row(&self, (bands, counts): &(Bands, Counts)) -> Row {
        let averages = self.averages(counts);
        let mut row: Row = vec![
            ("bands", bands.bands().into()),
            ("rows", bands.rows().into()),
            ("midpoint", bands.midpoint().into()),
            ("texts", self.texts.into()),
            ("queries", self.queries.into()),
            ("near_duplicates", self.near_a_query().into()),
        ];
        let pairs = [
            ("found", "expected_found", Some(averages.found)),
            (
                "candidates",
                "expected_candidates",
                Some(averages.candidates),
            ),
            (
                "false_positives",
                "expected_false_positives",
                Some(averages.false_positives),
            ),
            (
                "false_positive_rate",
                "expected_false_positive_rate",
                averages.false_positive_rate,
            ),
            (
                "false_negatives",
                "expected_false_negatives",
                Some(averages.false_negatives),
            ),
            (
                "false_negative_rate",
                "expected_false_negative_rate",
                averages.false_negative_rate,
            ),
        ];
        for (name, expected_name, figures) in pairs {
            let (measured, expected) = figures.map(|[m, e]| (m, e)).unzip();
            row.push((name, Value::from(measured)));
            row.push((expected_name, Value::from(expected)));
        }
        row.push(("candidate_pairs", counts.candidate_pairs.into()));
        row
    }

    fn picture(&self, asked: &eval::Bands) -> Picture {
        let points = |of: &dyn Fn(&Averages) -> f64| {
            let points = self
                .shapes
                .iter()
                .map(|(bands, counts)| (f64::from(bands.bands()), of(&self.averages(counts))));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        let series = |form, hue, name: &str, points| Series::new(name, form, hue, points);
        let near = format!("all that are alike at {} or more", asked.threshold);
        let found = vec![
            series(Form::Reference, 0, &near, points(&|_| self.near_a_query())),
            series(
                Form::Line,
                0,
                "expected by the S-curve",
                points(&|a| a.found[1]),
            ),
            series(Form::Points, 0, "measured", points(&|a| a.found[0])),
        ];
        let wrong = vec![
            series(
                Form::Line,
                1,
                "expected by the S-curve",
                points(&|a| a.false_positives[1]),
            ),
            series(
                Form::Points,
                1,
                "measured",
                points(&|a| a.false_positives[0]),
            ),
        ];
        let bands = format!(
            "number of bands of {} permutations",
            grouped(asked.permutations.into())
        );
        let panel = |title, y, series| Panel::new(title, Axis::linear(&bands), y, series);
        Picture::new(vec![
            panel(
                "Near-duplicates found",
                Axis::linear("texts a query"),
                found,
            ),
            panel("False positives", Axis::log("texts a query"), wrong),
        ])
    }

    fn table(&self) -> Table {
        let mut table = Table::named_by(2);
        let shapes: Vec<(Bands, u64, Averages)> = self
            .shapes
            .iter()
            .map(|(bands, counts)| (*bands, counts.candidate_pairs, self.averages(counts)))
            .collect();
        let mut column = |head: &str, cell: &dyn Fn(&(Bands, u64, Averages)) -> String| {
            table.column(head, shapes.iter().map(cell));
        };
        let number = |[measured, expected]: [f64; 2]| format!("{measured:.2} ({expected:.2})");
        let share = |rates: Option<[f64; 2]>| {
            rates.map_or_else(String::new, |[measured, expected]| {
                format!("{} ({})", small_percent(measured), small_percent(expected))
            })
        };
        column("bands", &|(bands, ..)| bands.bands().to_string());
        column("rows", &|(bands, ..)| bands.rows().to_string());
        column("midpoint", &|(bands, ..)| {
            format!("{:.3}", bands.midpoint())
        });
        column("found", &|(.., averages)| number(averages.found));
        column("candidates", &|(.., averages)| number(averages.candidates));
        column("false positives", &|(.., averages)| {
            number(averages.false_positives)
        });
        column("rate", &|(.., averages)| {
            share(averages.false_positive_rate)
        });
        column("false negatives", &|(.., averages)| {
            number(averages.false_negatives)
        });
        column("rate", &|(.., averages)| {
            share(averages.false_negative_rate)
        });
        column("candidate pairs", &|(_, pairs, _)| grouped(*pairs));
        table
    }
}
