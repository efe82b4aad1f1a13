//! Scales, and the labels of axes.

use crate::number::grouped;

/// How values are mapped to positions on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios. Values of 0 or less have no position.
    Log,
    /// Logarithmic from ten to this power on. Smaller values are placed there too, and 0 is a decade below.
    LogAndZero(i32),
}

impl Scale {
    /// Returns the logarithmic scale for these values, with a position for 0 if one of them is 0.
    pub(super) fn log_and_zero(values: impl IntoIterator<Item = f64>) -> Scale {
        let mut has_zero = false;
        let mut least = f64::INFINITY;
        for value in values {
            has_zero |= value == 0.0;
            least = if value > 0.0 { least.min(value) } else { least };
        }
        if !has_zero {
            return Scale::Log;
        }
        let power = (LEAST_POWER..MOST_POWER).find(|power| 10f64.powi(power + 1) > least);
        Scale::LogAndZero(power.unwrap_or(0))
    }

    /// Returns the position of a value, or `None` if the axis has no such value.
    pub(super) fn place(self, value: f64) -> Option<f64> {
        let place = match self {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::LogAndZero(power) if value > 0.0 => value.log10().max(power.into()),
            Scale::LogAndZero(power) if value == 0.0 => f64::from(power) - 1.0,
            Scale::Log | Scale::LogAndZero(_) => return None,
        };
        (place.abs() <= FARTHEST).then_some(place)
    }

    /// Returns the value at a position.
    pub(super) fn value(self, place: f64) -> f64 {
        match self {
            Scale::Linear => place,
            Scale::LogAndZero(power) if place < f64::from(power) - 0.5 => 0.0,
            Scale::Log | Scale::LogAndZero(_) => 10f64.powf(place),
        }
    }

    /// Returns the label at a position, which is one of `ticks`.
    pub(super) fn label(self, ticks: &[f64], place: f64, in_percent: bool) -> String {
        let value = self.value(place);
        if value == 0.0 && self != Scale::Linear {
            return "0".to_owned();
        }
        let unit = match (self, ticks) {
            (Scale::Linear, [first, second, ..]) => second - first,
            // Its own leading digit.
            _ => value.abs(),
        };
        if in_percent {
            return format!("{}%", label(100.0 * value, 100.0 * unit));
        }
        label(value, unit)
    }

    /// Returns the positions of at least two labels. The first is not above the least of `places`, the last not below
    /// the greatest.
    pub(super) fn ticks(self, places: impl Iterator<Item = f64>) -> Vec<f64> {
        let bounds = places.fold(None, |bounds: Option<(f64, f64)>, place| {
            let (low, high) = bounds.unwrap_or((place, place));
            Some((low.min(place), high.max(place)))
        });
        let (low, high) = bounds.unwrap_or((0.0, 1.0));
        match self {
            Scale::Linear => even(low, high, STEPS),
            Scale::LogAndZero(power) => from_zero(power.into(), high),
            Scale::Log if high - low < FEW_DECADES => within_decades(low, high),
            Scale::Log => {
                let (low, high) = (low.floor(), high.ceil());
                even(low, high, (high - low).min(STEPS))
            }
        }
    }
}

/// The approximate number of steps between labels.
const STEPS: f64 = 9.0;

/// With fewer powers of ten than this, there are labels between them.
const FEW_DECADES: f64 = 2.5;

/// Smaller values have labels like 2e-12.
const LEAST_PLAIN: f64 = 1e-4 * (1.0 - SLACK);

/// The maximum number of significant digits of a 64-bit float.
const MOST_DIGITS: i32 = 17;

/// Values beyond this have no position, so that the distance of two positions is finite.
const FARTHEST: f64 = 1e300;

/// The minimum length of an axis as a share of its values, so that a step changes the float.
const NARROWEST: f64 = 1e-9;

/// The tolerance for rounding errors, in steps.
const SLACK: f64 = 1e-6;

/// The range of the powers of ten of a 64-bit float.
const LEAST_POWER: i32 = -330;
const MOST_POWER: i32 = 308;

/// Returns the position of 0, and powers of ten from this one on.
fn from_zero(power: f64, high: f64) -> Vec<f64> {
    let step = ((high - power) / STEPS).ceil().max(1.0);
    let mut ticks = vec![power - 1.0, power];
    let mut at = power;
    while at < high - SLACK {
        at += step;
        ticks.push(at);
    }
    ticks
}

/// Returns multiples of 1, 2 or 5 times a power of ten.
fn even(low: f64, high: f64, steps: f64) -> Vec<f64> {
    let farthest = low.abs().max(high.abs());
    let span = if high > low {
        (high - low).max(farthest * NARROWEST)
    } else {
        farthest.max(1.0)
    };
    let least = span / steps;
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let fitting = step.into_iter().find(|step| *step >= least * (1.0 - SLACK));
    let step = fitting.unwrap_or(10.0 * power);
    let mut at = (low / step + SLACK).floor();
    let mut ticks = vec![at * step];
    while at * step < high - SLACK * step || ticks.len() < 2 {
        at += 1.0;
        ticks.push(at * step);
    }
    ticks
}

/// Returns 1, 2 and 5 times powers of ten.
fn within_decades(low: f64, high: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut decade = low.floor();
    loop {
        for times in [1.0_f64, 2.0, 5.0] {
            let tick = decade + times.log10();
            if tick <= low + SLACK {
                ticks.clear();
            }
            ticks.push(tick);
            if tick >= high - SLACK && ticks.len() > 1 {
                return ticks;
            }
        }
        decade += 1.0;
    }
}

/// Formats a value as a label that differs from those of values a unit away.
fn label(value: f64, unit: f64) -> String {
    if value.abs() < unit / 2.0 {
        return "0".to_owned();
    }
    // The decimal place of the last digit.
    let last = 10f64.powf((unit.log10() + SLACK).floor());
    if value.abs() < LEAST_PLAIN {
        let all = value.abs() * (1.0 + SLACK);
        let digits = (1..MOST_DIGITS).take_while(|&digits| all >= last * 10f64.powi(digits));
        let text = format!("{value:.*e}", digits.count());
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", trimmed(digits));
    }
    let decimals = (0..MOST_DIGITS).take_while(|&digits| last * 10f64.powi(digits) < 1.0 - SLACK);
    let text = format!("{value:.*}", decimals.count());
    let text = trimmed(&text);
    let whole = text.split('.').next().unwrap_or(text);
    match whole.parse() {
        Ok(number) if number >= 1000 => text.replacen(whole, &grouped(number), 1),
        _ => text.to_owned(),
    }
}

/// Returns a number without trailing zeros in its decimals.
fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, label};

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let places = values.iter().filter_map(|&value| scale.place(value));
        let ticks = scale.ticks(places);
        let label = |&tick: &f64| scale.label(&ticks, tick, false);
        ticks.iter().map(label).collect()
    }

    #[test]
    fn labels_are_round_numbers_around_the_values() {
        let tenths = ["0", "0.2", "0.4", "0.6", "0.8", "1"];
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0]), tenths);
        assert_eq!(
            labels(Scale::Linear, &[15.0, 118.0]).join(" "),
            "0 20 40 60 80 100 120"
        );
        assert_eq!(labels(Scale::Linear, &[0.0]), ["0", "0.2"]);
        assert_eq!(
            labels(Scale::Log, &[3.0, 60.0]).join(" "),
            "2 5 10 20 50 100"
        );
        assert_eq!(
            labels(Scale::Log, &[0.0, 0.02, 30_000.0]).join(" "),
            "0.01 0.1 1 10 100 1,000 10,000 100,000"
        );
        assert_eq!(labels(Scale::Log, &[]).len(), 4);
        assert_eq!(
            labels(Scale::Log, &[2e-14, 0.5]).join(" "),
            "1e-14 1e-12 1e-10 1e-8 1e-6 0.0001 0.01 1"
        );
        assert_eq!(
            labels(Scale::Log, &[3e-12, 6e-11]).join(" "),
            "2e-12 5e-12 1e-11 2e-11 5e-11 1e-10"
        );
        assert_eq!(
            labels(Scale::Linear, &[0.0, 1.2e-5]).join(" "),
            "0 2e-6 4e-6 6e-6 8e-6 1e-5 1.2e-5"
        );
        assert_eq!(
            labels(Scale::Linear, &[2000.0, 2001.0]).join(" "),
            "2,000 2,000.2 2,000.4 2,000.6 2,000.8 2,001"
        );
    }

    #[test]
    fn labels_of_an_axis_are_distinct_and_near_their_values() {
        let spans = [
            (0.0, 1.0),
            (0.3, 7.7),
            (2.0, 2.001),
            (-1.0, 999.0),
            (1.0, 1e14),
        ];
        for (exponent, (low, high)) in (-16..8).flat_map(|e| spans.map(|span| (e, span))) {
            let size = 10f64.powi(exponent);
            for scale in [Scale::Linear, Scale::Log] {
                let values = [low * size, high * size].into_iter();
                let ticks = scale.ticks(values.filter_map(|value| scale.place(value)));
                for in_percent in [false, true] {
                    let label = |&tick: &f64| scale.label(&ticks, tick, in_percent);
                    let labels: Vec<String> = ticks.iter().map(label).collect();
                    let distinct = labels.windows(2).all(|pair| pair[0] != pair[1]);
                    assert!(distinct, "{labels:?}");
                    for (label, &tick) in labels.iter().zip(&ticks) {
                        let number = label.replace([',', '%'], "").parse::<f64>().unwrap();
                        let value = scale.value(tick) * if in_percent { 100.0 } else { 1.0 };
                        let slack = 1e-5 * value.abs() + 1e-9 * size;
                        assert!((number - value).abs() <= slack, "{label}: {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_value_lies_between_the_first_and_the_last_label() {
        for exponent in -8..8 {
            for (low, high) in [
                (0.0, 1.0),
                (1.0, 1.0),
                (0.3, 7.7),
                (2.0, 2.001),
                (1.0, 999.0),
            ] {
                let size = 10f64.powi(exponent);
                for scale in [Scale::Linear, Scale::Log] {
                    let places: Vec<f64> = [low * size, high * size]
                        .into_iter()
                        .filter_map(|value| scale.place(value))
                        .collect();
                    let ticks = scale.ticks(places.iter().copied());
                    assert!(ticks.len() >= 2 && ticks.len() < 14, "{ticks:?}");
                    assert!(ticks.is_sorted());
                    for place in places {
                        let slack = 1e-5 * (ticks[1] - ticks[0]);
                        let (first, last) = (ticks[0] - slack, ticks[ticks.len() - 1] + slack);
                        assert!(first <= place && place <= last, "{place}: {ticks:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn axes_far_from_zero_end() {
        for (low, high) in [
            (1e17, 1e17 + 16.0),
            (-1e17 - 16.0, -1e17),
            (-1e300, 1e300),
            (f64::MIN, f64::MAX),
            (f64::NAN, f64::INFINITY),
            (5e-324, 1e-323),
        ] {
            for scale in [Scale::Linear, Scale::Log] {
                let places = [low, high].into_iter();
                let ticks = scale.ticks(places.filter_map(|value| scale.place(value)));
                assert!(ticks.len() >= 2 && ticks.len() < 14, "{ticks:?}");
            }
        }
    }

    #[test]
    fn shares_are_in_percent() {
        let percent = |value| Scale::Linear.label(&[0.0, value], value, true);
        assert_eq!(percent(0.25), "25%");
        assert_eq!(percent(0.00001), "0.001%");
        assert_eq!(label(1234.0, 2.0), "1,234");
    }
}
