//! Consecutive shingles of a text that a set has.

use std::ops::Range;

/// A stretch of a text whose shingles a set has, or several with other tokens between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShingleRun {
    pub(crate) places: Range<usize>,
    /// Where the first stretch ends.
    first_end: usize,
    /// The number of tokens between stretches that no shingle of the set has.
    pub(crate) others: usize,
}

impl ShingleRun {
    /// A single stretch.
    pub(crate) fn of(places: Range<usize>) -> ShingleRun {
        ShingleRun {
            first_end: places.end,
            places,
            others: 0,
        }
    }

    /// Whether it is of several stretches.
    pub(crate) fn is_joined(&self) -> bool {
        self.first_end < self.places.end
    }

    /// The places of the first stretch.
    pub(crate) fn first(&self) -> Range<usize> {
        self.places.start..self.first_end
    }
}

/// The maximal runs of the places that `is_held`, joined over at most `gap` other tokens. One other token costs as many
/// shingles as a shingle has tokens, `k`.
pub(crate) fn runs(
    places: usize,
    k: usize,
    gap: usize,
    mut is_held: impl FnMut(usize) -> bool,
) -> Vec<ShingleRun> {
    let joined = if gap == 0 {
        0
    } else {
        gap.saturating_add(k - 1)
    };
    let mut runs: Vec<ShingleRun> = Vec::new();
    for place in 0..places {
        if !is_held(place) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if place - run.places.end <= joined => {
                // The first stretch goes on as long as no place is left out.
                if place == run.places.end && run.first_end == place {
                    run.first_end += 1;
                }
                // n other tokens in a row take n + k - 1 places out of the run.
                run.others += (place - run.places.end).saturating_sub(k - 1);
                run.places.end = place + 1;
            }
            _ => runs.push(ShingleRun::of(place..place + 1)),
        }
    }
    runs
}

/// Which elements of `distinct` are in `set`. Both ascend.
pub(crate) fn held(distinct: &[u32], set: &[u32], held: &mut Vec<bool>) {
    held.clear();
    let mut rest = set;
    held.extend(distinct.iter().map(|shingle| {
        while let Some((first, others)) = rest.split_first()
            && first < shingle
        {
            rest = others;
        }
        rest.first() == Some(shingle)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal_and_joined_over_gaps() {
        let held = [true, true, false, true, false, false, false, true];
        let of = |gap| runs(held.len(), 2, gap, |place| held[place]);
        let run = |places, first_end, others| ShingleRun {
            places,
            first_end,
            others,
        };
        let apart = [run(0..2, 2, 0), run(3..4, 4, 0), run(7..8, 8, 0)];
        assert_eq!(of(0), apart);
        // A shingle of two tokens is lacking where one was put in, two where one is another, three where two are.
        assert_eq!(of(1), [run(0..4, 2, 0), run(7..8, 8, 0)]);
        assert_eq!(of(2), [run(0..8, 2, 2)]);
        assert_eq!(runs(3, 2, 0, |_| false), []);

        // Only the first stretch of a joined run counts as the first.
        let held = [true, false, true, true];
        let joined = runs(held.len(), 2, 1, |place| held[place]);
        assert_eq!(joined, [run(0..4, 1, 0)]);
        assert_eq!((joined[0].is_joined(), joined[0].first()), (true, 0..1));
        assert_eq!((apart[0].is_joined(), apart[0].first()), (false, 0..2));
    }

    #[test]
    fn an_element_is_held_if_the_set_has_it() {
        let mut found = Vec::new();
        held(&[1, 4, 5, 9], &[0, 4, 6, 9, 10], &mut found);
        assert_eq!(found, [false, true, false, true]);
        held(&[1], &[], &mut found);
        assert_eq!(found, [false]);
    }
}
