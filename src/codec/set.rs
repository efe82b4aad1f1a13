//! A set of numbers that are close to each other.

/// A set of numbers, with a bit for each number from the lowest to the highest.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitSet {
    first: u32,
    words: Vec<u64>,
}

impl BitSet {
    /// The set of some numbers, which ascend.
    pub(crate) fn of(numbers: &[u32]) -> BitSet {
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            return BitSet::default();
        };
        let words = last.saturating_sub(first) as usize / 64 + 1;
        let mut set = BitSet {
            first,
            words: vec![0; words],
        };
        for &number in numbers {
            if let Some((word, bit)) = set.place(number) {
                set.words[word] |= bit;
            }
        }
        set
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        let place = self.place(number);
        place.is_some_and(|(word, bit)| self.words[word] & bit != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word and the bit of a number, if it is between the lowest and the highest.
    #[inline]
    fn place(&self, number: u32) -> Option<(usize, u64)> {
        let at = number.checked_sub(self.first)? as usize;
        (at / 64 < self.words.len()).then_some((at / 64, 1 << (at % 64)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_has_the_numbers_that_it_was_given(
            first in prop_oneof![0..3_u32, Just(u32::MAX - 300)],
            steps in prop::collection::btree_set(0..300_u32, 0..40),
        ) {
            let numbers: BTreeSet<u32> = steps.iter().map(|step| first + step).collect();
            let set = BitSet::of(&numbers.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.is_empty(), numbers.is_empty());
            for number in (first.saturating_sub(70)..=first + 300).chain([0, u32::MAX]) {
                prop_assert_eq!(set.contains(number), numbers.contains(&number));
            }
        }
    }
}
