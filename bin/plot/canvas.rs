//! From a picture to a file.

use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::{Picture, legend, panel, png};
use crate::whole;

/// Units of a pixel: coordinates are whole numbers, and curves of whole pixels would look jagged.
pub(super) const UNIT: u32 = 4;

/// Pixels that are averaged in each direction of a PNG, whose lines have no soft edges otherwise.
/// That leaves two of its pixels for each of the picture's.
const SHRUNK: u32 = 2;

/// Width of a picture's only panel, and of each if there are several, in pixels.
const WIDTHS: (u32, u32) = (880, 660);

/// Height of a panel above its legend, in pixels.
pub(super) const CHART: u32 = 520;

/// Pixels below a legend.
const FOOT: u32 = 16;

pub(super) type Drawn = std::result::Result<(), Box<dyn Error>>;

pub(super) type Area<DB> = DrawingArea<DB, Shift>;

/// Checks that a file has the name of a picture.
pub(crate) fn check_name(path: &Path) -> Result<()> {
    if !is(path, "svg") && !is(path, "png") {
        bail!(
            "{}: a picture is an SVG or PNG file; give it a name that ends in .svg or .png",
            path.display()
        );
    }
    Ok(())
}

/// Draws the picture into a file, in the format that its name says.
pub(crate) fn write(picture: &Picture, path: &Path) -> Result<()> {
    let bytes = if is(path, "png") {
        to_png(picture)?
    } else {
        to_svg(picture)?.into_bytes()
    };
    whole::write(path, &bytes)
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension() == Some(OsStr::new(extension))
}

fn to_svg(picture: &Picture) -> Result<String> {
    let shown = size(picture);
    let drawn = (shown.0 * UNIT, shown.1 * UNIT);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, drawn).into_drawing_area();
    draw(&area, picture).map_err(|reason| anyhow!("cannot draw: {reason}"))?;
    drop(area);
    // Its viewer makes so many pixels of the units.
    let attributes = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&attributes(drawn), &attributes(shown), 1))
}

fn to_png(picture: &Picture) -> Result<Vec<u8>> {
    let (width, height) = size(picture);
    let (width, height) = (width * UNIT, height * UNIT);
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    draw(&area, picture).map_err(|reason| anyhow!("cannot draw: {reason}"))?;
    drop(area);
    png::encode(&pixels, (width, height), SHRUNK)
}

/// The picture's size in pixels.
fn size(picture: &Picture) -> (u32, u32) {
    let (panels, width) = match picture.panels.len() {
        0 | 1 => (1, WIDTHS.0),
        panels => (u32::try_from(panels).unwrap_or(1), WIDTHS.1),
    };
    let legends = picture.panels.iter().map(legend::height);
    (panels * width, CHART + legends.max().unwrap_or(0) + FOOT)
}

fn draw<DB: DrawingBackend>(area: &Area<DB>, picture: &Picture) -> Drawn
where
    DB::ErrorType: 'static,
{
    // In a PNG letters are drawn with it, and in both their sizes are known by it.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| "the font of this program is broken")?;
    area.fill(&WHITE)?;
    let columns = area.split_evenly((1, picture.panels.len().max(1)));
    for (column, shown) in columns.iter().zip(&picture.panels) {
        let (chart, key) = column.split_vertically(CHART * UNIT);
        panel::draw(area, &chart, shown)?;
        legend::draw(&key, shown)?;
    }
    Ok(area.present()?)
}

/// A font of so many pixels.
pub(super) fn font(pixels: u32) -> (&'static str, u32) {
    ("sans-serif", pixels * UNIT)
}
