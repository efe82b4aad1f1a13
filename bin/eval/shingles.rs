//! How the kind and length of shingles change similarities.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Instant;

use anyhow::{Result, bail};
use dedupdb::{Progress, ShingleSet, Shingler, Shingling};
use rayon::prelude::*;

use super::corpus::{Sample, pairs};
use super::report::Report;
use super::shingles_report::Measured;
use crate::args::{Args, eval};
use crate::console::Console;
use crate::number::{counted, grouped};
use crate::watch::{Unit, Watch};
use dedupdb::diff::{Comparison, Piece, is_long, words};

/// Comparisons of two sets that are made at most; so many take some minutes.
const MOST: u64 = 200_000_000;

/// One of so many near-duplicates may fall short of their bound, and one of so many others exceed
/// theirs: 95% and 99.9% do not.
const NEAR_EXCEPT: usize = 20;
const OTHERS_EXCEPT: usize = 1000;

/// A kind of shingles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    of: fn(u8) -> Shingling,
    /// Whether texts are lowercased and normalized.
    pub(super) folds: bool,
}

const fn kind(name: &'static str, of: fn(u8) -> Shingling, folds: bool) -> Kind {
    Kind { name, of, folds }
}

/// All kinds.
pub(super) const KINDS: [Kind; 7] = [
    kind("word", Shingling::Word, true),
    kind("char", Shingling::Char, true),
    kind("char-nospace", Shingling::CharNoSpace, true),
    kind("byte", Shingling::Byte, false),
    kind("word, as it is", Shingling::Word, false),
    kind("char, as it is", Shingling::Char, false),
    kind("char-nospace, as it is", Shingling::CharNoSpace, false),
];

/// What one kind and length came to.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) k: u8,
    /// Shingles of an average text.
    pub(super) shingles: f64,
    /// Seconds that making the sets of all texts takes.
    pub(super) seconds: f64,
    /// Mean similarity of all pairs.
    pub(super) jaccard: f64,
    /// Those of the near-duplicates and of the others, if there are such.
    pub(super) near: Option<Class>,
    pub(super) others: Option<Class>,
}

/// The similarities of a class of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Class {
    pub(super) mean: f64,
    /// What nearly all near-duplicates reach, or others do not exceed.
    pub(super) bound: f64,
}

impl Line {
    /// The room between near-duplicates and others.
    pub(super) fn gap(&self) -> Option<f64> {
        Some(self.near?.bound - self.others?.bound)
    }
}

/// Runs the experiment.
pub(crate) fn run(args: &Args, asked: &eval::Shingles, console: &Console) -> Result<Report> {
    let lengths = asked.k.from..=asked.k.to;
    let kinds = lengths.clone().count() * KINDS.len();
    let most = most_texts(kinds as u64);
    if let Some(sample) = asked.sample
        && sample > most
    {
        bail!(
            "the pairs of {} with {} are more than {} comparisons: ask for {} or fewer",
            counted(sample as u64, "text", "texts"),
            counted(kinds as u64, "kind of shingles", "kinds of shingles"),
            grouped(MOST),
            grouped(most as u64)
        );
    }
    let drawn = (asked.sample, asked.seed);
    let sample = Sample::read(args, &asked.texts, drawn, most, console)?;
    let progress = Progress::new();
    let _watch = Watch::new(console, "compared", Unit::Step, &progress);
    progress.begin(kinds as u64 + 1);
    let near = near_duplicates(&sample.texts, asked.threshold);
    progress.step(1);
    let mut lines = Vec::with_capacity(kinds);
    for kind in KINDS {
        for k in lengths.clone() {
            lines.push(measure(&sample.texts, kind, k, &near)?);
            progress.step(1);
        }
    }
    let measured = Measured {
        texts: sample.texts.len(),
        cut: sample.texts.iter().filter(|text| is_long(text)).count(),
        near: near.iter().map(|row| row.len() as u64).sum(),
        lines,
    };
    Ok(measured.report(asked, sample.failed))
}

/// Texts all of whose pairs can be compared with so many kinds of shingles.
fn most_texts(kinds: u64) -> usize {
    let most = MOST / kinds.max(1);
    let texts = (1..).take_while(|&texts| pairs(texts) <= most);
    texts.count()
}

/// For each text, those after it of which a word diff keeps at least the share `threshold`:
/// 2 x kept words / words of both.
fn near_duplicates(texts: &[String], threshold: f64) -> Vec<Vec<usize>> {
    let bags: Vec<Vec<u64>> = texts.par_iter().map(|text| bag(text)).collect();
    (0..texts.len())
        .into_par_iter()
        .map(|a| {
            let reaches = |kept: usize, b: usize| {
                let all = bags[a].len() + bags[b].len();
                all > 0 && 2.0 * kept as f64 >= threshold * all as f64
            };
            let near = (a + 1..texts.len()).filter(|&b| {
                // No diff keeps more than what both have in any order.
                reaches(bags[a].len().min(bags[b].len()), b)
                    && reaches(common(&bags[a], &bags[b]), b)
                    && reaches(kept(&texts[a], &texts[b]), b)
            });
            near.collect()
        })
        .collect()
}

/// The hashes of the words of a text that a diff compares, each as often as it is there, sorted.
fn bag(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        hasher.finish()
    };
    let mut bag: Vec<u64> = words(text).into_iter().map(hash).collect();
    bag.sort_unstable();
    bag
}

/// Number of words that both bags have.
fn common(mut a: &[u64], mut b: &[u64]) -> usize {
    let mut common = 0;
    while let ([x, after_x @ ..], [y, after_y @ ..]) = (a, b) {
        common += usize::from(x == y);
        (a, b) = (
            if x <= y { after_x } else { a },
            if y <= x { after_y } else { b },
        );
    }
    common
}

/// Words that a diff keeps.
fn kept(a: &str, b: &str) -> usize {
    let same = |piece: &Piece| match piece {
        Piece::Same(passage) => passage.words,
        Piece::Changed(..) => 0,
    };
    Comparison::of(a, b).pieces.iter().map(same).sum()
}

/// Compares all pairs by one kind and length of shingles.
fn measure(texts: &[String], kind: Kind, k: u8, near: &[Vec<usize>]) -> Result<Line> {
    let shingler = Shingler::new((kind.of)(k), kind.folds, kind.folds)?;
    let start = Instant::now();
    let sets: Vec<ShingleSet> = texts
        .iter()
        .map(|text| shingler.shingles(text))
        .collect::<dedupdb::Result<_>>()?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: Vec<(Vec<f64>, Vec<f64>)> = (0..sets.len())
        .into_par_iter()
        .map(|a| {
            let (mut alike, mut others) = (Vec::new(), Vec::new());
            for b in a + 1..sets.len() {
                let is_near = near[a].binary_search(&b).is_ok();
                let class = if is_near { &mut alike } else { &mut others };
                class.push(sets[a].jaccard(&sets[b]));
            }
            (alike, others)
        })
        .collect();
    let (alike, others): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let (mut alike, mut others) = (alike.concat(), others.concat());
    let pairs = alike.len() + others.len();
    let sum: f64 = alike.iter().chain(&others).sum();
    let shingles: usize = sets.iter().map(ShingleSet::len).sum();
    Ok(Line {
        kind,
        k,
        shingles: shingles as f64 / sets.len() as f64,
        seconds,
        jaccard: sum / pairs as f64,
        near: class(&mut alike, reached),
        others: class(&mut others, not_exceeded),
    })
}

/// Place of the greatest of so many ascending values that 95% of them reach.
fn reached(values: usize) -> usize {
    values / NEAR_EXCEPT
}

/// Place of the least of so many ascending values, one at least, that 99.9% of them do not exceed.
fn not_exceeded(values: usize) -> usize {
    values - 1 - values / OTHERS_EXCEPT
}

/// The mean, and the value at the place that `bound` makes of their number, in ascending order.
fn class(values: &mut [f64], bound: impl FnOnce(usize) -> usize) -> Option<Class> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    Some(Class {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        bound: values[bound(values.len())],
    })
}

#[cfg(test)]
mod tests {
    use super::{bag, class, common, kept, most_texts, near_duplicates, not_exceeded, reached};

    #[test]
    fn a_bound_is_a_quantile() {
        let mut values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let mut bound =
            |of: fn(usize) -> usize| class(&mut values, of).map(|class| (class.mean, class.bound));
        assert_eq!(bound(reached), Some((50.5, 6.0)));
        assert_eq!(bound(not_exceeded), Some((50.5, 100.0)));
        let one = class(&mut [7.0], reached);
        assert_eq!(one.map(|class| class.bound), Some(7.0));
        assert_eq!(class(&mut [], reached), None);
        assert_eq!(class(&mut [], not_exceeded), None);
    }

    #[test]
    fn bounds_are_the_tightest_that_enough_values_keep() {
        // The values are their places.
        for values in (1..200).chain(900..2100).chain([10_000, 20_001]) {
            let enough = |kept: usize, except: usize| kept * except >= values * (except - 1);
            let reach = |bound: usize| enough(values - bound, 20);
            let (bound, next) = (reached(values), reached(values) + 1);
            assert!(reach(bound) && (next == values || !reach(next)), "{values}");
            let stay = |bound: usize| enough(bound + 1, 1000);
            let bound = not_exceeded(values);
            assert!(stay(bound) && (bound == 0 || !stay(bound - 1)), "{values}");
        }
    }

    #[test]
    fn no_diff_keeps_more_than_both_have() {
        let texts = ["a b c d", "d c b a", "a b x d", "", "a a a b"];
        for a in texts {
            for b in texts {
                assert!(kept(a, b) <= common(&bag(a), &bag(b)), "{a:?} {b:?}");
            }
        }
        assert_eq!(common(&bag("a a b"), &bag("b a a a")), 3);
        let texts = texts.map(str::to_owned);
        assert_eq!(
            near_duplicates(&texts, 0.75),
            [vec![2], vec![], vec![], vec![], vec![]]
        );
    }

    #[test]
    fn the_pairs_of_so_many_texts_fit() {
        assert_eq!(most_texts(200_000_000), 2);
        assert_eq!(most_texts(1), 20_000);
    }
}
