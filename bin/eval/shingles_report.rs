//! What the kinds and lengths of shingles say.

use dedupdb::diff::MOST_WORDS;
use dedupdb::eval::PairClass;
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

use super::report::{Report, Row};
use super::shingles::{KINDS, Line};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) texts: usize,
    /// Those that a diff does not compare to their end.
    pub(super) cut: usize,
    /// Pairs that are near-duplicates.
    pub(super) near: u64,
    /// All lengths of a kind together, ascending.
    pub(super) lines: Vec<Line>,
}

impl Measured {
    pub(super) fn report(&self, asked: &eval::Shingles, failed: bool) -> Report {
        let texts = counted(self.texts as u64, "text", "texts");
        let near = counted(self.near, "pair", "pairs");
        let heading = if self.texts == 2 {
            "Jaccard similarity of two texts, by kind and length of shingles".to_owned()
        } else {
            format!(
                "all pairs of {texts}; of {near} a word diff keeps {} or more",
                asked.threshold
            )
        };
        let best = self.best().map(|best| {
            let (name, k) = (best.kind.name, best.k);
            format!("shingles of {k} ({name}) leave the widest gap for a threshold")
        });
        Report {
            rows: self.lines.iter().map(|line| self.row(line)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: best.into_iter().chain(self.cut_note()).collect(),
            picture: self.picture(),
            failed,
        }
    }

    /// Says that near-duplicates are not told by whole texts, if there are longer ones.
    fn cut_note(&self) -> Option<String> {
        let most = grouped(MOST_WORDS as u64);
        let texts = counted(self.cut as u64, "text has", "texts have");
        (self.cut > 0).then(|| {
            format!("{texts} more than {most} words: near-duplicates are told by the first {most}")
        })
    }

    /// The line with the widest gap; of equals the first.
    fn best(&self) -> Option<&Line> {
        let with_gap = self.lines.iter().filter(|line| line.found.gap().is_some());
        with_gap.reduce(|best, line| {
            if line.found.gap() > best.found.gap() {
                line
            } else {
                best
            }
        })
    }

    fn is_best(&self, line: &Line) -> bool {
        self.best().is_some_and(|best| std::ptr::eq(best, line))
    }

    fn row(&self, line: &Line) -> Row {
        let mean = |class: Option<PairClass>| class.map(|class| class.mean);
        let bound = |class: Option<PairClass>| class.map(|class| class.bound);
        vec![
            ("kind", line.kind.name.split(',').next().into()),
            ("k", line.k.into()),
            ("folded", line.kind.folds.into()),
            ("texts", self.texts.into()),
            ("cut", self.cut.into()),
            ("near_duplicates", self.near.into()),
            ("jaccard", line.found.jaccard.into()),
            ("near_mean", mean(line.found.near).into()),
            ("near_bound", bound(line.found.near).into()),
            ("others_mean", mean(line.found.others).into()),
            ("others_bound", bound(line.found.others).into()),
            ("gap", line.found.gap().into()),
            ("best", self.is_best(line).into()),
            ("shingles", line.found.shingles.into()),
            ("seconds", line.found.seconds.into()),
        ]
    }

    fn table(&self) -> Table {
        let mut table = Table::named_by(2);
        let mut column = |head: &str, cell: &dyn Fn(&Line) -> String| {
            table.column(head, self.lines.iter().map(cell));
        };
        column("shingles", &|line| line.kind.name.to_owned());
        column("k", &|line| line.k.to_string());
        if self.texts == 2 {
            column("Jaccard", &|line| format!("{:.4}", line.found.jaccard));
        } else {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
            column("near", &|line| {
                number(line.found.near.map(|class| class.mean))
            });
            column("95% reach", &|line| {
                number(line.found.near.map(|class| class.bound))
            });
            column("others", &|line| {
                number(line.found.others.map(|class| class.mean))
            });
            column("99.9% up to", &|line| {
                number(line.found.others.map(|class| class.bound))
            });
            column("gap", &|line| number(line.found.gap()));
        }
        column("a text has", &|line| format!("{:.1}", line.found.shingles));
        column("time", &|line| seconds(line.found.seconds));
        column("", &|line| {
            if self.is_best(line) { "best" } else { "" }.to_owned()
        });
        table
    }

    /// A line for each kind, those that fold nothing thinner.
    fn series(&self, of: impl Fn(&Line) -> Option<f64>) -> Vec<Series> {
        let kinds = KINDS.iter().filter_map(|kind| {
            let lines = self.lines.iter().filter(|line| line.kind.name == kind.name);
            let points = lines.filter_map(|line| Some((f64::from(line.k), of(line)?)));
            let own = kind.name.split(',').next();
            let hue = KINDS.iter().position(|other| Some(other.name) == own)?;
            let form = if hue == 3 || kind.folds {
                Form::JoinedPoints
            } else {
                Form::Line
            };
            let points: Vec<(f64, f64)> = points.collect();
            (!points.is_empty()).then(|| Series::new(kind.name, form, hue, points))
        });
        kinds.collect()
    }

    fn picture(&self) -> Picture {
        let panel = |title: &str, y: Axis, series: Vec<Series>| {
            let x = Axis::linear("length of a shingle, k (words, characters or bytes)");
            Panel::new(title, x, y, series)
        };
        let similarity = || Axis::similarity("Jaccard similarity");
        if self.texts == 2 {
            let all = self.series(|line| Some(line.found.jaccard));
            return Picture::new(vec![panel("Similarity of two texts", similarity(), all)]);
        }
        let mut means = Vec::new();
        let folded = |line: &Line| line.kind.folds || line.kind.name == "byte";
        let near = self.series(|line| {
            line.found
                .near
                .filter(|_| folded(line))
                .map(|class| class.mean)
        });
        means.extend(near.into_iter().map(|mut series| {
            series.name = format!("near-duplicates, {}", series.name);
            series
        }));
        let others = self.series(|line| line.found.others.filter(|_| folded(line)).map(|c| c.mean));
        means.extend(others.into_iter().map(|mut series| {
            series.name = format!("other pairs, {}", series.name);
            series.form = Form::Line;
            series
        }));
        let mut panels = vec![panel("Mean similarity", similarity(), means)];
        let gaps = self.series(|line| line.found.gap());
        if !gaps.is_empty() {
            let gap = Axis::linear("Jaccard similarity");
            panels.push(panel("Gap between near-duplicates and others", gap, gaps));
        }
        Picture::new(panels)
    }
}
