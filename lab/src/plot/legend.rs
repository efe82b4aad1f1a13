//! The legend of a panel, below its chart, where no line passes through it.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Area, DrawResult, UNIT, font};
use super::panel::{line, point};
use super::{Panel, style};

/// The number of entries beside each other.
const COLUMNS: u32 = 2;

/// The height of a row of entries, in pixels.
const ROW: u32 = 28;

/// The length of the line that represents a series, in pixels.
const SAMPLE: u32 = 44;

/// The number of pixels to the left.
const MARGIN: u32 = 32;

/// The number of characters that fit into half a panel.
const SHORT: usize = 40;

/// Returns the height of a panel's legend, in pixels.
pub(super) fn height(panel: &Panel) -> u32 {
    let entries = u32::try_from(named(panel).count()).unwrap_or(u32::MAX / ROW);
    entries.div_ceil(columns(panel)) * ROW
}

/// Returns the number of entries in a panel's legend.
pub(super) fn names(panel: &Panel) -> usize {
    named(panel).count()
}

/// Returns the number of columns: one if a name is too long for two.
fn columns(panel: &Panel) -> u32 {
    let is_long = named(panel).any(|series| series.name.chars().count() > SHORT);
    if is_long { 1 } else { COLUMNS }
}

fn named(panel: &Panel) -> impl Iterator<Item = &super::Series> {
    panel.series.iter().filter(|series| !series.name.is_empty())
}

/// Draws the legend.
pub(super) fn draw<DB: DrawingBackend>(area: &Area<DB>, panel: &Panel) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let text = TextStyle::from(font(15)).pos(Pos::new(HPos::Left, VPos::Center));
    let columns = columns(panel);
    let (width, _) = area.dim_in_pixel();
    let entry = width.saturating_sub(MARGIN * UNIT) / columns;
    for (place, series) in (0_u32..).zip(named(panel)) {
        let (column, row) = (place % columns, place / columns);
        let x = i32::try_from(MARGIN * UNIT + column * entry)?;
        let y = i32::try_from((row * ROW + ROW / 2) * UNIT)?;
        let end = i32::try_from(SAMPLE * UNIT)?;
        if let Some(stroke) = style::stroke(series.form, series.hue, UNIT) {
            line(area, vec![(x, y), (x + end, y)], stroke)?;
        }
        if style::has_points(series.form) {
            let (shape, colour) = (style::shape(series.hue), style::colour(series.hue));
            point(area, (x + end / 2, y), shape, colour)?;
        }
        area.draw(&Text::new(
            series.name.as_str(),
            (x + end + end / 4, y),
            text.clone(),
        ))?;
    }
    Ok(())
}
