//! Runs of tokens that two texts have in common.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use dedupdb::sketching::{ShingleSet, Shingler};

/// The number of places of a shingle in a text that are compared. A text that repeats itself more often shows fewer runs.
const MOST_PLACES: usize = 16;

/// The maximum number of compared shingles for each shingle of the two texts.
const MOST_COMPARED: usize = 256;

/// A text as its tokens and shingles in order.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    pub(super) text: &'a str,
    /// The bytes of each token.
    places: Vec<Range<usize>>,
    /// The shingles; the `n`-th one begins with the `n`-th token. `None` does not count.
    shingles: Vec<Option<u32>>,
    /// The first places of each shingle, once they are asked for.
    index: OnceCell<HashMap<u32, Vec<usize>>>,
}

/// A maximal run of tokens that a text A and a text B have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SharedRun {
    /// The numbers of its tokens in A.
    pub(super) a: Range<u32>,
    /// The numbers of its tokens in B.
    pub(super) b: Range<u32>,
}

/// A part of a text that belongs to one of several ranges of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextPiece {
    pub(super) tokens: Range<u32>,
    /// The number of the range among those that were given.
    pub(super) range: usize,
}

impl<'a> Tokens<'a> {
    /// Cuts a text. Shingles that are `ignored` are in no run.
    ///
    /// # Errors
    ///
    /// [`dedupdb::Error::InvalidText`] if tokens are ids and one is no number.
    pub(super) fn of(
        shingler: &Shingler,
        text: &'a str,
        ignored: Option<&ShingleSet>,
    ) -> dedupdb::Result<Tokens<'a>> {
        let ignored = ignored.map_or(&[][..], ShingleSet::as_slice);
        let counts = |shingle: &u32| ignored.binary_search(shingle).is_err();
        let shingles = shingler.in_order(text)?.into_iter();
        Ok(Tokens {
            text,
            places: shingler.places(text),
            shingles: shingles
                .map(|shingle| Some(shingle).filter(counts))
                .collect(),
            index: OnceCell::new(),
        })
    }

    pub(super) fn count(&self) -> u32 {
        low32(self.places.len())
    }

    /// The number of tokens in a shingle that counts.
    pub(super) fn counted(&self) -> u32 {
        if self.shingles.iter().all(Option::is_some) {
            return self.count();
        }
        let counting = self.shingles.iter().enumerate();
        let counting = counting.filter(|(_, shingle)| shingle.is_some());
        let ranges = counting.map(|(start, _)| self.tokens_of(start, 1));
        covered(&ranges.collect::<Vec<_>>())
    }

    /// Returns the bytes of some tokens. A character is in them as a whole, also where tokens are bytes.
    pub(super) fn bytes(&self, tokens: &Range<u32>) -> Range<usize> {
        let tokens = self.places.get(index(tokens.start)..index(tokens.end));
        let Some([first, ..]) = tokens else {
            return 0..0;
        };
        let last = tokens.and_then(<[_]>::last).unwrap_or(first);
        let is_boundary = |place: &usize| self.text.is_char_boundary(*place);
        let start = (0..=first.start).rev().find(is_boundary);
        let end = (last.end..=self.text.len()).find(is_boundary);
        start.unwrap_or(0)..end.unwrap_or(self.text.len())
    }

    /// Returns how many tokens end within the first bytes of the text, up to `end`.
    pub(super) fn count_up_to(&self, end: usize) -> u32 {
        low32(self.places.partition_point(|place| place.end <= end))
    }

    /// Returns the tokens of a run of shingles that begins with the shingle `start`.
    fn tokens_of(&self, start: usize, shingles: usize) -> Range<u32> {
        // A text with fewer tokens than a shingle has one shingle.
        let beyond = self.places.len().saturating_sub(self.shingles.len());
        let end = (start + shingles + beyond).min(self.places.len());
        low32(start)..low32(end)
    }

    /// Returns the maximal runs of at least `least` tokens that this text, A, and another one, B, have in common, the longest
    /// first.
    pub(super) fn shared_with(&self, other: &Tokens<'_>, least: u32) -> Vec<SharedRun> {
        let (a, b) = (&self.shingles, &other.shingles);
        let in_a = self.index.get_or_init(|| first_places(a));
        let places = |shingle: Option<u32>| {
            let places = shingle.and_then(|shingle| in_a.get(&shingle));
            places.map_or(&[][..], Vec::as_slice)
        };
        let mut compared = 0;
        let mut runs = Vec::new();
        for (j, &shingle) in b.iter().enumerate() {
            let before = j.checked_sub(1).map_or(&[][..], |j| places(b[j]));
            for &i in places(shingle) {
                let is_inside = i.checked_sub(1).is_some_and(|i| before.contains(&i));
                if is_inside || compared > MOST_COMPARED * (a.len() + b.len()) {
                    continue;
                }
                let both = a[i..].iter().zip(&b[j..]);
                let shingles = both.take_while(|(a, b)| a.is_some() && a == b).count();
                compared += shingles;
                let run = SharedRun {
                    a: self.tokens_of(i, shingles),
                    b: other.tokens_of(j, shingles),
                };
                if run.a.len() >= index(least) {
                    runs.push(run);
                }
            }
        }
        runs.sort_by_key(|run| (Reverse(run.a.len()), run.a.start, run.b.start));
        runs
    }
}

/// Returns the first places of each shingle.
fn first_places(shingles: &[Option<u32>]) -> HashMap<u32, Vec<usize>> {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    let counting = shingles.iter().enumerate();
    for (place, shingle) in counting.filter_map(|(place, shingle)| Some((place, (*shingle)?))) {
        let places = places.entry(shingle).or_default();
        if places.len() < MOST_PLACES {
            places.push(place);
        }
    }
    places
}

/// Divides the tokens inside ranges among them: each token belongs to the first range that has it. The pieces ascend.
pub(super) fn pieces(ranges: &[Range<u32>]) -> Vec<TextPiece> {
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let mut owners: Vec<Option<usize>> = vec![None; index(last)];
    for (number, range) in ranges.iter().enumerate() {
        let owners = &mut owners[index(range.start)..index(range.end)];
        for owner in owners.iter_mut().filter(|owner| owner.is_none()) {
            *owner = Some(number);
        }
    }
    let mut start = 0;
    let chunks = owners.chunk_by(|a, b| a == b).filter_map(|chunk| {
        let tokens = low32(start)..low32(start + chunk.len());
        start += chunk.len();
        chunk[0].map(|range| TextPiece { tokens, range })
    });
    chunks.collect()
}

/// The number of tokens inside any of the ranges.
pub(super) fn covered(ranges: &[Range<u32>]) -> u32 {
    let pieces = pieces(ranges);
    pieces.iter().map(|piece| low32(piece.tokens.len())).sum()
}

/// Returns the number of tokens that two ranges have in common.
pub(super) fn overlap(a: &Range<u32>, b: &Range<u32>) -> u32 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// Returns a number of tokens. A text has fewer than 2^32.
fn low32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the place in memory of a token.
fn index(token: u32) -> usize {
    usize::try_from(token).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedupdb::sketching::Shingling;

    fn tokens(text: &str) -> Tokens<'_> {
        let shingler = Shingler::new(Shingling::Word(2), true, true).unwrap();
        Tokens::of(&shingler, text, None).unwrap()
    }

    /// The runs of two texts, each as its words in both.
    fn runs<'a>(a: &'a str, b: &'a str, least: u32) -> Vec<[&'a str; 2]> {
        let (in_a, in_b) = (tokens(a), tokens(b));
        let runs = in_a.shared_with(&in_b, least).into_iter();
        runs.map(|run| [&a[in_a.bytes(&run.a)], &b[in_b.bytes(&run.b)]])
            .collect()
    }

    #[test]
    fn runs_are_maximal_wherever_they_are() {
        let (a, b) = ("one Two three; x four five", "four, five y one two three");
        assert_eq!(
            runs(a, b, 2),
            [
                ["one Two three", "one two three"],
                ["four five", "four, five"]
            ]
        );
        assert_eq!(runs(a, b, 3), [["one Two three", "one two three"]]);
        assert!(runs(a, b, 4).is_empty() && runs(a, "", 1).is_empty());
        // Each place of a repeated run is a run.
        assert_eq!(runs("p q", "p q r p q", 2), [["p q", "p q"]; 2]);
        // A text shorter than a shingle is one shingle.
        assert_eq!(runs("one", "One", 1), [["one", "One"]]);
    }

    #[test]
    fn what_is_ignored_is_in_no_run() {
        let shingler = Shingler::new(Shingling::Word(2), true, true).unwrap();
        let form = shingler.shingles("name and class").unwrap();
        let of = |text| Tokens::of(&shingler, text, Some(&form)).unwrap();
        let (a, b) = (
            of("one two name and class"),
            of("one two name and class, x"),
        );
        // The words at the edge of the form are in shingles with others.
        assert_eq!([a.counted(), b.counted()], [3, 5]);
        let runs = a.shared_with(&b, 2);
        assert_eq!(runs, [SharedRun { a: 0..3, b: 0..3 }]);
    }

    #[test]
    fn bytes_of_a_character_stay_together() {
        let shingler = Shingler::new(Shingling::Byte(2), false, false).unwrap();
        let text = Tokens::of(&shingler, "aéé", None).unwrap();
        assert_eq!(text.bytes(&(2..4)), 1..5);
        assert_eq!(text.bytes(&(5..9)), 0..0);
    }

    #[test]
    fn the_runs_of_a_text_that_repeats_itself_are_bounded() {
        let a = "p q ".repeat(20_000);
        let b = "q p q ".repeat(20_000);
        assert!(tokens(&a).shared_with(&tokens(&b), 2).len() < 1_000_000);
        let runs = tokens(&a).shared_with(&tokens(&a), 2);
        assert_eq!((&runs[0].a, &runs[0].b), (&(0..40_000), &(0..40_000)));
    }

    #[test]
    fn each_token_belongs_to_the_first_range_that_has_it() {
        let of = |ranges: &[Range<u32>]| {
            let pieces = pieces(ranges).into_iter();
            let pieces = pieces.map(|piece| (piece.tokens, piece.range));
            pieces.collect::<Vec<_>>()
        };
        let ranges = [10..20, 15..24, 16..19, 2..5];
        assert_eq!(of(&ranges), [(2..5, 3), (10..20, 0), (20..24, 1)]);
        assert_eq!(covered(&ranges), 17);
        assert_eq!(of(&[3..4, 1..6]), [(1..3, 1), (3..4, 0), (4..6, 1)]);
        assert_eq!(of(&[]), []);
    }
}
