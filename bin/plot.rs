//! S-curves as a picture.

use std::error::Error;

use anyhow::{Result, anyhow};
use dedupdb::{Bands, Tuning};
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::number::{counted, percent};

/// The picture's own units, of which its viewer makes [`SHOWN`] pixels: coordinates are whole
/// numbers, and curves of whole pixels would look jagged.
const SIZE: (u32, u32) = (3520, 2560);
const SHOWN: (u32, u32) = (880, 640);

/// Units of a pixel.
const UNIT: u32 = SIZE.0 / SHOWN.0;

/// Height of the chart above the legend, in pixels.
const CHART: u32 = 520;

/// Entries of the legend beside each other, and the pixels that each takes.
const COLUMNS: u32 = 2;
const ENTRY: (u32, u32) = (420, 28);

/// Points of a curve.
const POINTS: u32 = 250;

/// Okabe and Ito's palette without its yellow, which is too light for lines on white: told apart
/// with every kind of colour vision.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Pixels of dashes and gaps, so that the curves differ without colours too.
const DASHES: [(u32, u32); 6] = [(1, 0), (10, 5), (3, 4), (16, 4), (6, 3), (2, 7)];

/// The curve of a shape.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) bands: Bands,
    /// What the shape is, such as `best`; may be empty.
    pub(crate) names: String,
}

/// Draws at most six curves as an SVG document.
pub(crate) fn s_curves(tuning: &Tuning, curves: &[Curve]) -> Result<String> {
    let mut svg = String::new();
    draw(&mut svg, tuning, curves).map_err(|reason| anyhow!("cannot draw: {reason}"))?;
    let size = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(svg.replacen(&size(SIZE), &size(SHOWN), 1))
}

type Drawn = Result<(), Box<dyn Error>>;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(svg: &mut String, tuning: &Tuning, curves: &[Curve]) -> Drawn {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (chart, legend) = area.split_vertically(CHART * UNIT);
    let styles = COLOURS.into_iter().zip(DASHES);
    let lines: Vec<Line> = curves
        .iter()
        .zip(styles)
        .map(|(curve, (colour, (dash, gap)))| Line {
            curve,
            // What has a name stands out.
            style: colour.stroke_width(UNIT * if curve.names.is_empty() { 2 } else { 3 }),
            dash: dash * UNIT,
            gap: gap * UNIT,
        })
        .collect();
    draw_chart(&chart, tuning, &lines)?;
    draw_legend(&legend, tuning, &lines)?;
    Ok(area.present()?)
}

/// A curve and how it is drawn.
struct Line<'a> {
    curve: &'a Curve,
    style: ShapeStyle,
    dash: u32,
    gap: u32,
}

fn font(pixels: u32) -> (&'static str, u32) {
    ("sans-serif", pixels * UNIT)
}

fn draw_chart(area: &Area<'_>, tuning: &Tuning, lines: &[Line<'_>]) -> Drawn {
    let title = format!(
        "Pairs found by bands of up to {} permutations",
        tuning.permutations
    );
    let mut chart = ChartBuilder::on(area)
        .caption(title, font(22))
        .margin(16 * UNIT)
        .top_x_label_area_size(10 * UNIT)
        .x_label_area_size(52 * UNIT)
        .y_label_area_size(72 * UNIT)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_labels(11)
        .y_labels(11)
        .x_label_formatter(&|x| format!("{x:.1}"))
        .y_label_formatter(&|y| format!("{:.0}%", y * 100.0))
        .x_desc("Jaccard similarity of a pair")
        .y_desc("probability that the pair is found")
        .label_style(font(15))
        .axis_desc_style(font(17))
        .set_all_tick_mark_size(5 * UNIT)
        .axis_style(BLACK.stroke_width(UNIT))
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225).stroke_width(UNIT))
        .draw()?;
    let aims = [
        [(tuning.threshold, 0.0), (tuning.threshold, 1.0)],
        [(0.0, tuning.recall), (1.0, tuning.recall)],
    ];
    for aim in aims {
        chart.draw_series(LineSeries::new(aim, aim_style()))?;
    }
    for line in lines {
        let points = (0..=POINTS).map(|point| {
            let jaccard = f64::from(point) / f64::from(POINTS);
            let bands = line.curve.bands;
            (jaccard, bands.probability(jaccard, tuning.slot_width))
        });
        if line.gap == 0 {
            chart.draw_series(LineSeries::new(points, line.style))?;
        } else {
            let dashes = DashedLineSeries::new(points, line.dash, line.gap, line.style);
            chart.draw_series(dashes)?;
        }
    }
    Ok(())
}

/// What the lines are, below the chart, where no curve passes.
fn draw_legend(area: &Area<'_>, tuning: &Tuning, lines: &[Line<'_>]) -> Drawn {
    let text = TextStyle::from(font(15)).pos(Pos::new(HPos::Left, VPos::Center));
    let area = area.margin(0, 0, 32 * UNIT, 0);
    let aims = format!(
        "threshold {}, and {} found",
        tuning.threshold,
        percent(tuning.recall)
    );
    let curves = lines.iter().map(|line| {
        let name = label(tuning, line.curve);
        (name, line.style, line.dash, line.gap)
    });
    let entries = curves.chain([(aims, aim_style(), 1, 0)]);
    for (place, (name, style, dash, gap)) in (0_u32..).zip(entries) {
        let (column, row) = (place % COLUMNS, place / COLUMNS);
        let x = i32::try_from(column * ENTRY.0 * UNIT)?;
        let y = i32::try_from((row * ENTRY.1 + ENTRY.1 / 2) * UNIT)?;
        let end = i32::try_from(44 * UNIT)?;
        let stroke = [(x, y), (x + end, y)];
        if gap == 0 {
            area.draw(&PathElement::new(stroke, style))?;
        } else {
            area.draw(&DashedPathElement::new(stroke, dash, gap, style))?;
        }
        area.draw(&Text::new(name, (x + end + end / 4, y), text.clone()))?;
    }
    Ok(())
}

/// How the threshold and the recall are drawn.
fn aim_style() -> ShapeStyle {
    BLACK.mix(0.6).stroke_width(UNIT)
}

/// What the legend says of a curve.
fn label(tuning: &Tuning, curve: &Curve) -> String {
    let found = curve.bands.probability(tuning.threshold, tuning.slot_width);
    let names = if curve.names.is_empty() {
        String::new()
    } else {
        format!(" ({})", curve.names)
    };
    format!(
        "{} of {}{names}: {} at {}",
        counted(curve.bands.bands().into(), "band", "bands"),
        counted(curve.bands.rows().into(), "row", "rows"),
        percent(found),
        tuning.threshold
    )
}
