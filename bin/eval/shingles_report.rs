//! What the kinds and lengths of shingles say.

use dedupdb::diff::MOST_WORDS;
use dedupdb::eval::{KindMeasured, PairClass, ShinglesMeasured};

use super::report::{Report, Row};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) found: ShinglesMeasured,
}

impl Measured {
    pub(super) fn report(&self, asked: &eval::Shingles, failed: bool) -> Report {
        let texts = counted(self.found.texts as u64, "text", "texts");
        let near = counted(self.found.near, "pair", "pairs");
        let heading = if self.found.texts == 2 {
            "Jaccard similarity of two texts, by kind and length of shingles".to_owned()
        } else {
            format!(
                "all pairs of {texts}; of {near} a word diff keeps {} or more",
                asked.threshold
            )
        };
        let best = self.best().map(|best| {
            let (name, k) = (best.kind.name(), best.kind.shingling().k());
            format!("shingles of {k} ({name}) leave the widest gap for a threshold")
        });
        Report {
            rows: self.found.kinds.iter().map(|line| self.row(line)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: best.into_iter().chain(self.cut_note()).collect(),
            picture: self.found.picture(),
            failed,
        }
    }

    /// Says that near-duplicates are not told by whole texts, if there are longer ones.
    fn cut_note(&self) -> Option<String> {
        let most = grouped(MOST_WORDS as u64);
        let texts = counted(self.found.cut as u64, "text has", "texts have");
        (self.found.cut > 0).then(|| {
            format!("{texts} more than {most} words: near-duplicates are told by the first {most}")
        })
    }

    /// The line with the widest gap; of equals the first.
    fn best(&self) -> Option<&KindMeasured> {
        let with_gap = self.found.kinds.iter().filter(|line| line.gap().is_some());
        with_gap.reduce(
            |best, line| {
                if line.gap() > best.gap() { line } else { best }
            },
        )
    }

    fn is_best(&self, line: &KindMeasured) -> bool {
        self.best().is_some_and(|best| std::ptr::eq(best, line))
    }

    fn row(&self, line: &KindMeasured) -> Row {
        let mean = |class: Option<PairClass>| class.map(|class| class.mean);
        let bound = |class: Option<PairClass>| class.map(|class| class.bound);
        vec![
            ("kind", line.kind.name().split(',').next().into()),
            ("k", line.kind.shingling().k().into()),
            ("folded", line.kind.folds().into()),
            ("texts", self.found.texts.into()),
            ("cut", self.found.cut.into()),
            ("near_duplicates", self.found.near.into()),
            ("jaccard", line.jaccard.into()),
            ("near_mean", mean(line.near).into()),
            ("near_bound", bound(line.near).into()),
            ("others_mean", mean(line.others).into()),
            ("others_bound", bound(line.others).into()),
            ("gap", line.gap().into()),
            ("best", self.is_best(line).into()),
            ("shingles", line.shingles.into()),
            ("seconds", line.seconds.into()),
        ]
    }

    fn table(&self) -> Table {
        let mut table = Table::named_by(2);
        let mut column = |head: &str, cell: &dyn Fn(&KindMeasured) -> String| {
            table.column(head, self.found.kinds.iter().map(cell));
        };
        column("shingles", &|line| line.kind.name());
        column("k", &|line| line.kind.shingling().k().to_string());
        if self.found.texts == 2 {
            column("Jaccard", &|line| format!("{:.4}", line.jaccard));
        } else {
            let number = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.4}"));
            column("near", &|line| number(line.near.map(|class| class.mean)));
            column("95% reach", &|line| {
                number(line.near.map(|class| class.bound))
            });
            column("others", &|line| {
                number(line.others.map(|class| class.mean))
            });
            column("99.9% up to", &|line| {
                number(line.others.map(|class| class.bound))
            });
            column("gap", &|line| number(line.gap()));
        }
        column("a text has", &|line| format!("{:.1}", line.shingles));
        column("time", &|line| seconds(line.seconds));
        column("", &|line| {
            if self.is_best(line) { "best" } else { "" }.to_owned()
        });
        table
    }
}
