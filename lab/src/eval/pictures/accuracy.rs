//! The errors of similarity estimates, as a picture.

use crate::eval::{Accuracy, LargeErrors};
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};
use dedupdb::sketching::Shingling;

/// The number of points of an ideal curve.
const POINTS: u32 = 200;

/// Draws the errors of estimates by the number of permutations, and the pairs that are off.
///
/// Both are beside the values expected of ideal permutations. The rows are those of
/// [`accuracy`](crate::eval::accuracy()) for each kind of shingles. Each kind and family has a colour.
pub fn accuracy_picture(measured: &[(Shingling, &[Accuracy])]) -> Picture {
    let (mut errors, mut off) = (Vec::new(), Vec::new());
    let groups = measured.iter().flat_map(|(shingling, rows)| {
        let families = rows.chunk_by(|a, b| a.family == b.family);
        families.map(move |rows| (shingling, rows))
    });
    for (hue, (shingling, group)) in groups.enumerate() {
        let points = |of: &dyn Fn(&Accuracy) -> f64| {
            let points = group
                .iter()
                .map(|row| (f64::from(row.permutations), of(row)));
            points.collect::<Vec<(f64, f64)>>()
        };
        let name = format!("{} of {shingling} shingles", group[0].family);
        errors.push(Series::new("", SeriesStyle::Line, hue, ideal(group)));
        errors.push(Series::new(
            &name,
            SeriesStyle::Points,
            hue,
            points(&|a| a.error),
        ));
        let epsilons = &group[0].off;
        for (index, epsilon) in epsilons.iter().map(|off| off.epsilon).enumerate() {
            let name = format!("{name}, by more than {epsilon}");
            let hue = hue * epsilons.len() + index;
            let ideal = points(&|a| a.off[index].ideal);
            let mut mean = Series::new(
                &name,
                SeriesStyle::Points,
                hue,
                points(&|a| a.off[index].mean),
            );
            let spans = group.iter().map(|row| interval(&row.off[index]));
            mean.spans = spans.collect();
            off.push(Series::new("", SeriesStyle::Line, hue, ideal));
            off.push(mean);
        }
    }
    let panel = |title, y, series| Panel::new(title, Axis::within("permutations"), y, series);
    let drawn = off.iter().flat_map(|series| {
        let spans = series.spans.iter().map(|span| span.0);
        series.points.iter().map(|point| point.1).chain(spans)
    });
    let pairs = Axis::log_and_zero("pairs", drawn);
    Picture::new(vec![
        panel(
            "Error of estimates; lines: ideal",
            Axis::linear("root of the mean square"),
            errors,
        ),
        panel(
            "Pairs that are off, with 95% intervals; lines: ideal",
            pairs,
            off,
        ),
    ])
}

/// Returns the error expected of ideal permutations, which is inversely proportional to the root of their number.
fn ideal(rows: &[Accuracy]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Vec::new();
    };
    let (from, to) = (f64::from(first.permutations), f64::from(last.permutations));
    let places =
        (0..=POINTS).map(|point| from + (to - from) * f64::from(point) / f64::from(POINTS));
    places
        .map(|at| (at, first.ideal_error * (from / at).sqrt()))
        .collect()
}

/// Returns the 95% interval of a mean over runs.
fn interval(off: &LargeErrors) -> (f64, f64) {
    let half = 1.96 * off.standard_error;
    ((off.mean - half).max(0.0), off.mean + half)
}
