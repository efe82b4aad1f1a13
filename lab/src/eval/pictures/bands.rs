//! The results of numbers of bands, as a picture.

use crate::eval::{BandsMeasured, Figure, ShapeMeasured};
use crate::number::grouped;
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};

impl BandsMeasured {
    /// Draws true and false candidates by the number of bands, with the values that the S-curve predicts. `threshold`
    /// and `permutations` are those of the experiment.
    pub fn picture(&self, threshold: f64, permutations: u32) -> Picture {
        let points = |of: &dyn Fn(&ShapeMeasured) -> f64| {
            let shapes = self.shapes.iter();
            let points = shapes.map(|shape| (f64::from(shape.bands.bands()), of(shape)));
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        let both = |hue, of: fn(&ShapeMeasured) -> Figure| {
            let expected = points(&|shape| of(shape).expected);
            let measured = points(&|shape| of(shape).measured);
            [
                Series::new("expected by the S-curve", SeriesStyle::Line, hue, expected),
                Series::new("measured", SeriesStyle::Points, hue, measured),
            ]
        };
        let near = format!("all pairs with a similarity of {threshold} or more");
        let near = Series::new(near, SeriesStyle::Reference, 0, points(&|_| self.near));
        let found = [near].into_iter().chain(both(0, |shape| shape.found));
        let wrong = both(1, |shape| shape.false_positives);
        let bands = format!(
            "number of bands of {} permutations",
            grouped(permutations.into())
        );
        let panel = |title, y, series| Panel::new(title, Axis::within(&bands), y, series);
        let drawn = wrong.iter().flat_map(|series| &series.points);
        let y = Axis::log_and_zero("texts a query", drawn.map(|point| point.1));
        Picture::new(vec![
            panel(
                "Near-duplicates found",
                Axis::linear("texts a query"),
                found.collect(),
            ),
            panel("False positives", y, wrong.into()),
        ])
    }
}
