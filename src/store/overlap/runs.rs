//! Consecutive shingles of a text that a set has.

use std::ops::Range;

/// A stretch of a text: places of its shingles, and how many of these a set has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShingleRun {
    pub(crate) places: Range<usize>,
    pub(crate) held: usize,
}

/// The maximal runs of the places that `is_held`. Runs are joined over at most `gap` other places.
pub(crate) fn runs(
    places: usize,
    gap: usize,
    mut is_held: impl FnMut(usize) -> bool,
) -> Vec<ShingleRun> {
    let mut runs: Vec<ShingleRun> = Vec::new();
    for place in 0..places {
        if !is_held(place) {
            continue;
        }
        match runs.last_mut() {
            Some(run) if place - run.places.end <= gap => {
                run.places.end = place + 1;
                run.held += 1;
            }
            _ => runs.push(ShingleRun {
                places: place..place + 1,
                held: 1,
            }),
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
        let held = [true, true, false, true, false, false, true];
        let of = |gap| runs(held.len(), gap, |place| held[place]);
        let run = |places, held| ShingleRun { places, held };
        assert_eq!(of(0), [run(0..2, 2), run(3..4, 1), run(6..7, 1)]);
        assert_eq!(of(1), [run(0..4, 3), run(6..7, 1)]);
        assert_eq!(of(2), [run(0..7, 4)]);
        assert_eq!(runs(3, 0, |_| false), []);
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
