//! Pictures, whatever they show.

use dedupdb::Error;
use dedupdb_lab::plot::{Axis, Panel, Picture, Series, SeriesStyle};

fn panel(series: Vec<Series>) -> Panel {
    Panel::new("title", Axis::linear("x"), Axis::log("y"), series)
}

fn line(name: &str, points: Vec<(f64, f64)>) -> Series {
    Series::new(name, SeriesStyle::Line, 0, points)
}

#[test]
fn any_values_are_drawn_or_left_out() {
    let odd = [
        0.0,
        -0.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1e17,
        1e17 + 16.0,
    ];
    for x in odd {
        for y in odd {
            let mut series = line("odd", vec![(x, y), (y, x), (1.0, y)]);
            series.form = SeriesStyle::JoinedPoints;
            series.spans = vec![(y, x), (f64::NAN, 1.0)];
            let mut panel = panel(vec![series]);
            let svg = Picture::new(vec![panel.clone()]).to_svg().unwrap();
            assert!(!svg.contains("NaN") && svg.len() < 1 << 20, "{x} {y}");
            panel.y.includes = vec![x, y];
            panel.x = Axis::percent("x");
            assert!(Picture::new(vec![panel]).to_svg().is_ok(), "{x} {y}");
        }
    }
}

#[test]
fn zeros_have_a_place_and_captions_stand_below() {
    let drawn = |values: &[f64]| {
        let points = (1_u32..).map(f64::from).zip(values.iter().copied());
        let mut series = line("", points.collect());
        series.form = SeriesStyle::Points;
        let y = Axis::log_and_zero("y", values.iter().copied());
        Picture::new(vec![Panel::new("", Axis::within("x"), y, vec![series])])
    };
    let points = |picture: &Picture| picture.to_svg().unwrap().matches("<circle").count();
    assert_eq!(points(&drawn(&[10.0, 0.0, 0.02, 0.0])), 4);
    assert_eq!(points(&drawn(&[0.0, 0.0])), 2);
    assert_eq!(points(&drawn(&[1.0, -1.0, 0.0])), 2, "less than 0 has none");
    let labelled = |picture: &Picture, label: &str| {
        let svg = picture.to_svg().unwrap();
        svg.lines().any(|line| line.trim() == label)
    };
    assert!(labelled(&drawn(&[10.0, 0.0, 0.02]), "0"));
    assert!(labelled(&drawn(&[10.0, 0.0, 0.02]), "0.01"));
    assert!(!labelled(&drawn(&[10.0, 0.02]), "0"));
    let mut picture = drawn(&[1.0]);
    let height = picture.to_svg().unwrap();
    picture.caption = vec!["crawl <2026>; dedupdb".to_owned(), "seeds ".repeat(60)];
    let svg = picture.to_svg().unwrap();
    assert!(labelled(&picture, "crawl &lt;2026&gt;; dedupdb"));
    assert_ne!(svg.lines().next(), height.lines().next(), "it is higher");
    assert!(picture.to_png().is_ok());
    picture.caption = vec!["x".repeat(1 << 20)];
    assert!(picture.to_svg().unwrap().len() < 1 << 16);
}

#[test]
fn files_are_what_they_are_called() {
    let svg = Picture::default().to_svg().unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    let mut panel = panel(vec![line("a < b & \"c\"", vec![(1.0, 2.0), (3.0, 4.0)])]);
    panel.title = "<script>".to_owned();
    let picture = Picture::new(vec![panel]);
    let svg = picture.to_svg().unwrap();
    assert!(!svg.contains("<script>") && svg.contains("a &lt; b &amp; "));
    assert_eq!(svg, picture.to_svg().unwrap());
    assert!(picture.to_png().unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn too_much_is_refused() {
    let refused = |picture: Picture| {
        for error in [picture.to_svg().unwrap_err(), picture.to_png().unwrap_err()] {
            assert!(matches!(error, Error::InvalidQuery { .. }), "{error}");
        }
    };
    refused(Picture::new(vec![panel(Vec::new()); 9]));
    refused(Picture::new(vec![panel(vec![line("x", Vec::new()); 65])]));
    let nameless = vec![line("", vec![(1.0, 1.0)]); 65];
    assert!(Picture::new(vec![panel(nameless)]).to_svg().is_ok());
}
