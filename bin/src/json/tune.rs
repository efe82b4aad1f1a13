//! Shapes of bands, and the rows of experiments.

use dedupdb::upkeep::{self, ComparedShape, Tuning};
use dedupdb_lab::eval::{FigureRow, Value};
use serde::{Serialize, Serializer};

use super::parameters::CurvePointJson;

/// A row of figures, in its own order.
pub(crate) struct FiguresJson<'a>(Vec<&'a (&'static str, Value)>);

impl<'a> FiguresJson<'a> {
    /// All figures.
    pub(crate) fn new(row: &'a FigureRow) -> FiguresJson<'a> {
        FiguresJson(row.iter().collect())
    }

    /// All figures except the one with this name.
    fn without(row: &'a FigureRow, name: &str) -> FiguresJson<'a> {
        FiguresJson(row.iter().filter(|figure| figure.0 != name).collect())
    }
}

impl Serialize for FiguresJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, FigureJson(value))))
    }
}

struct FigureJson<'a>(&'a Value);

impl Serialize for FigureJson<'_> {
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
pub(crate) struct TuneJson<'a> {
    threshold: f64,
    recall: f64,
    permutations: u32,
    sample: Option<SampleJson>,
    shapes: Vec<ShapeJson<'a>>,
}

impl<'a> TuneJson<'a> {
    /// Shapes with their rows and S-curves, and the sample on which they are measured.
    pub(crate) fn new(
        tuning: &Tuning,
        sample: Option<SampleJson>,
        shapes: impl Iterator<Item = (&'a FigureRow, &'a ComparedShape)>,
        curve: &[f64],
    ) -> TuneJson<'a> {
        let shape = |(row, compared): (&'a FigureRow, &ComparedShape)| ShapeJson {
            // A row for people has all names in one text.
            figures: FiguresJson::without(row, "is"),
            is: compared.names.clone(),
            curve: curve
                .iter()
                .map(|&jaccard| CurvePointJson {
                    jaccard,
                    found: (compared.shape.bands).probability(jaccard, tuning.slot_width),
                })
                .collect(),
        };
        TuneJson {
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
struct ShapeJson<'a> {
    #[serde(flatten)]
    figures: FiguresJson<'a>,
    is: Vec<&'static str>,
    curve: Vec<CurvePointJson>,
}

/// In `tune`: the sample.
#[derive(Serialize)]
pub(crate) struct SampleJson {
    contents: u64,
    for_contents: u64,
    queries: usize,
    pairs: u64,
    exact: u64,
    at_least: Vec<AtLeastJson>,
}

impl SampleJson {
    /// A sample of a store with `contents` contents, and its pairs at some similarities.
    pub(crate) fn new(sample: &upkeep::Sample, contents: u64, similarities: &[f64]) -> SampleJson {
        let at_least = |&jaccard| AtLeastJson {
            jaccard,
            pairs: sample.at_least(jaccard),
        };
        SampleJson {
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
struct AtLeastJson {
    jaccard: f64,
    pairs: u64,
}
