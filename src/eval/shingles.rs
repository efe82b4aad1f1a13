//! How the kind and length of shingles change similarities.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::draw::check_two;
use super::monitor::Monitor;
use crate::clock::Stopwatch;
use crate::diff::{Comparison, Piece, is_long, words};
use crate::error::Result;
use crate::parallel;
use crate::schema::check_threshold;
use crate::text::{ShingleSet, Shingler, Shingling};

/// One of so many near-duplicates may fall short of their bound, and one of so many others exceed
/// theirs: 95% and 99.9% do not.
const NEAR_EXCEPT: usize = 20;
const OTHERS_EXCEPT: usize = 1000;

/// A kind and length of shingles that [`shingles`] measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShingleKind {
    shingling: Shingling,
    folds: bool,
}

/// What [`shingles`] measured.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShinglesMeasured {
    /// Number of texts, whose pairs were all compared.
    pub texts: usize,
    /// Texts that a word diff does not compare to their end
    /// ([`MOST_WORDS`](crate::diff::MOST_WORDS)).
    pub cut: usize,
    /// Pairs that are near-duplicates by a word diff.
    pub near: u64,
    /// In the order of the kinds.
    pub kinds: Vec<KindMeasured>,
}

/// What one kind and length of shingles came to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KindMeasured {
    /// The kind.
    pub kind: ShingleKind,
    /// Shingles of an average text.
    pub shingles: f64,
    /// Seconds that making the sets of all texts takes, on one thread.
    pub seconds: f64,
    /// Mean similarity of all pairs.
    pub jaccard: f64,
    /// The similarities of the near-duplicates, if there are such; 95% of them reach the bound.
    pub near: Option<PairClass>,
    /// The similarities of all other pairs, if there are such; 99.9% of them do not exceed the bound.
    pub others: Option<PairClass>,
}

/// The similarities of a class of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairClass {
    /// Their mean.
    pub mean: f64,
    /// What nearly all near-duplicates reach, or others do not exceed.
    pub bound: f64,
}

impl ShingleKind {
    /// Shingles of this kind and length. If `folds`, texts are lowercased and normalized to NFKC.
    pub fn new(shingling: Shingling, folds: bool) -> ShingleKind {
        ShingleKind { shingling, folds }
    }

    /// Returns the kind and length.
    pub fn shingling(&self) -> Shingling {
        self.shingling
    }

    /// Returns what the shingles are made of, and `, as it is` where nothing is folded that could be:
    /// `word`, `char, as it is`.
    pub fn name(&self) -> String {
        let spelled = self.shingling.to_string();
        let token = spelled.split(':').next().unwrap_or_default();
        let is_folded = self.folds || !self.shingling.folds();
        format!("{token}{}", if is_folded { "" } else { ", as it is" })
    }

    /// Whether texts are lowercased and normalized.
    pub fn folds(&self) -> bool {
        self.folds
    }
}

impl KindMeasured {
    /// Returns the room for a threshold between near-duplicates and others: the bound of the former
    /// less that of the latter, -1 to 1. With a negative one, no threshold keeps them apart. None if
    /// there are no pairs of either.
    pub fn gap(&self) -> Option<f64> {
        Some(self.near?.bound - self.others?.bound)
    }
}

/// Compares all pairs of texts by each kind of shingles.
///
/// Which pairs are near-duplicates is not for shingles to say: those are of which a word diff keeps at
/// least the share `threshold`, 2 x kept words / words of both. A step is a kind, and one more. Figures
/// except for the times depend on the texts and their order alone. Memory is 8 bytes a pair and the sets of
/// one kind. The threads are those of the rayon pool that the call is made in.
///
/// # Errors
///
/// [`Error::InvalidQuery`](crate::Error::InvalidQuery) for fewer than two texts or a threshold that is
/// not above 0 and at most 1, [`Error::InvalidSchema`](crate::Error::InvalidSchema) for a kind that
/// cannot be, [`Error::InvalidText`](crate::Error::InvalidText) for a text that it cannot read, and
/// [`Error::Stopped`](crate::Error::Stopped).
///
/// ```
/// use dedupdb::sketching::Shingling;
/// use dedupdb::eval::{Monitor, ShingleKind, shingles};
///
/// let texts = [
///     "the night tram runs again from Friday on, every half hour until four",
///     "the night tram runs again from Friday on, every half hour until five",
///     "nobody knows who painted the harbour crane in the colours of a parrot",
/// ];
/// let kinds = [1, 3].map(|k| ShingleKind::new(Shingling::Word(k), true));
/// let measured = shingles(&texts, &kinds, 0.8, &Monitor::new())?;
/// assert_eq!((measured.texts, measured.near), (3, 1));
/// let gaps: Vec<Option<f64>> = measured.kinds.iter().map(|kind| kind.gap()).collect();
/// assert!(gaps.iter().all(|gap| gap.is_some_and(|gap| gap > 0.5)));
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn shingles<T: AsRef<str> + Sync>(
    texts: &[T],
    kinds: &[ShingleKind],
    threshold: f64,
    monitor: &Monitor<'_>,
) -> Result<ShinglesMeasured> {
    check_two(texts.len())?;
    check_threshold(threshold)?;
    let shinglers: Vec<Shingler> = kinds
        .iter()
        .map(|kind| Shingler::new(kind.shingling, kind.folds, kind.folds))
        .collect::<Result<_>>()?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    monitor.begin(kinds.len() as u64 + 1);
    let near = near_duplicates(&texts, threshold);
    monitor.step(1)?;
    let mut measured = Vec::with_capacity(kinds.len());
    for (&kind, shingler) in kinds.iter().zip(&shinglers) {
        measured.push(measure(&texts, kind, shingler, &near)?);
        monitor.step(1)?;
    }
    Ok(ShinglesMeasured {
        texts: texts.len(),
        cut: texts.iter().filter(|text| is_long(text)).count(),
        near: near.iter().map(|row| row.len() as u64).sum(),
        kinds: measured,
    })
}

/// For each text, those after it of which a word diff keeps at least the share `threshold`:
/// 2 x kept words / words of both.
fn near_duplicates(texts: &[&str], threshold: f64) -> Vec<Vec<usize>> {
    let bags: Vec<Vec<u64>> = parallel::map(texts.to_vec(), bag);
    parallel::map((0..texts.len()).collect(), |a| {
        let reaches = |kept: usize, b: usize| {
            let all = bags[a].len() + bags[b].len();
            all > 0 && 2.0 * kept as f64 >= threshold * all as f64
        };
        let near = (a + 1..texts.len()).filter(|&b| {
            // No diff keeps more than what both have in any order.
            reaches(bags[a].len().min(bags[b].len()), b)
                && reaches(common(&bags[a], &bags[b]), b)
                && reaches(kept(texts[a], texts[b]), b)
        });
        near.collect()
    })
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
fn measure(
    texts: &[&str],
    kind: ShingleKind,
    shingler: &Shingler,
    near: &[Vec<usize>],
) -> Result<KindMeasured> {
    let start = Stopwatch::start();
    let sets: Vec<ShingleSet> = texts
        .iter()
        .map(|text| shingler.shingles(text))
        .collect::<Result<_>>()?;
    let seconds = start.elapsed().as_secs_f64();
    let rows = parallel::map((0..sets.len()).collect(), |a| {
        let (mut alike, mut others) = (Vec::new(), Vec::new());
        for b in a + 1..sets.len() {
            let is_near = near[a].binary_search(&b).is_ok();
            let class = if is_near { &mut alike } else { &mut others };
            class.push(sets[a].jaccard(&sets[b]));
        }
        (alike, others)
    });
    let (alike, others): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let (mut alike, mut others) = (alike.concat(), others.concat());
    let pairs = alike.len() + others.len();
    let sum: f64 = alike.iter().chain(&others).sum();
    let shingles: usize = sets.iter().map(ShingleSet::len).sum();
    Ok(KindMeasured {
        kind,
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
fn class(values: &mut [f64], bound: impl FnOnce(usize) -> usize) -> Option<PairClass> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    Some(PairClass {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        bound: values[bound(values.len())],
    })
}

#[cfg(test)]
mod tests {
    use super::{bag, class, common, kept, near_duplicates, not_exceeded, reached};

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
        assert_eq!(
            near_duplicates(&texts, 0.75),
            [vec![2], vec![], vec![], vec![], vec![]]
        );
    }
}
