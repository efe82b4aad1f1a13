//! The cost of comparing all texts, as a picture.

use crate::eval::{Cost, Crossing, PartCost, pairs};
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};

/// Draws the seconds for each part of a corpus, ascending, as [`time`](crate::eval::time()) returns them.
pub fn time_picture(parts: &[PartCost]) -> Picture {
    let points = |of: &dyn Fn(&PartCost) -> Option<f64>| {
        let points = parts.iter();
        points
            .filter_map(|part| Some((part.texts as f64, of(part)?)))
            .collect::<Vec<_>>()
    };
    let if_measured = |cost: Cost| cost.measured.then_some(cost.seconds);
    let spans = |of: &dyn Fn(&PartCost) -> Cost| {
        let costs = parts.iter().map(of).filter(|cost| cost.measured);
        costs.map(|cost| (cost.low, cost.high)).collect::<Vec<_>>()
    };
    let last = parts.iter().rev().find(|part| part.exact.measured);
    let computed = points(&|part| {
        let last = last?;
        let square = pairs(part.texts) as f64 / pairs(last.texts) as f64;
        Some(last.exact.seconds * square)
    });
    let exact = points(&|part| if_measured(part.exact));
    let mut measured = Series::new("all exact, measured", SeriesStyle::Points, 0, exact);
    measured.spans = spans(&|part| part.exact);
    let mut all = vec![
        Series::new(
            "all exact, by the number of pairs",
            SeriesStyle::Line,
            0,
            computed,
        ),
        measured,
    ];
    let mut steps = Vec::new();
    let signed = parts.first().map_or(&[][..], |part| &part.signed);
    for (at, signed) in signed.iter().enumerate() {
        let (hue, number) = (at + 1, signed.permutations);
        let series = |name: &str, form, points| {
            Series::new(format!("{name}, {number} permutations"), form, hue, points)
        };
        let lsh = points(&|part| Some(part.signed[at].lsh));
        let mut lsh = series("LSH", SeriesStyle::JoinedPoints, lsh);
        lsh.spans = parts.iter().map(|part| part.signed[at].lsh_span).collect();
        all.push(lsh);
        if let Some(crossing) = Crossing::of(parts, at).filter(|it| it.after.is_some()) {
            all.push(line_at(crossing.texts, number, parts));
        }
        let signatures = points(&|part| Some(part.signed[at].signatures));
        steps.push(series("signatures", SeriesStyle::JoinedPoints, signatures));
        let estimates = points(&|part| if_measured(part.signed[at].estimates));
        steps.push(series("all estimates", SeriesStyle::Line, estimates));
    }
    let panel = |title, series| {
        let (x, y) = (Axis::log("texts"), Axis::log("seconds of one thread"));
        Panel::new(title, x, y, series)
    };
    Picture::new(vec![
        panel("All similarities, or LSH: medians and quartiles", all),
        panel("Signatures and estimates", steps),
    ])
}

/// Returns a line at the number of texts from which LSH takes less than all exact similarities.
fn line_at(texts: f64, permutations: u32, parts: &[PartCost]) -> Series {
    let exact = parts.iter().map(|part| part.exact.seconds);
    let (low, high) = exact.fold((f64::INFINITY, 0.0_f64), |(low, high), seconds| {
        (low.min(seconds), high.max(seconds))
    });
    let name =
        format!("LSH takes less from about {texts:.0} texts on, {permutations} permutations");
    Series::new(
        name,
        SeriesStyle::Reference,
        0,
        vec![(texts, low), (texts, high)],
    )
}
