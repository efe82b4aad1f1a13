//! What comparing all texts costs, as a picture.

use crate::eval::{Cost, PartCost, pairs};
use crate::plot::{Axis, Form, Panel, Picture, Series};

/// Draws the seconds of each part of a corpus, ascending, as [`time`](crate::eval::time()) gives them.
pub fn time_picture(parts: &[PartCost]) -> Picture {
    let points = |of: &dyn Fn(&PartCost) -> Option<f64>| {
        let points = parts.iter();
        points
            .filter_map(|part| Some((part.texts as f64, of(part)?)))
            .collect::<Vec<_>>()
    };
    let if_measured = |cost: Cost| cost.measured.then_some(cost.seconds);
    let last = parts.iter().rev().find(|part| part.exact.measured);
    let computed = points(&|part| {
        let last = last?;
        let square = pairs(part.texts) as f64 / pairs(last.texts) as f64;
        Some(last.exact.seconds * square)
    });
    let exact = points(&|part| if_measured(part.exact));
    let mut all = vec![
        Series::new("all exact, by the number of pairs", Form::Line, 0, computed),
        Series::new("all exact, measured", Form::Points, 0, exact),
    ];
    let mut steps = Vec::new();
    let signed = parts.first().map_or(&[][..], |part| &part.signed);
    for (at, signed) in signed.iter().enumerate() {
        let (hue, number) = (at + 1, signed.permutations);
        let series = |name: &str, form, points| {
            Series::new(format!("{name}, {number} permutations"), form, hue, points)
        };
        let lsh = points(&|part| Some(part.signed[at].lsh));
        all.push(series("LSH", Form::JoinedPoints, lsh));
        let signatures = points(&|part| Some(part.signed[at].signatures));
        steps.push(series("signatures", Form::JoinedPoints, signatures));
        let estimates = points(&|part| if_measured(part.signed[at].estimates));
        steps.push(series("all estimates", Form::Line, estimates));
    }
    let panel = |title, series| {
        let (x, y) = (Axis::log("texts"), Axis::log("seconds of one thread"));
        Panel::new(title, x, y, series)
    };
    Picture::new(vec![
        panel("All similarities, or LSH", all),
        panel("Signatures and estimates", steps),
    ])
}
