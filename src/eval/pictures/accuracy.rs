//! How far estimates are from exact similarities, as a picture.

use crate::eval::Accuracy;
use crate::plot::{Axis, Form, Panel, Picture, Series};
use crate::text::Shingling;

/// Draws the errors of estimates by the number of permutations, and the pairs that are off, beside what is expected
/// of ideal permutations. The rows are those of [`accuracy`](crate::eval::accuracy()) for each kind of shingles;
/// a colour is a kind and a family.
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
        errors.push(Series::new("", Form::Line, hue, points(&|a| a.ideal_error)));
        errors.push(Series::new(&name, Form::Points, hue, points(&|a| a.error)));
        let epsilons = &group[0].off;
        for (index, epsilon) in epsilons.iter().map(|off| off.epsilon).enumerate() {
            let name = format!("{name}, by more than {epsilon}");
            let hue = hue * epsilons.len() + index;
            let ideal = points(&|a| a.off[index].ideal);
            let mean = points(&|a| a.off[index].mean);
            off.push(Series::new("", Form::Line, hue, ideal));
            off.push(Series::new(&name, Form::Points, hue, mean));
        }
    }
    let panel = |title, y, series| Panel::new(title, Axis::linear("permutations"), y, series);
    Picture::new(vec![
        panel(
            "Error of estimates; lines: ideal",
            Axis::linear("root of the mean square"),
            errors,
        ),
        panel("Pairs that are off; lines: ideal", Axis::log("pairs"), off),
    ])
}
