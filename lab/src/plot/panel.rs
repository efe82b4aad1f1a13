//! One chart: axes, lines and points.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, KeyPointWeight};
use plotters::coord::types::RangedCoordf64;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::canvas::{Area, DrawResult, UNIT, font};
use super::style::{self, PointShape, Stroke};
use super::{Axis, Panel, Series};

/// Half the size of a point, in units.
const POINT: i32 = 18;

/// A position on the canvas, in units.
type CanvasPoint = (i32, i32);

/// Draws the panel into its part of the canvas.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Area<DB>,
    area: &Area<DB>,
    panel: &Panel,
) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let x_ticks = places(&panel.x, panel, |&(x, _)| x);
    let y_ticks = places(&panel.y, panel, |&(_, y)| y);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, font(20))
        .margin(16 * UNIT)
        .margin_right(40 * UNIT)
        .x_label_area_size(52 * UNIT)
        .y_label_area_size(84 * UNIT)
        .build_cartesian_2d(Ruler::new(x_ticks.clone()), Ruler::new(y_ticks.clone()))?;
    let label = |axis: &Axis, ticks: &[f64], place| axis.scale.label(ticks, place, axis.in_percent);
    chart
        .configure_mesh()
        .x_label_formatter(&|x| label(&panel.x, &x_ticks, *x))
        .y_label_formatter(&|y| label(&panel.y, &y_ticks, *y))
        .x_desc(&panel.x.name)
        .y_desc(&panel.y.name)
        .label_style(font(15))
        .axis_desc_style(font(17))
        .set_all_tick_mark_size(5 * UNIT)
        .axis_style(BLACK.stroke_width(UNIT))
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225).stroke_width(UNIT))
        .draw()?;
    let place = |x: f64, y: f64| {
        let (x, y) = (panel.x.scale.place(x)?, panel.y.scale.place(y)?);
        Some(chart.backend_coord(&(x, y)))
    };
    for series in &panel.series {
        draw_series(canvas, series, place)?;
    }
    Ok(())
}

/// Returns the positions of an axis's labels.
fn places(axis: &Axis, panel: &Panel, of: impl Fn(&(f64, f64)) -> f64) -> Vec<f64> {
    let points = panel.series.iter().flat_map(|series| &series.points);
    let spans = panel.series.iter().flat_map(|series| &series.spans);
    let bounds = spans.flat_map(|&(low, high)| [(f64::NAN, low), (f64::NAN, high)]);
    let values = points.copied().chain(bounds).map(|point| of(&point));
    let values = values.chain(axis.includes.iter().copied());
    axis.scale
        .ticks(values.filter_map(|value| axis.scale.place(value)))
}

/// A coordinate of evenly spaced positions, some of which have labels.
struct Ruler {
    places: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Ruler {
    /// Returns a ruler from the first label to the last.
    fn new(ticks: Vec<f64>) -> Ruler {
        let first = ticks.first().copied().unwrap_or(0.0);
        let last = ticks.last().copied().unwrap_or(1.0);
        Ruler {
            places: (first..last).into(),
            ticks,
        }
    }
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, limit: (i32, i32)) -> i32 {
        self.places.map(place, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight() {
            KeyPointWeight::Bold => self.ticks.clone(),
            KeyPointWeight::Any => Vec::new(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.places.range()
    }
}

fn draw_series<DB: DrawingBackend>(
    canvas: &Area<DB>,
    series: &Series,
    place: impl Fn(f64, f64) -> Option<CanvasPoint>,
) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let points: Vec<CanvasPoint> = series
        .points
        .iter()
        .filter_map(|&(x, y)| place(x, y))
        .collect();
    if let Some(stroke) = style::stroke(series.form, series.hue, UNIT) {
        line(canvas, points.clone(), stroke)?;
    }
    let colour = style::colour(series.hue);
    for (&(x, _), &(low, high)) in series.points.iter().zip(&series.spans) {
        if let (Some(low), Some(high)) = (place(x, low), place(x, high)) {
            span(canvas, low, high, colour)?;
        }
    }
    if style::has_points(series.form) {
        for at in points {
            point(canvas, at, style::shape(series.hue), colour)?;
        }
    }
    Ok(())
}

/// Draws a line through these positions.
pub(super) fn line<DB: DrawingBackend>(
    canvas: &Area<DB>,
    places: Vec<CanvasPoint>,
    stroke: Stroke,
) -> DrawResult
where
    DB::ErrorType: 'static,
{
    if stroke.gap == 0 {
        canvas.draw(&PathElement::new(places, stroke.style))?;
    } else {
        let Stroke { style, dash, gap } = stroke;
        canvas.draw(&DashedPathElement::new(places, dash, gap, style))?;
    }
    Ok(())
}

/// Draws the bounds of a value.
fn span<DB: DrawingBackend>(
    canvas: &Area<DB>,
    low: CanvasPoint,
    high: CanvasPoint,
    colour: RGBColor,
) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let style = colour.stroke_width(UNIT);
    let half = POINT / 2;
    let cap = |(x, y): CanvasPoint| vec![(x - half, y), (x + half, y)];
    for path in [vec![low, high], cap(low), cap(high)] {
        canvas.draw(&PathElement::new(path, style))?;
    }
    Ok(())
}

/// Draws a point.
pub(super) fn point<DB: DrawingBackend>(
    canvas: &Area<DB>,
    at: CanvasPoint,
    shape: PointShape,
    colour: RGBColor,
) -> DrawResult
where
    DB::ErrorType: 'static,
{
    let (x, y) = at;
    let half = POINT * 5 / 6;
    let filled = colour.filled();
    let stroke = colour.stroke_width(2 * UNIT);
    match shape {
        PointShape::Disc => canvas.draw(&Circle::new(at, POINT, filled))?,
        PointShape::Ring => canvas.draw(&Circle::new(at, POINT, stroke))?,
        PointShape::Square => {
            let corners = [(x - half, y - half), (x + half, y + half)];
            canvas.draw(&Rectangle::new(corners, filled))?;
        }
        PointShape::Triangle => {
            let corners = [(x - POINT, y + half), (x, y - POINT), (x + POINT, y + half)];
            canvas.draw(&Polygon::new(corners, filled))?;
        }
        PointShape::Diamond => {
            let corners = [
                (x - POINT, y),
                (x, y - POINT),
                (x + POINT, y),
                (x, y + POINT),
            ];
            canvas.draw(&Polygon::new(corners, filled))?;
        }
        PointShape::Cross => canvas.draw(&Cross::new(at, half, stroke))?,
    }
    Ok(())
}
