//! Draws a picture into the bytes of a file.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::{Picture, caption, legend, panel, png};
use dedupdb::{Error, Result};

/// The number of units in a pixel. Coordinates are integers, and curves in whole pixels would look jagged.
pub(super) const UNIT: u32 = 4;

/// The number of pixels to average in each direction of a PNG, because its lines have no soft edges otherwise. This
/// leaves two pixels for each pixel of the picture.
const SHRUNK: u32 = 2;

/// The width of a picture's only panel, and of each panel if there are several, in pixels.
const WIDTHS: (u32, u32) = (880, 660);

/// The height of a panel above its legend, in pixels.
pub(super) const CHART: u32 = 520;

/// The number of pixels below a legend.
const FOOT: u32 = 16;

/// The maximum numbers of panels in a picture and of named series in a panel, so that the pixels fit into memory.
const MOST_PANELS: usize = 8;
const MOST_NAMES: usize = 64;

pub(super) type DrawResult = std::result::Result<(), Box<dyn std::error::Error>>;

pub(super) type Area<DB> = DrawingArea<DB, Shift>;

impl Picture {
    /// Draws the picture as an SVG file.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQuery`] if there are more than 8 panels, or more than 64 named series in a panel, or the
    /// picture could not be drawn.
    pub fn to_svg(&self) -> Result<String> {
        check(self)?;
        let shown = size(self);
        let drawn = (shown.0 * UNIT, shown.1 * UNIT);
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, drawn).into_drawing_area();
        draw(&area, self).map_err(|reason| invalid(reason.to_string()))?;
        drop(area);
        // The viewer scales the units to this number of pixels.
        let attributes = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
        Ok(svg.replacen(&attributes(drawn), &attributes(shown), 1))
    }

    /// Draws the picture as a PNG file, with two pixels for each of the SVG file's.
    ///
    /// # Errors
    ///
    /// Those of [`Picture::to_svg`].
    pub fn to_png(&self) -> Result<Vec<u8>> {
        check(self)?;
        let (width, height) = size(self);
        let (width, height) = (width * UNIT, height * UNIT);
        let mut pixels = vec![0; 3 * width as usize * height as usize];
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        draw(&area, self).map_err(|reason| invalid(reason.to_string()))?;
        drop(area);
        png::encode(&pixels, (width, height), SHRUNK).map_err(|error| invalid(error.to_string()))
    }
}

fn invalid(reason: String) -> Error {
    Error::InvalidQuery {
        parameter: "picture",
        reason,
    }
}

/// Refuses a picture that is too large.
fn check(picture: &Picture) -> Result<()> {
    let panels = picture.panels.len();
    if panels > MOST_PANELS {
        return Err(invalid(format!("{panels} panels, and {MOST_PANELS} fit")));
    }
    let names = picture.panels.iter().map(legend::names).max();
    match names.filter(|&names| names > MOST_NAMES) {
        Some(names) => Err(invalid(format!(
            "{names} named series on a panel, and {MOST_NAMES} fit"
        ))),
        None => Ok(()),
    }
}

/// Returns the picture's size in pixels.
fn size(picture: &Picture) -> (u32, u32) {
    let (panels, width) = match picture.panels.len() {
        0 | 1 => (1, WIDTHS.0),
        panels => (u32::try_from(panels).unwrap_or(1), WIDTHS.1),
    };
    let legends = picture.panels.iter().map(legend::height);
    let height = CHART + legends.max().unwrap_or(0) + FOOT;
    (
        panels * width,
        height + caption::height(picture, panels * width),
    )
}

fn draw<DB: DrawingBackend>(area: &Area<DB>, picture: &Picture) -> DrawResult
where
    DB::ErrorType: 'static,
{
    // In a PNG, letters are drawn with this font. In both formats, their sizes are determined by it.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| "the font of this program is broken")?;
    area.fill(&WHITE)?;
    let (width, height) = area.dim_in_pixel();
    let foot = caption::height(picture, width / UNIT) * UNIT;
    let (charts, below) = area.split_vertically(height - foot);
    caption::draw(&below, picture, width / UNIT)?;
    let columns = charts.split_evenly((1, picture.panels.len().max(1)));
    for (column, shown) in columns.iter().zip(&picture.panels) {
        let (chart, key) = column.split_vertically(CHART * UNIT);
        panel::draw(area, &chart, shown)?;
        legend::draw(&key, shown)?;
    }
    Ok(area.present()?)
}

/// Returns a font of this size in pixels.
pub(super) fn font(pixels: u32) -> (&'static str, u32) {
    ("sans-serif", pixels * UNIT)
}
