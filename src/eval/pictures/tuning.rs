//! S-curves of shapes of bands.

use crate::lsh::Bands;
use crate::plot::{Axis, Form, Panel, Picture, Series, counted, percent};
use crate::store::Tuning;

/// Points of a curve.
const POINTS: u32 = 250;

/// A shape whose curve is drawn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Curve {
    /// The shape.
    pub bands: Bands,
    /// What it is, such as `best`; may be empty. What has a name stands out.
    pub name: String,
}

impl Curve {
    /// The curve of a shape, under a name that may be empty.
    pub fn new(bands: Bands, name: impl Into<String>) -> Curve {
        let name = name.into();
        Curve { bands, name }
    }
}

/// Draws the S-curves of shapes, and the threshold and the recall that are asked of them. There are six colours.
pub fn s_curves(tuning: &Tuning, curves: &[Curve]) -> Picture {
    let mut series: Vec<Series> = aims(tuning).into();
    series.extend(curves.iter().enumerate().map(|(hue, curve)| {
        let points = (0..=POINTS).map(|point| {
            let jaccard = f64::from(point) / f64::from(POINTS);
            (jaccard, curve.bands.probability(jaccard, tuning.slot_width))
        });
        let form = if curve.name.is_empty() {
            Form::Line
        } else {
            Form::BoldLine
        };
        Series::new(label(tuning, curve), form, hue, points.collect())
    }));
    let title = format!(
        "Pairs found by bands of up to {} permutations",
        tuning.permutations
    );
    let x = Axis::similarity("Jaccard similarity of a pair");
    let y = Axis::percent("probability that the pair is found");
    Picture::new(vec![Panel::new(title, x, y, series)])
}

/// The threshold and the recall.
fn aims(tuning: &Tuning) -> [Series; 2] {
    let name = format!(
        "threshold {}, and {} found",
        tuning.threshold,
        percent(tuning.recall)
    );
    let (x, y) = (tuning.threshold, tuning.recall);
    let line = |name: &str, points| Series::new(name, Form::Reference, 0, points);
    [
        line(&name, vec![(x, 0.0), (x, 1.0)]),
        line("", vec![(0.0, y), (1.0, y)]),
    ]
}

/// What the legend says of a curve.
fn label(tuning: &Tuning, curve: &Curve) -> String {
    let found = curve.bands.probability(tuning.threshold, tuning.slot_width);
    let name = if curve.name.is_empty() {
        String::new()
    } else {
        format!(" ({})", curve.name)
    };
    format!(
        "{} of {}{name}: {} at {}",
        counted(curve.bands.bands().into(), "band", "bands"),
        counted(curve.bands.rows().into(), "row", "rows"),
        percent(found),
        tuning.threshold
    )
}
