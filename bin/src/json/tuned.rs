//! Shapes of bands, and the rows of experiments.

use dedupdb::upkeep::{self, Compared, Tuning};
use dedupdb_lab::eval::{Row, Value};
use serde::{Serialize, Serializer};

use super::parameters::Point;

/// A row of figures, in its own order.
pub(crate) struct Figures<'a>(Vec<&'a (&'static str, Value)>);

impl<'a> Figures<'a> {
    /// All figures.
    pub(crate) fn new(row: &'a Row) -> Figures<'a> {
        Figures(row.iter().collect())
    }

    /// All figures except the one with this name.
    fn without(row: &'a Row, name: &str) -> Figures<'a> {
        Figures(row.iter().filter(|figure| figure.0 != name).collect())
    }
}

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, Figure(value))))
    }
}

struct Figure<'a>(&'a Value);

impl Serialize for Figure<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Whole(number) => serializer.serialize_u64(*number),
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            _ => serializer.serialize_unit(),
        }
    }
}

/// `tune`.
#[derive(Serialize)]
pub(crate) struct Tuned<'a> {
    threshold: f64,
    recall: f64,
    permutations: u32,
    sample: Option<Sample>,
    shapes: Vec<Shape<'a>>,
}

impl<'a> Tuned<'a> {
    /// Shapes with their rows and S-curves, and the sample on which they are measured.
    pub(crate) fn new(
        tuning: &Tuning,
        sample: Option<Sample>,
        shapes: impl Iterator<Item = (&'a Row, &'a Compared)>,
        curve: &[f64],
    ) -> Tuned<'a> {
        let shape = |(row, compared): (&'a Row, &Compared)| Shape {
            // A row for people has all names in one text.
            figures: Figures::without(row, "is"),
            is: compared.names(),
            curve: curve
                .iter()
                .map(|&jaccard| Point {
                    jaccard,
                    found: (compared.shape.bands).probability(jaccard, tuning.slot_width),
                })
                .collect(),
        };
        Tuned {
            threshold: tuning.threshold,
            recall: tuning.recall,
            permutations: tuning.permutations,
            sample,
            shapes: shapes.map(shape).collect(),
        }
    }
}

/// In `tune`: a choice of bands.
#[derive(Serialize)]
struct Shape<'a> {
    #[serde(flatten)]
    figures: Figures<'a>,
    is: Vec<&'static str>,
    curve: Vec<Point>,
}

/// In `tune`: the sample.
#[derive(Serialize)]
pub(crate) struct Sample {
    contents: u64,
    for_contents: u64,
    queries: usize,
    pairs: u64,
    exact: u64,
    at_least: Vec<AtLeast>,
}

impl Sample {
    /// A sample of a store with `contents` contents, and its pairs at some similarities.
    pub(crate) fn new(sample: &upkeep::Sample, contents: u64, similarities: &[f64]) -> Sample {
        let at_least = |&jaccard| AtLeast {
            jaccard,
            pairs: sample.at_least(jaccard),
        };
        Sample {
            contents,
            for_contents: sample.contents(),
            queries: sample.queries(),
            pairs: sample.pairs(),
            exact: sample.exact(),
            at_least: similarities.iter().map(at_least).collect(),
        }
    }
}

#[derive(Serialize)]
struct AtLeast {
    jaccard: f64,
    pairs: u64,
}
