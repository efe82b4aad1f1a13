//! The similarities by kinds and lengths of shingles, as a picture.

use crate::eval::{KindMeasured, ShingleKind, ShinglesMeasured};
use crate::plot::{Axis, Panel, Picture, Series, SeriesStyle};
use dedupdb::sketching::Shingling;

impl ShinglesMeasured {
    /// Draws the similarities of near-duplicates and of other pairs by the length of shingles, one series per kind, and
    /// the gap between the two. For two texts, draws their similarity.
    ///
    /// Kinds are drawn in the given order. Kinds that could fold but do not are drawn thinner than those that fold.
    pub fn picture(&self) -> Picture {
        let panel = |title: &str, y: Axis, series: Vec<Series>| {
            let x = Axis::within("length of a shingle, k (words, characters or bytes)");
            Panel::new(title, x, y, series)
        };
        let similarity = || Axis::similarity("Jaccard similarity");
        if self.texts == 2 {
            let all = self.series(|kind| Some(kind.jaccard));
            return Picture::new(vec![panel("Similarity of two texts", similarity(), all)]);
        }
        let drawn = |kind: &KindMeasured| is_main(kind.kind);
        let near = self.series(|kind| kind.near.filter(|_| drawn(kind)).map(|class| class.mean));
        let others =
            self.series(|kind| kind.others.filter(|_| drawn(kind)).map(|class| class.mean));
        let mut panels = Vec::new();
        if !near.is_empty() {
            // They are all close to 1, so they have their own axis.
            let y = Axis::within("Jaccard similarity");
            panels.push(panel("Mean similarity of near-duplicates", y, near));
        }
        panels.push(panel(
            "Mean similarity of other pairs",
            similarity(),
            others,
        ));
        let gaps = self.series(KindMeasured::gap);
        if !gaps.is_empty() {
            let gap = Axis::linear("Jaccard similarity");
            panels.push(panel("Gap between near-duplicates and others", gap, gaps));
        }
        Picture::new(panels)
    }

    /// Returns a line for each kind, with its points by length.
    fn series(&self, of: impl Fn(&KindMeasured) -> Option<f64>) -> Vec<Series> {
        let mut names: Vec<(String, ShingleKind)> = Vec::new();
        for measured in &self.kinds {
            let name = measured.kind.name();
            if names.iter().all(|(known, _)| *known != name) {
                names.push((name, measured.kind));
            }
        }
        let series = names.iter().filter_map(|(name, kind)| {
            let own = self.kinds.iter().filter(|other| other.kind.name() == *name);
            let points =
                own.filter_map(|other| Some((f64::from(other.kind.shingling().k()), of(other)?)));
            let points: Vec<(f64, f64)> = points.collect();
            let form = if is_main(*kind) {
                SeriesStyle::JoinedPoints
            } else {
                SeriesStyle::Line
            };
            (!points.is_empty()).then(|| Series::new(name, form, hue(*kind), points))
        });
        series.collect()
    }
}

/// Whether a kind folds everything it can.
fn is_main(kind: ShingleKind) -> bool {
    kind.folds() || !kind.shingling().folds()
}

/// Returns the colour of a kind of token.
fn hue(kind: ShingleKind) -> usize {
    match kind.shingling() {
        Shingling::Word(_) => 0,
        Shingling::Char(_) => 1,
        Shingling::CharNoSpace(_) => 2,
        Shingling::Byte(_) => 3,
        Shingling::Term => 4,
        Shingling::Ids => 5,
        _ => 6,
    }
}
