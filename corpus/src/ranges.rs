//! Parts of texts.

use std::ops::Range;

/// Joins ranges that overlap or touch, in order.
pub(crate) fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns a text without these parts, which are in order.
pub(crate) fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for part in parts {
        kept += &text[from..part.start];
        from = part.end;
    }
    kept + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::{merged, without};

    #[test]
    fn parts_that_overlap_are_one() {
        let places = vec![5..9, 0..2, 1..3, 3..4, 8..12];
        assert_eq!(merged(places), [0..4, 5..12]);
        assert_eq!(without("0123456789abc", &[0..4, 5..12]), "4c");
    }
}
