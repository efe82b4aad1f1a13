//! Pictures of figures as SVG or PNG: panels beside each other, each with axes, units and a legend.
//!
//! A picture looks the same on every machine: it brings its own font. Colour, dashes and the shape of points each
//! suffice to distinguish series.
//!
//! ```
//! use dedupdb_lab::plot::{Axis, SeriesStyle, Panel, Picture, Series};
//! use dedupdb::sketching::{Bands, SlotWidth};
//!
//! let shape = Bands::new(17, 7, 128)?;
//! let curve = (0..=100).map(|percent| {
//!     let jaccard = f64::from(percent) / 100.0;
//!     (jaccard, shape.probability(jaccard, SlotWidth::Bits16))
//! });
//! let mut measured = Series::new("measured", SeriesStyle::Points, 1, vec![(0.7, 0.71), (0.8, 0.98)]);
//! measured.spans = vec![(0.65, 0.77), (0.95, 1.0)];
//! let panel = Panel::new(
//!     "Pairs found",
//!     Axis::similarity("Jaccard similarity of a pair"),
//!     Axis::percent("pairs found"),
//!     vec![
//!         Series::new("predicted", SeriesStyle::Line, 0, curve.collect()),
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

/// A picture of at most 8 panels beside each other.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Picture {
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
    /// The caption below the panels, which says what the figures describe. Long lines are wrapped.
    pub caption: Vec<String>,
}

/// A chart with its title and legend.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Panel {
    /// The title above the chart.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, drawn in this order, the last one on top. At most 64 have a name.
    pub series: Vec<Series>,
}

/// The quantity along an axis.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Axis {
    /// The quantity and its unit.
    pub name: String,
    /// How values are mapped to positions.
    pub scale: Scale,
    /// Whether values from 0 to 1 are shown as percentages.
    pub in_percent: bool,
    /// Values that the axis always includes.
    pub includes: Vec<f64>,
}

/// A series of values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Series {
    /// The name in the legend. A series with an empty name has no entry.
    pub name: String,
    /// The points, ascending by x. Values without a position on an axis are left out: those that are not finite, and
    /// those of 0 or less on a logarithmic axis.
    pub points: Vec<(f64, f64)>,
    /// The lower and upper bound of each point's y, or empty.
    pub spans: Vec<(f64, f64)>,
    /// How it is drawn.
    pub form: SeriesStyle,
    /// Series with the same number share their colour, their dashes and the shape of their points. There are six.
    pub hue: usize,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeriesStyle {
    /// A line, for predictions.
    Line,
    /// A thicker line, which stands out.
    BoldLine,
    /// Points, for measurements.
    Points,
    /// Points with a thin line from one to the next.
    JoinedPoints,
    /// A thin grey line, for a reference.
    Reference,
}

impl Picture {
    /// Returns a picture of these panels, from left to right.
    pub fn new(panels: Vec<Panel>) -> Picture {
        Picture {
            panels,
            caption: Vec::new(),
        }
    }
}

impl Panel {
    /// Returns a chart of these series.
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
    /// Returns an axis of evenly spaced values from 0 on. `name` is the quantity and its unit.
    pub fn linear(name: impl Into<String>) -> Axis {
        Axis {
            name: name.into(),
            scale: Scale::Linear,
            in_percent: false,
            includes: vec![0.0],
        }
    }

    /// Returns an axis on which equal distances are equal ratios.
    pub fn log(name: impl Into<String>) -> Axis {
        Axis {
            scale: Scale::Log,
            includes: Vec::new(),
            ..Axis::linear(name)
        }
    }

    /// Returns an axis of evenly spaced values, from the least to the greatest value drawn.
    pub fn within(name: impl Into<String>) -> Axis {
        Axis {
            includes: Vec::new(),
            ..Axis::linear(name)
        }
    }

    /// Returns a logarithmic axis for these values. A value of 0 has a labelled position below the others.
    pub fn log_and_zero(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        Axis {
            scale: Scale::log_and_zero(values),
            ..Axis::log(name)
        }
    }

    /// Returns an axis of shares from 0 to 1, shown as percentages. It includes the whole range.
    pub fn percent(name: impl Into<String>) -> Axis {
        Axis {
            in_percent: true,
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }

    /// Returns an axis of similarities from 0 to 1. It includes the whole range.
    pub fn similarity(name: impl Into<String>) -> Axis {
        Axis {
            includes: vec![0.0, 1.0],
            ..Axis::linear(name)
        }
    }
}

impl Series {
    /// Returns a series without bounds.
    pub fn new(
        name: impl Into<String>,
        form: SeriesStyle,
        hue: usize,
        points: Vec<(f64, f64)>,
    ) -> Series {
        Series {
            name: name.into(),
            points,
            spans: Vec::new(),
            form,
            hue,
        }
    }
}
