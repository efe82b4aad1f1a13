//! What the times say.

use super::corpus::pairs;
use super::report::Report;
use super::time::{Cost, Part, Signed};
use crate::args::eval;
use crate::number::{counted, grouped, seconds};
use crate::table::Table;
use dedupdb::plot::{Axis, Form, Panel, Picture, Series};

/// The parts of the corpus, ascending, one at least.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) parts: Vec<Part>,
}

impl Measured {
    pub(super) fn report(&self, asked: &eval::Time, failed: bool) -> Report {
        let wins: Vec<Option<f64>> = (0..asked.permutations.len())
            .map(|at| self.wins_from(at).map(|(texts, _)| texts))
            .collect();
        let heading = format!(
            "seconds of one thread for parts of the corpus, {} shingles, near-duplicates at {} or \
             more; ~: computed",
            asked.sets.shingling, asked.threshold
        );
        let signed = self.parts.first().map_or(&[][..], |part| &part.signed);
        let notes = signed.iter().enumerate();
        Report {
            rows: self
                .parts
                .iter()
                .flat_map(|part| part.rows(&wins))
                .collect(),
            heading: vec![heading],
            table: self.table(),
            notes: notes.map(|(at, signed)| self.note(at, signed)).collect(),
            picture: self.picture(),
            failed,
        }
    }

    /// From how many texts on LSH takes less than all exact similarities, at all larger parts too,
    /// and the part before that, if there is one.
    fn wins_from(&self, at: usize) -> Option<(f64, Option<usize>)> {
        let ratio = |part: &Part| part.exact.seconds / part.signed[at].lsh.max(f64::MIN_POSITIVE);
        let lost = self.parts.iter().rposition(|part| ratio(part) <= 1.0);
        let Some(lost) = lost else {
            return Some((self.parts.first()?.texts as f64, None));
        };
        let (before, after) = (&self.parts[lost], self.parts.get(lost + 1)?);
        let (low, high) = (ratio(before).ln(), ratio(after).ln());
        let (first, last) = ((before.texts as f64).ln(), (after.texts as f64).ln());
        let texts = (first + (last - first) * -low / (high - low)).exp();
        Some((texts, Some(lost)))
    }

    fn note(&self, at: usize, signed: &Signed) -> String {
        let name = format!(
            "{} permutations ({} bands of {} rows)",
            signed.permutations,
            signed.bands.bands(),
            signed.bands.rows()
        );
        match self.wins_from(at) {
            None => {
                let texts = self.parts.last().map_or(0, |part| part.texts);
                format!(
                    "{name}: LSH takes longer than all exact similarities at the whole, {}",
                    counted(texts as u64, "text", "texts")
                )
            }
            Some((texts, None)) => {
                format!(
                    "{name}: LSH takes less than all exact similarities from {texts:.0} texts on, the smallest part"
                )
            }
            Some((texts, Some(lost))) => {
                let between = &self.parts[lost..=lost + 1];
                let how = if between.iter().all(|part| part.exact.measured) {
                    "measured"
                } else {
                    "computed"
                };
                format!(
                    "{name}: LSH takes less than all exact similarities from about {texts:.0} texts \
                     on, {how} between {} and {}",
                    between[0].texts, between[1].texts
                )
            }
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::default();
        let mut column = |head: &str, cell: &dyn Fn(&Part) -> String| {
            table.column(head, self.parts.iter().map(cell));
        };
        let cost = |cost: Cost| {
            let mark = if cost.measured { "" } else { "~" };
            format!("{mark}{}", seconds(cost.seconds))
        };
        column("texts", &|part| grouped(part.texts as u64));
        column("pairs", &|part| grouped(pairs(part.texts)));
        column("exact", &|part| cost(part.exact));
        let several = self.parts.first().map_or(0, |part| part.signed.len());
        for at in 0..several {
            let number = self.parts[0].signed[at].permutations;
            column(&format!("{number}: signatures"), &|part| {
                seconds(part.signed[at].signatures)
            });
            column("estimates", &|part| cost(part.signed[at].estimates));
            column("LSH", &|part| seconds(part.signed[at].lsh));
            column("compared", &|part| grouped(part.signed[at].compared));
        }
        table.column("", self.parts.iter().map(|_| String::new()));
        table
    }

    fn picture(&self) -> Picture {
        let points = |of: &dyn Fn(&Part) -> Option<f64>| {
            let points = self.parts.iter();
            points
                .filter_map(|part| Some((part.texts as f64, of(part)?)))
                .collect::<Vec<_>>()
        };
        let if_measured = |cost: Cost| cost.measured.then_some(cost.seconds);
        let last = self.parts.iter().rev().find(|part| part.exact.measured);
        let computed = points(&|part| {
            let last = last?;
            let square = pairs(part.texts) as f64 / pairs(last.texts) as f64;
            Some(last.exact.seconds * square)
        });
        let exact = points(&|part| if_measured(part.exact));
        let mut all = vec![
            Series::new("all exact, by the number of pairs", Form::Line, 0, computed),
            Series::new("all exact, measured", Form::Points, 0, exact),
        ];
        let mut steps = Vec::new();
        let signed = self.parts.first().map_or(&[][..], |part| &part.signed);
        for (at, signed) in signed.iter().enumerate() {
            let (hue, number) = (at + 1, signed.permutations);
            let series = |name: &str, form, points| {
                Series::new(format!("{name}, {number} permutations"), form, hue, points)
            };
            let lsh = points(&|part| Some(part.signed[at].lsh));
            all.push(series("LSH", Form::JoinedPoints, lsh));
            let signatures = points(&|part| Some(part.signed[at].signatures));
            steps.push(series("signatures", Form::JoinedPoints, signatures));
            let estimates = points(&|part| if_measured(part.signed[at].estimates));
            steps.push(series("all estimates", Form::Line, estimates));
        }
        let panel = |title, series| {
            let (x, y) = (Axis::log("texts"), Axis::log("seconds of one thread"));
            Panel::new(title, x, y, series)
        };
        Picture::new(vec![
            panel("All similarities, or LSH", all),
            panel("Signatures and estimates", steps),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Measured, Part, Signed};
    use dedupdb::Bands;

    fn measured(times: &[(usize, f64, f64)]) -> Measured {
        let part = |&(texts, seconds, lsh): &(usize, f64, f64)| {
            let exact = Cost {
                seconds,
                measured: true,
            };
            let signed = Signed {
                permutations: 128,
                bands: Bands::new(17, 7, 128).unwrap(),
                signatures: lsh,
                estimates: exact,
                lsh,
                compared: 0,
                found: 0,
            };
            Part {
                texts,
                exact,
                signed: vec![signed],
            }
        };
        Measured {
            parts: times.iter().map(part).collect(),
        }
    }

    #[test]
    fn lsh_wins_where_the_curves_cross() {
        // Exact takes n^2, LSH 100 n: they meet at 100.
        let times = [(50, 2500.0, 5000.0), (200, 40_000.0, 20_000.0)];
        let (texts, lost) = measured(&times).wins_from(0).unwrap();
        assert!((texts - 100.0).abs() < 1e-9 && lost == Some(0), "{texts}");
        assert_eq!(measured(&times[..1]).wins_from(0), None);
        assert_eq!(measured(&times[1..]).wins_from(0), Some((200.0, None)));
        // A win that a larger part takes back does not count.
        let back = [(16, 2.0, 1.0), (32, 1.0, 2.0), (64, 4.0, 2.0)];
        assert_eq!(
            measured(&back).wins_from(0).map(|(_, lost)| lost),
            Some(Some(1))
        );
    }
}
