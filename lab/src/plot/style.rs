//! Colours, dashes and shapes, each of which suffices to distinguish series.

use plotters::style::{BLACK, Color, RGBAColor, RGBColor, ShapeStyle};

use super::SeriesStyle;

/// The palette of Okabe and Ito without its yellow, which is too light for lines on white. Its colours differ for every
/// kind of colour vision.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// The lengths of dashes and gaps, in pixels.
const DASHES: [(u32, u32); 6] = [(1, 0), (10, 5), (3, 4), (16, 4), (6, 3), (2, 7)];

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointShape {
    Disc,
    Square,
    Triangle,
    Cross,
    Ring,
    Diamond,
}

const SHAPES: [PointShape; 6] = [
    PointShape::Disc,
    PointShape::Square,
    PointShape::Triangle,
    PointShape::Cross,
    PointShape::Ring,
    PointShape::Diamond,
];

/// How a line is drawn, in units of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub(super) style: ShapeStyle,
    pub(super) dash: u32,
    /// The gap between dashes, or 0 for a solid line.
    pub(super) gap: u32,
}

/// Returns the colour of a hue. Colours repeat after six.
pub(super) fn colour(hue: usize) -> RGBColor {
    COLOURS[hue % COLOURS.len()]
}

/// Returns the shape of a hue's points.
pub(super) fn shape(hue: usize) -> PointShape {
    SHAPES[hue % SHAPES.len()]
}

/// Returns the line of a form and hue, if the form has one.
pub(super) fn stroke(form: SeriesStyle, hue: usize, unit: u32) -> Option<Stroke> {
    let (dash, gap) = DASHES[hue % DASHES.len()];
    let (colour, width, dash, gap): (RGBAColor, _, _, _) = match form {
        SeriesStyle::Line => (colour(hue).to_rgba(), 2, dash, gap),
        SeriesStyle::BoldLine => (colour(hue).to_rgba(), 3, dash, gap),
        SeriesStyle::JoinedPoints => (colour(hue).to_rgba(), 1, dash, gap),
        SeriesStyle::Reference => (BLACK.mix(0.6), 1, 1, 0),
        SeriesStyle::Points => return None,
    };
    Some(Stroke {
        style: colour.stroke_width(width * unit),
        dash: dash * unit,
        gap: gap * unit,
    })
}

/// Whether a form has points.
pub(super) fn has_points(form: SeriesStyle) -> bool {
    matches!(form, SeriesStyle::Points | SeriesStyle::JoinedPoints)
}
