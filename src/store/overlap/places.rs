//! Where the tokens of a text are.

use std::ops::Range;

use crate::codec::low32;
use crate::text::Shingler;

/// The union of ranges of tokens.
#[derive(Debug, Default)]
pub(super) struct Cover(Vec<Range<u32>>);

impl Cover {
    pub(super) fn add(&mut self, tokens: Range<u32>) {
        self.0.push(tokens);
    }

    pub(super) fn len(&self) -> u32 {
        let mut ranges = self.0.clone();
        ranges.sort_unstable_by_key(|range| range.start);
        let (mut len, mut end) = (0, 0);
        for range in ranges {
            len += range.end.saturating_sub(range.start.max(end));
            end = end.max(range.end);
        }
        len
    }
}

/// The tokens of a run of shingles of `k` tokens in a text of `count` tokens.
pub(super) fn tokens_of(run: &Range<usize>, k: u32, count: u32) -> Range<u32> {
    let end = (low32(run.end as u64) - 1).saturating_add(k);
    low32(run.start as u64)..end.min(count)
}

/// Where the tokens of a text are.
pub(super) struct TokenPlaces<'a> {
    text: &'a str,
    places: Vec<Range<usize>>,
    /// The places of the line ends.
    lines: Vec<usize>,
}

impl<'a> TokenPlaces<'a> {
    pub(super) fn new(shingler: &Shingler, text: &'a str) -> TokenPlaces<'a> {
        TokenPlaces {
            text,
            places: shingler.places(text),
            lines: text.match_indices('\n').map(|(at, _)| at).collect(),
        }
    }

    pub(super) fn count(&self) -> u32 {
        low32(self.places.len() as u64)
    }

    /// The tokens of a run of shingles of `k` tokens.
    pub(super) fn tokens_of(&self, run: &Range<usize>, k: u32) -> Range<u32> {
        tokens_of(run, k, self.count())
    }

    /// The bytes of some tokens. Where tokens are bytes, a character is in them as a whole.
    pub(super) fn bytes(&self, tokens: &Range<u32>) -> Range<usize> {
        let start = self.places.get(tokens.start as usize);
        let last = (tokens.end as usize).checked_sub(1);
        let last = last.and_then(|last| self.places.get(last));
        let end = last.map_or(self.text.len(), |place| place.end);
        let start = start.map_or(end, |place| place.start);
        let is_boundary = |at: &usize| self.text.is_char_boundary(*at);
        let start = (0..=start).rev().find(is_boundary);
        let end = (end..self.text.len()).find(is_boundary);
        start.unwrap_or(0)..end.unwrap_or(self.text.len())
    }

    pub(super) fn line(&self, tokens: &Range<u32>) -> u64 {
        let start = self.bytes(tokens).start;
        self.lines.partition_point(|&end| end < start) as u64 + 1
    }
}
