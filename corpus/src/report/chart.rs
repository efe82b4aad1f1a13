//! Charts as SVG, in the colours of the page.

use std::collections::BTreeMap;
use std::ops::Range;

use maud::{Markup, html};

use crate::number::grouped;

/// The edges of the plot, in a picture of `WIDTH` by `HEIGHT`.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 352.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 172.0;
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 212.0;

/// The width of a strip. Its page stretches it.
const STRIP: u64 = 500;

/// The maximum number of labels below bars.
const MOST_LABELS: usize = 6;

/// The names of the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes<'a> {
    /// The description of the chart, for readers who do not see it.
    pub(super) caption: &'a str,
    /// The name of the horizontal axis.
    pub(super) x: &'a str,
    /// The name of the vertical axis.
    pub(super) y: &'a str,
}

/// Draws the S-curve: the `share` of the pairs that is found at each similarity, with the `threshold` marked.
pub(super) fn curve(axes: Axes<'_>, share: impl Fn(f64) -> f64, threshold: f64) -> Markup {
    let x = |similarity: f64| LEFT + (RIGHT - LEFT) * similarity;
    let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share;
    let points = (0..=200).map(|step| f64::from(step) / 200.0);
    let points = points.map(|at| format!("{:.1},{:.1}", x(at), y(share(at))));
    let points: Vec<String> = points.collect();
    let tenths = (0..=5).map(|step| f64::from(step) / 5.0);
    let ticks = tenths
        .clone()
        .map(|at| (y(at), format!("{:.0}%", at * 100.0)));
    let labels = tenths.map(|at| (x(at), format!("{at:.1}")));
    let inside = html! {
        line.mark x1=(pixels(x(threshold))) x2=(pixels(x(threshold))) y1=(pixels(TOP)) y2=(pixels(BOTTOM)) {}
        polyline.curve points=(points.join(" ")) {}
        circle.dot cx=(pixels(x(threshold))) cy=(pixels(y(share(threshold)))) r="4" {}
    };
    framed(axes, ticks.collect(), labels.collect(), &inside)
}

/// Draws bars of counts, each with its label. On a logarithmic axis, a count of 0 has no bar.
pub(super) fn bars(axes: Axes<'_>, bars: &[(String, u64)], is_log: bool) -> Markup {
    let most = bars
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let height = |count: u64| match (count, is_log) {
        (0, _) => 0.0,
        // A count of one is above the base line.
        (count, true) => (count as f64 * 2.0).log10() / (most as f64 * 2.0).log10(),
        (count, false) => count as f64 / most as f64,
    };
    let y = |count: u64| BOTTOM - (BOTTOM - TOP) * height(count);
    let step = (RIGHT - LEFT) / bars.len().max(1) as f64;
    let x = |place: usize| LEFT + step * place as f64;
    let inside = html! {
        @for (place, (label, count)) in bars.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
            rect.bar x=(pixels(x(place) + step * 0.08)) y=(pixels(y(*count))) width=(pixels(step * 0.84))
                height=(pixels(BOTTOM - y(*count))) {
                title { (label) ": " (grouped(*count)) }
            }
        }
    };
    let each = bars.len().div_ceil(MOST_LABELS).max(1);
    let labels = bars.iter().enumerate().step_by(each);
    let labels = labels.map(|(place, (label, _))| (x(place) + step / 2.0, label.clone()));
    let ticks = ticks(most, is_log).into_iter();
    let ticks = ticks.map(|count| (y(count), grouped(count)));
    framed(axes, ticks.collect(), labels.collect(), &inside)
}

/// Draws where some ranges of `count` tokens are, from the left to the right: high ones for which the flag is set, and low
/// ones.
pub(super) fn strip(
    ranges: impl Iterator<Item = (Range<u32>, bool)>,
    count: u32,
    label: &str,
) -> Markup {
    let count = u64::from(count.max(1));
    let step = |token: u32| u64::from(token) * STRIP / count;
    // What begins at the same step is drawn once.
    let mut bars: BTreeMap<(u64, bool), u64> = BTreeMap::new();
    for (range, is_high) in ranges {
        let end = bars.entry((step(range.start), is_high)).or_default();
        *end = step(range.end).max(*end);
    }
    html! {
        svg.strip role="img" aria-label=(label) viewBox=(format!("0 0 {STRIP} 20")) preserveAspectRatio="none" {
            rect.rest x="0" y="0" width=(STRIP) height="20" {}
            @for ((start, is_high), end) in bars {
                @let (class, y) = if is_high { ("high", 0) } else { ("low", 12) };
                rect class=(class) x=(start) y=(y) width=((end - start).max(2)) height=(20 - y) {}
            }
        }
    }
}

/// Returns the counts to label on an axis up to `most`.
fn ticks(most: u64, is_log: bool) -> Vec<u64> {
    if is_log {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        return powers.take_while(|power| *power <= most).collect();
    }
    let mut step = 1_u64;
    // The smallest step of 1, 2 or 5 times a power of ten that gives at most five ticks above 0.
    for factor in [2, 5, 10].into_iter().cycle() {
        if most / step <= 5 {
            break;
        }
        let power = 10_u64.pow(step.ilog10());
        step = power.saturating_mul(factor);
    }
    (0..=most / step).map(|tick| tick * step).collect()
}

/// Draws a chart with its axes.
fn framed(
    axes: Axes<'_>,
    ticks: Vec<(f64, String)>,
    labels: Vec<(f64, String)>,
    inside: &Markup,
) -> Markup {
    let middle = f64::midpoint(TOP, BOTTOM);
    html! {
        svg.chart role="img" aria-label=(axes.caption) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
            @for (y, label) in ticks {
                line.grid x1=(pixels(LEFT)) x2=(pixels(RIGHT)) y1=(pixels(y)) y2=(pixels(y)) {}
                text x=(pixels(LEFT - 5.0)) y=(pixels(y + 3.5)) text-anchor="end" { (label) }
            }
            @for (x, label) in labels {
                text x=(pixels(x)) y=(pixels(BOTTOM + 15.0)) text-anchor="middle" { (label) }
            }
            (inside)
            line.axis x1=(pixels(LEFT)) x2=(pixels(RIGHT)) y1=(pixels(BOTTOM)) y2=(pixels(BOTTOM)) {}
            text x=(pixels(f64::midpoint(LEFT, RIGHT))) y=(pixels(HEIGHT - 6.0)) text-anchor="middle" { (axes.x) }
            text x="11" y=(pixels(middle)) text-anchor="middle"
                transform=(format!("rotate(-90 11 {middle:.1})")) { (axes.y) }
        }
    }
}

fn pixels(number: f64) -> String {
    format!("{number:.1}")
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(1, false), [0, 1]);
        assert_eq!(ticks(7, false), [0, 2, 4, 6]);
        assert_eq!(ticks(60, false), [0, 20, 40, 60]);
        assert_eq!(ticks(1234, false), [0, 500, 1000]);
        assert_eq!(ticks(1234, true), [1, 10, 100, 1000]);
        for most in [1, 9, 10, 11, 99, 12_345, u64::MAX] {
            assert!((2..=6).contains(&ticks(most, false).len()), "{most}");
        }
    }
}
