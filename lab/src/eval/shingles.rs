//! The effect of the kind and length of shingles on similarities.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use super::draw::check_two;
use crate::diff::{Comparison, Piece, is_long, words};
use crate::eval::check_threshold;
use dedupdb::sketching::{ShingleSet, Shingler, Shingling};
use dedupdb::{Progress, Result};
use rayon::prelude::*;
use std::time::Instant;

/// One in this many near-duplicates may fall short of their bound, and one in this many other pairs may exceed theirs:
/// 95% and 99.9% do not.
const NEAR_EXCEPT: usize = 20;
const OTHERS_EXCEPT: usize = 1000;

/// A kind and length of shingles that [`shingles`] measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShingleKind {
    shingling: Shingling,
    folds: bool,
}

/// The results of [`shingles`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShinglesMeasured {
    /// The number of texts. All of their pairs were compared.
    pub texts: usize,
    /// The number of texts that a word diff does not compare to their end ([`MOST_WORDS`](crate::diff::MOST_WORDS)).
    pub cut: usize,
    /// The number of pairs that are near-duplicates by a word diff.
    pub near: u64,
    /// The results in the order of the kinds.
    pub kinds: Vec<KindMeasured>,
}

/// The results for one kind and length of shingles.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KindMeasured {
    /// The kind.
    pub kind: ShingleKind,
    /// The number of shingles of an average text.
    pub shingles: f64,
    /// The seconds to make the sets of all texts, on one thread.
    pub seconds: f64,
    /// The mean similarity of all pairs.
    pub jaccard: f64,
    /// The similarities of the near-duplicates, if there are any. 95% of them reach the bound.
    pub near: Option<PairClass>,
    /// The similarities of all other pairs, if there are any. 99.9% of them do not exceed the bound.
    pub others: Option<PairClass>,
}

/// The similarities of a class of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairClass {
    /// Their mean.
    pub mean: f64,
    /// The value that nearly all near-duplicates reach, or that nearly all others do not exceed.
    pub bound: f64,
}

impl ShingleKind {
    /// Returns shingles of this kind and length. If `folds`, texts are lowercased and normalized to NFKC.
    pub fn new(shingling: Shingling, folds: bool) -> ShingleKind {
        ShingleKind { shingling, folds }
    }

    /// Returns the kind and length.
    pub fn shingling(&self) -> Shingling {
        self.shingling
    }

    /// Returns what the shingles consist of, with `, as it is` if they could be folded but are not: `word`,
    /// `char, as it is`.
    pub fn name(&self) -> String {
        let spelled = self.shingling.to_string();
        let token = spelled.split(':').next().unwrap_or_default();
        let is_folded = self.folds || !self.shingling.folds();
        format!("{token}{}", if is_folded { "" } else { ", as it is" })
    }

    /// Returns whether texts are lowercased and normalized.
    pub fn folds(&self) -> bool {
        self.folds
    }
}

impl KindMeasured {
    /// Returns the room for a threshold between near-duplicates and others: the bound of the former minus that of the
    /// latter, -1 to 1. If it is negative, no threshold separates them. Returns `None` if either class has no pairs.
    pub fn gap(&self) -> Option<f64> {
        Some(self.near?.bound - self.others?.bound)
    }
}

/// Compares all pairs of texts by each kind of shingles.
///
/// Near-duplicates are determined independently of shingles: they are the pairs of which a word diff keeps at least the
/// share `threshold`, 2 x kept words / words of both. There is one step per kind, and one more. Except for the times,
/// the figures depend only on the texts and their order. Takes 8 bytes of memory for each pair, and the sets of one
/// kind. Uses the threads of the current rayon pool.
///
/// # Errors
///
/// [`Error::InvalidQuery`](dedupdb::Error::InvalidQuery) for fewer than two texts or a threshold that is not above 0 and
/// at most 1, [`Error::InvalidSchema`](dedupdb::Error::InvalidSchema) for an impossible kind,
/// [`Error::InvalidText`](dedupdb::Error::InvalidText) for a text that the kind cannot read, and
/// [`Error::Stopped`](dedupdb::Error::Stopped).
///
/// ```
/// use dedupdb::Progress;
/// use dedupdb::sketching::Shingling;
/// use dedupdb_lab::eval::{ShingleKind, shingles};
///
/// let texts = [
///     "the night tram runs again from Friday on, every half hour until four",
///     "the night tram runs again from Friday on, every half hour until five",
///     "nobody knows who painted the harbour crane in the colours of a parrot",
/// ];
/// let kinds = [1, 3].map(|k| ShingleKind::new(Shingling::Word(k), true));
/// let measured = shingles(&texts, &kinds, 0.8, &Progress::new())?;
/// assert_eq!((measured.texts, measured.near), (3, 1));
/// let gaps: Vec<Option<f64>> = measured.kinds.iter().map(|kind| kind.gap()).collect();
/// assert!(gaps.iter().all(|gap| gap.is_some_and(|gap| gap > 0.5)));
/// # Ok::<(), dedupdb::Error>(())
/// ```
pub fn shingles<T: AsRef<str> + Sync>(
    texts: &[T],
    kinds: &[ShingleKind],
    threshold: f64,
    progress: &Progress,
) -> Result<ShinglesMeasured> {
    check_two(texts.len())?;
    check_threshold(threshold)?;
    let shinglers: Vec<Shingler> = kinds
        .iter()
        .map(|kind| Shingler::new(kind.shingling, kind.folds, kind.folds))
        .collect::<Result<_>>()?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    progress.begin(kinds.len() as u64 + 1);
    let near = near_duplicates(&texts, threshold);
    progress.step(1)?;
    let mut measured = Vec::with_capacity(kinds.len());
    for (&kind, shingler) in kinds.iter().zip(&shinglers) {
        measured.push(measure(&texts, kind, shingler, &near)?);
        progress.step(1)?;
    }
    Ok(ShinglesMeasured {
        texts: texts.len(),
        cut: texts.iter().filter(|text| is_long(text)).count(),
        near: near.iter().map(|row| row.len() as u64).sum(),
        kinds: measured,
    })
}

/// Returns, for each text, the later texts for which a word diff keeps at least the share `threshold`: 2 x kept words /
/// words of both.
fn near_duplicates(texts: &[&str], threshold: f64) -> Vec<Vec<usize>> {
    let bags: Vec<Vec<u64>> = texts.to_vec().into_par_iter().map(bag).collect::<Vec<_>>();
    (0..texts.len())
        .into_par_iter()
        .map(|a| {
            let reaches = |kept: usize, b: usize| {
                let all = bags[a].len() + bags[b].len();
                all > 0 && 2.0 * kept as f64 >= threshold * all as f64
            };
            let near = (a + 1..texts.len()).filter(|&b| {
                // No diff keeps more words than both texts share in any order.
                reaches(bags[a].len().min(bags[b].len()), b)
                    && reaches(common(&bags[a], &bags[b]), b)
                    && reaches(kept(texts[a], texts[b]), b)
            });
            near.collect()
        })
        .collect::<Vec<_>>()
}

/// Returns the sorted hashes of the words of a text that a diff compares, each as often as it occurs.
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

/// Returns the number of words that both bags share.
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

/// Returns the number of words that a diff keeps.
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
    let start = Instant::now();
    let sets: Vec<ShingleSet> = texts
        .iter()
        .map(|text| shingler.shingles(text))
        .collect::<Result<_>>()?;
    let seconds = start.elapsed().as_secs_f64();
    let rows = (0..sets.len())
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
        .collect::<Vec<_>>();
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

/// Returns the index of the greatest of `values` ascending values that 95% of them reach.
fn reached(values: usize) -> usize {
    values / NEAR_EXCEPT
}

/// Returns the index of the least of `values` ascending values, at least one, that 99.9% of them do not exceed.
fn not_exceeded(values: usize) -> usize {
    values - 1 - values / OTHERS_EXCEPT
}

/// Returns the mean, and the value at the index that `bound` returns for the number of values, in ascending order.
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
        // Each value is its own index.
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
