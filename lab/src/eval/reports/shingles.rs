//! Kinds and lengths of shingles, as rows and as a table.

use super::{ExperimentReport, FigureRow, TextTable};
use crate::diff::MOST_WORDS;
use crate::eval::{KindMeasured, PairClass, ShinglesMeasured};
use crate::number::{counted, grouped, seconds};

impl ShinglesMeasured {
    /// Reports how well each kind and length of shingles separates near-duplicates from other pairs. A pair counts as
    /// near-duplicates if a word diff keeps at least the share `threshold` of their words.
    pub fn report(&self, threshold: f64) -> ExperimentReport {
        let texts = counted(self.texts as u64, "text", "texts");
        let near = counted(self.near, "pair", "pairs");
        let heading = if self.texts == 2 {
            "Jaccard similarity of two texts, by kind and length of shingles".to_owned()
        } else {
            format!("all pairs of {texts}; of {near} a word diff keeps {threshold} or more")
        };
        ExperimentReport {
            rows: self.kinds.iter().map(|line| self.row(line)).collect(),
            heading: vec![heading],
            table: self.table(),
            notes: [self.best_note(), self.columns_note(), self.cut_note()]
                .into_iter()
                .flatten()
                .collect(),
            picture: self.picture(),
        }
    }

    /// Returns a note about the best kind, if any two can be compared.
    fn best_note(&self) -> Option<String> {
        if let Some(best) = self.best() {
            let (name, k) = (best.kind.name(), best.kind.shingling().k());
            return Some(format!(
                "shingles of {k} ({name}) leave the widest gap for a threshold"
            ));
        }
        let has_gaps = self.kinds.iter().any(|line| line.gap().is_some());
        has_gaps.then(|| "no choice separates them: all gaps are 0 or negative".to_owned())
    }

    /// Returns a note that explains the columns, if there are several pairs.
    fn columns_note(&self) -> Option<String> {
        (self.texts != 2).then(|| {
            "near, others: mean similarity of near-duplicates and of all other pairs; 95% reach: 95% of the \
             near-duplicates have at least this; 99.9% up to: 99.9% of the others have at most this; gap: between these \
             two; a text has: shingles of an average text"
                .to_owned()
        })
    }

    /// Returns a note that only the first words determine which texts are near-duplicates, if there are longer texts.
    fn cut_note(&self) -> Option<String> {
        let most = grouped(MOST_WORDS as u64);
        let texts = counted(self.cut as u64, "text has", "texts have");
        (self.cut > 0).then(|| {
            format!("{texts} more than {most} words: only the first {most} decide what is near")
        })
    }

    /// Returns the line with the widest gap above 0; on a tie, the first one.
    fn best(&self) -> Option<&KindMeasured> {
        let has_room = |line: &&KindMeasured| line.gap().is_some_and(|gap| gap > 0.0);
        let with_gap = self.kinds.iter().filter(has_room);
        with_gap.reduce(
            |best, line| {
                if line.gap() > best.gap() { line } else { best }
            },
        )
    }

    fn is_best(&self, line: &KindMeasured) -> bool {
        self.best().is_some_and(|best| std::ptr::eq(best, line))
    }

    fn row(&self, line: &KindMeasured) -> FigureRow {
        let mean = |class: Option<PairClass>| class.map(|class| class.mean);
        let bound = |class: Option<PairClass>| class.map(|class| class.bound);
        vec![
            ("kind", line.kind.name().split(',').next().into()),
            ("k", line.kind.shingling().k().into()),
            ("folded", line.kind.folds().into()),
            ("texts", self.texts.into()),
            ("cut", self.cut.into()),
            ("near_duplicates", self.near.into()),
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

    fn table(&self) -> TextTable {
        let mut table = TextTable::named_by(2);
        let mut column = |head: &str, cell: &dyn Fn(&KindMeasured) -> String| {
            table.column(head, self.kinds.iter().map(cell));
        };
        column("shingles", &|line| line.kind.name());
        column("k", &|line| line.kind.shingling().k().to_string());
        if self.texts == 2 {
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
