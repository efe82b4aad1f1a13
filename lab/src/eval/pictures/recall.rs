//! The recall of a store, as a picture.

use crate::eval::{Recall, RecallRange};
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};
use dedupdb::Schema;

/// The number of points of the predicted curve.
const POINTS: u32 = 200;

impl Recall {
    /// Draws the recall of each range of similarities with its 95% interval, beside the S-curve of the store's
    /// `schema`.
    pub fn picture(&self, schema: &Schema) -> Picture {
        let curve = (0..=POINTS).map(|point| {
            let jaccard = f64::from(point) / f64::from(POINTS);
            (jaccard, schema.recall(jaccard))
        });
        let first = (self.threshold * 10.0).floor() / 10.0;
        let predicted = curve.filter(|(jaccard, _)| *jaccard >= first).collect();
        let measured = || self.ranges.iter().filter(|range| range.pairs > 0);
        let places = measured().map(|range| {
            let jaccard = range.jaccard().unwrap_or_default();
            (jaccard, range.recall().unwrap_or_default())
        });
        let mut points = Series::new(
            "measured, 95% interval",
            SeriesStyle::Points,
            1,
            places.collect(),
        );
        points.spans = measured().map(RecallRange::interval).collect();
        let line = Series::new("predicted by the S-curve", SeriesStyle::Line, 0, predicted);
        let title = format!(
            "True pairs found by {}",
            crate::number::shape(schema.bands())
        );
        let mut x = Axis::similarity("Jaccard similarity of a pair");
        x.includes = vec![first, 1.0];
        let y = Axis::percent("pairs found");
        Picture::new(vec![Panel::new(title, x, y, vec![line, points])])
    }
}
