//! Pictures of figures as SVG or PNG: panels beside each other, each with axes, units and a legend.
//!
//! A picture looks the same on every machine: it brings its font, and colours, dashes and shapes of
//! points are told apart without one another.
//!
//! ```
//! use dedupdb::plot::{Axis, Form, Panel, Picture, Series};
//! use dedupdb::sketching::{Bands, SlotWidth};
//!
//! let shape = Bands::new(17, 7, 128)?;
//! let curve = (0..=100).map(|percent| {
//!     let jaccard = f64::from(percent) / 100.0;
//!     (jaccard, shape.probability(jaccard, SlotWidth::Bits16))
//! });
//! let mut measured = Series::new("measured", Form::Points, 1, vec![(0.7, 0.71), (0.8, 0.98)]);
//! measured.spans = vec![(0.65, 0.77), (0.95, 1.0)];
//! let panel = Panel::new(
//!     "Pairs found",
//!     Axis::similarity("Jaccard similarity of a pair"),
//!     Axis::percent("pairs found"),
//!     vec![
//!         Series::new("predicted", Form::Line, 0, curve.collect()),
//!         measured,
//!     ],
//! );
//! let svg = Picture::new(vec![panel]).to_svg()?;
//! assert!(svg.starts_with("<svg") && svg.contains("Pairs found"));
//! # Ok::<(), dedupdb::Error>(())
//! ```

mod canvas;
mod caption;
mod legend;
mod panel;
mod png;
mod style;
mod ticks;

pub use ticks::Scale;

/// A picture of panels beside each other, 8 at most.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Picture {
    /// From left to right.
    pub panels: Vec<Panel>,
    /// What stands below them: what the figures are of, a line each; long ones are wrapped.
    pub caption: Vec<String>,
}

/// A chart with its title and legend.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis to the left.
    pub y: Axis,
    /// Drawn in this order, the last on top; 64 with a name at most.
    pub series: Vec<Series>,
}

/// What is along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Axis {
    /// The quantity and its unit.
    pub name: String,
    /// How values become places.
    pub scale: Scale,
    /// Whether values from 0 to 1 are shown in percent.
    pub in_percent: bool,
    /// Values that are on it whatever is drawn.
    pub includes: Vec<f64>,
}

/// Values that belong together.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Series {
    /// What the legend says; nothing if it is empty.
    pub name: String,
    /// Ascending by x. Values that an axis has no place for are left out: those that are not finite,
    /// and those of 0 or less where the axis is logarithmic.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper bound of each point's y, or nothing.
    pub spans: Vec<(f64, f64)>,
    /// How it is drawn.
    pub form: Form,
    /// Series of the same number share a colour, dashes and the shape of points; there are six.
    pub hue: usize,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
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

impl Picture {
    /// A picture of these panels, from left to right.
    pub fn new(panels: Vec<Panel>) -> Picture {
        Picture {
            panels,
            caption: Vec::new(),
        }
    }
}

impl Panel {
    /// A chart of these series.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
        Panel {
            title: title.into(),
            x,
            y,
            series,
        }
    }
}

impl Axis {
    /// An axis of evenly spaced values from 0 on; `name` is the quantity and its unit.
    pub fn linear(name: impl Into<String>) -> Axis {
        Axis {
            name: name.into(),
            scale: Scale::Linear,
            in_percent: false,
            includes: vec![0.0],
        }
    }

    /// An axis on which equal distances are equal ratios.
    pub fn log(name: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log,
            includes: Vec::new(),
            ..Axis::linear(name)
        }
    }

    /// An axis of evenly spaced values, from the least to the greatest of what is drawn.
    pub fn within(name: impl Into<String>) -> Axis {
        Axis {
            includes: Vec::new(),
            ..Axis::linear(name)
        }
    }

    /// A logarithmic axis for these values: if one is 0, it has its place below the others, where it is labelled.
    pub fn log_and_zero(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        Axis {
            scale: Scale::log_and_zero(values),
            ..Axis::log(name)
        }
    }

    /// An axis of shares from 0 to 1, shown in percent, all of them.
    pub fn percent(name: impl Into<String>) -> Axis {
        Axis {
            in_percent: true,
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }

    /// An axis of similarities from 0 to 1, all of them.
    pub fn similarity(name: impl Into<String>) -> Axis {
        Axis {
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }
}

impl Series {
    /// A series without bounds.
    pub fn new(name: impl Into<String>, form: Form, hue: usize, points: Vec<(f64, f64)>) -> Series {
        Series {
            name: name.into(),
            points,
            spans: Vec::new(),
            form,
            hue,
        }
    }
}
