//! The S-curves of shapes of bands.

use crate::number::{counted, percent};
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};
use dedupdb::upkeep::{ComparedShape, Tuning};

/// The number of points of a curve.
const POINTS: u32 = 250;

/// The number of curves to draw beside those with names.
const OTHERS: usize = 3;

/// Draws the S-curves of shapes, with the requested threshold and recall.
///
/// Shapes with [names](ComparedShape::names) stand out. A few others, spread over the rest, are drawn as well.
pub fn s_curves(tuning: &Tuning, shapes: &[ComparedShape]) -> Picture {
    let (named, others): (Vec<&ComparedShape>, Vec<&ComparedShape>) =
        shapes.iter().partition(|shape| !shape.names.is_empty());
    let step = others.len().div_ceil(OTHERS).max(1);
    let mut shown: Vec<&ComparedShape> = others.into_iter().skip(step / 2).step_by(step).collect();
    shown.extend(named);
    shown.sort_by_key(|compared| (compared.shape.bands.rows(), compared.shape.bands.bands()));
    let mut series: Vec<Series> = aims(tuning).into();
    series.extend(shown.iter().enumerate().map(|(hue, compared)| {
        let points = (0..=POINTS).map(|point| {
            let jaccard = f64::from(point) / f64::from(POINTS);
            let bands = compared.shape.bands;
            (jaccard, bands.probability(jaccard, tuning.slot_width))
        });
        let form = if compared.names.is_empty() {
            SeriesStyle::Line
        } else {
            SeriesStyle::BoldLine
        };
        Series::new(label(tuning, compared), form, hue, points.collect())
    }));
    let title = format!(
        "Pairs found by bands of up to {} permutations",
        tuning.permutations
    );
    let x = Axis::similarity("Jaccard similarity of a pair");
    let y = Axis::percent("probability that the pair is found");
    Picture::new(vec![Panel::new(title, x, y, series)])
}

/// Returns the lines of the threshold and the recall.
fn aims(tuning: &Tuning) -> [Series; 2] {
    let name = format!(
        "threshold {}, and {} found",
        tuning.threshold,
        percent(tuning.recall)
    );
    let (x, y) = (tuning.threshold, tuning.recall);
    let line = |name: &str, points| Series::new(name, SeriesStyle::Reference, 0, points);
    [
        line(&name, vec![(x, 0.0), (x, 1.0)]),
        line("", vec![(0.0, y), (1.0, y)]),
    ]
}

/// Returns the legend of a curve.
fn label(tuning: &Tuning, compared: &ComparedShape) -> String {
    let bands = compared.shape.bands;
    let found = bands.probability(tuning.threshold, tuning.slot_width);
    let name = match compared.names.join(", ") {
        names if names.is_empty() => names,
        names => format!(" ({names})"),
    };
    format!(
        "{} of {}{name}: {} at {}",
        counted(bands.bands().into(), "band", "bands"),
        counted(bands.rows().into(), "row", "rows"),
        percent(found),
        tuning.threshold
    )
}
