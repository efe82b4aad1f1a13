//! Pictures of figures, as SVG or PNG: panels beside each other, each with axes, units and a legend.

mod canvas;
mod curves;
mod legend;
mod panel;
mod png;
mod style;
mod ticks;

pub(crate) use canvas::{check_name, write};
pub(crate) use curves::{Curve, s_curves};
pub(crate) use ticks::Scale;

/// A picture of one or more panels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    pub(crate) panels: Vec<Panel>,
}

/// A chart with its title and legend.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Drawn in this order, the last on top.
    pub(crate) series: Vec<Series>,
}

/// What is along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The quantity and its unit.
    pub(crate) name: String,
    pub(crate) scale: Scale,
    /// Whether values from 0 to 1 are shown in percent.
    pub(crate) in_percent: bool,
    /// Values that are on it whatever is drawn.
    pub(crate) includes: Vec<f64>,
}

/// Values that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// What the legend says.
    pub(crate) name: String,
    /// Ascending by x. Those of 0 or less are left out of a logarithmic axis.
    pub(crate) points: Vec<(f64, f64)>,
    /// Lower and upper bound of each point's y, or nothing.
    pub(crate) spans: Vec<(f64, f64)>,
    pub(crate) form: Form,
    /// Series of the same number share a colour, dashes and the shape of points.
    pub(crate) hue: usize,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line, for what is predicted.
    Line,
    /// A thicker line, which stands out.
    BoldLine,
    /// Points, for what was measured.
    Points,
    /// Points with a thin line from one to the next.
    JoinedPoints,
    /// A thin grey line, for what others are compared with.
    Reference,
}

impl Axis {
    /// An axis of evenly spaced values from 0 on.
    pub(crate) fn linear(name: &str) -> Axis {
        Axis {
            name: name.to_owned(),
            scale: Scale::Linear,
            in_percent: false,
            includes: vec![0.0],
        }
    }

    /// An axis on which equal distances are equal ratios.
    pub(crate) fn log(name: &str) -> Axis {
        Axis {
            scale: Scale::Log,
            includes: Vec::new(),
            ..Axis::linear(name)
        }
    }

    /// An axis of shares in percent, all of them.
    pub(crate) fn percent(name: &str) -> Axis {
        Axis {
            in_percent: true,
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }

    /// An axis of similarities, all of them.
    pub(crate) fn similarity(name: &str) -> Axis {
        Axis {
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }
}

impl Series {
    /// A series without bounds.
    pub(crate) fn new(name: &str, form: Form, hue: usize, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.to_owned(),
            points,
            spans: Vec::new(),
            form,
            hue,
        }
    }
}
